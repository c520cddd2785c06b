/// A calendar date of the proleptic Gregorian calendar, years 0 to 9999.
package struct CivilDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// 0 to 9999.
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to the month's last day.
    package let day: Int

    /// Nil when there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard year >= 0, year <= 9_999, month >= 1, month <= 12, day >= 1,
            day <= Self.days(inMonth: month, of: year)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date so many days after 1970-01-01; held within years 0 to 9999.
    package init(daysSinceEpoch: Int) {
        // Howard Hinnant's civil_from_days: years that begin in March, in eras of 400 years.
        let shifted = min(max(daysSinceEpoch, -719_528), 2_932_896) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Reads exactly `YYYY-MM-DD`; nil for anything else and for days that do not exist.
    package init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2),
            scanner.take("-"), let day = scanner.digits(2), scanner.isAtEnd
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Days from 1970-01-01 to this date; negative before it.
    package var daysSinceEpoch: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date so many days later (earlier when negative), held within years 0 to 9999.
    package func adding(days: Int) -> CivilDate {
        let (sum, overflowed) = daysSinceEpoch.addingReportingOverflow(days)
        return CivilDate(daysSinceEpoch: overflowed ? (days < 0 ? .min : .max) : sum)
    }

    /// 1 for Monday to 7 for Sunday, as ISO 8601 counts.
    package var isoWeekday: Int { ((daysSinceEpoch + 3) % 7 + 7) % 7 + 1 }

    /// Orders by the calendar.
    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// `2026-11-30`.
    package var description: String {
        digits(year, width: 4) + "-" + twoDigits(month) + "-" + twoDigits(day)
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
