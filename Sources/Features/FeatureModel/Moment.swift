/// A point in time in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// This room has a time of its own because the SDK ships it: it sees no platform room but JSON.
package struct Moment: Sendable, Hashable, Comparable {
    /// Milliseconds since the epoch.
    package let milliseconds: Int64

    /// The moment so many milliseconds after the epoch.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (left: Moment, right: Moment) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// 9999-12-31T23:59:59.999Z; later moments are held here, since nothing can store them.
    package static let latest = Moment(milliseconds: 253_402_300_799_999)

    /// The moment so many milliseconds later, held at ``latest``.
    func adding(milliseconds more: Int64) -> Moment {
        let (sum, overflowed) = milliseconds.addingReportingOverflow(more)
        return overflowed ? .latest : min(Moment(milliseconds: sum), .latest)
    }

    /// The moment so many days of 24 hours later, as every day in UTC is.
    package func adding(days: Int) -> Moment {
        let (more, overflowed) = Int64(days).multipliedReportingOverflow(by: Self.day)
        return overflowed ? .latest : adding(milliseconds: more)
    }

    static let day: Int64 = 86_400_000

    /// The same time of day so many months later in UTC; a day that the month has not is its last.
    func adding(months: Int64) -> Moment {
        let days = floorDivide(milliseconds, Self.day)
        let timeOfDay = milliseconds - days * Self.day
        let date = CivilDay(daysSinceEpoch: days)
        let (total, overflowed) = (date.year * 12 + date.month - 1).addingReportingOverflow(months)
        guard !overflowed, total < 10_000 * 12 else { return .latest }
        let target = CivilDay(
            year: floorDivide(total, 12), month: total - floorDivide(total, 12) * 12 + 1,
            day: date.day)
        return min(
            Moment(milliseconds: target.daysSinceEpoch * Self.day + timeOfDay), .latest)
    }

    /// Whole calendar months from this moment's month to another's, days not looked at.
    func calendarMonths(to other: Moment) -> Int64 {
        let start = CivilDay(daysSinceEpoch: floorDivide(milliseconds, Self.day))
        let end = CivilDay(daysSinceEpoch: floorDivide(other.milliseconds, Self.day))
        return (end.year - start.year) * 12 + end.month - start.month
    }
}

/// A day of the Gregorian calendar, by Howard Hinnant's algorithms: years begin in March, in eras of 400.
struct CivilDay: Hashable {
    let year: Int64
    let month: Int64
    let day: Int64

    /// A day past the end of its month is taken as the last.
    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = min(day, Self.days(inMonth: month, of: year))
    }

    init(daysSinceEpoch: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floorDivide(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Division that rounds down, also below zero.
func floorDivide(_ left: Int64, _ right: Int64) -> Int64 {
    let quotient = left / right
    return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient
}
