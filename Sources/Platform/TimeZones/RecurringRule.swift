/// The rule a zone follows after its last written transition: a POSIX TZ string, with RFC 8536's
/// widening of hours to ±167.
struct RecurringRule: Sendable, Hashable {
    /// Seconds ahead of UTC in standard time.
    let standardOffset: Int
    /// The other half of the year; nil for zones that stay.
    let daylight: Daylight?

    struct Daylight: Sendable, Hashable {
        let offset: Int
        let begin: YearlyMoment
        let end: YearlyMoment
    }

    /// Reads `CET-1CEST,M3.5.0,M10.5.0/3` and the like; nil for anything else. Without dates the
    /// daylight half would be the reader's guess, so that is nil too.
    init?(_ text: String) {
        var scanner = RuleScanner(text)
        guard scanner.skipName(), let west = scanner.time(hours: 24) else { return nil }
        standardOffset = -west
        if scanner.isAtEnd {
            daylight = nil
            return
        }
        guard scanner.skipName() else { return nil }
        var offset = standardOffset + 3_600
        if !scanner.startsWith(",") {
            guard let west = scanner.time(hours: 24) else { return nil }
            offset = -west
        }
        guard scanner.take(","), let begin = scanner.moment(), scanner.take(","),
            let end = scanner.moment(), scanner.isAtEnd
        else { return nil }
        daylight = Daylight(offset: offset, begin: begin, end: end)
    }

    func offset(atSecond second: Int64) -> Int {
        // Two years back always holds a change, whatever the dates are.
        starts(from: second - 2 * 366 * 86_400, through: second).last?.offset ?? standardOffset
    }

    /// The changes within the span, in order; of two at one second only the last.
    func starts(from: Int64, through: Int64) -> [TimeZoneRules.Start] {
        guard let daylight else { return [] }
        var all: [TimeZoneRules.Start] = []
        for year in year(of: from) - 1...year(of: through) + 1 {
            // A change is told on the clock that shows it: the one before the change.
            all.append(
                TimeZoneRules.Start(
                    second: daylight.begin.second(in: year) - Int64(standardOffset),
                    offset: daylight.offset))
            all.append(
                TimeZoneRules.Start(
                    second: daylight.end.second(in: year) - Int64(daylight.offset),
                    offset: standardOffset))
        }
        // Daylight time the whole year is written as an end that falls on the next begin: the begin,
        // being of the later year, stands after it here and must stay so.
        let sorted = all.enumerated().sorted {
            ($0.element.second, $0.offset) < ($1.element.second, $1.offset)
        }.map(\.element)
        var found: [TimeZoneRules.Start] = []
        for start in sorted where start.second >= from && start.second <= through {
            if found.last?.second == start.second { found.removeLast() }
            found.append(start)
        }
        return found
    }

    private func year(of second: Int64) -> Int {
        let day = second >= 0 ? second / 86_400 : (second - 86_399) / 86_400
        return CivilDate(daysSinceEpoch: Int(day)).year
    }
}

/// A date and time that comes every year.
struct YearlyMoment: Sendable, Hashable {
    enum Day: Sendable, Hashable {
        /// `Jn`: 1 to 365, February 29 never counted.
        case julian(Int)
        /// `n`: 0 to 365, February 29 counted.
        case zeroBased(Int)
        /// `Mm.w.d`: weekday d (0 is Sunday) of week w (5 is the last) of month m.
        case weekday(month: Int, week: Int, day: Int)
    }

    let day: Day
    /// Seconds from midnight, from -167 to 167 hours.
    let time: Int

    /// Seconds from 1970-01-01T00:00 on the same clock.
    func second(in year: Int) -> Int64 { Int64(days(in: year)) * 86_400 + Int64(time) }

    private func days(in year: Int) -> Int {
        let newYear = Self.days(year, 1)
        switch day {
        case .julian(let number):
            let isLeap = Self.days(year, 3) - newYear == 60
            return newYear + number - 1 + (isLeap && number >= 60 ? 1 : 0)
        case .zeroBased(let number): return newYear + number
        case .weekday(let month, let week, let day):
            let first = Self.days(year, month)
            let next = month == 12 ? Self.days(year + 1, 1) : Self.days(year, month + 1)
            // 1970-01-01 was a Thursday, 4 when Sunday is 0.
            let weekday = ((first + 4) % 7 + 7) % 7
            var date = first + (day - weekday + 7) % 7 + (week - 1) * 7
            while date >= next { date -= 7 }
            return date
        }
    }

    /// The first of a month in days since the epoch; years past the calendar's ends repeat them.
    private static func days(_ year: Int, _ month: Int) -> Int {
        CivilDate(year: min(max(year, 0), 9_999), month: month, day: 1)?.daysSinceEpoch ?? 0
    }
}

/// Takes the parts of a POSIX TZ string off its front.
private struct RuleScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    func startsWith(_ mark: Unicode.Scalar) -> Bool { rest.first.map(UInt32.init) == mark.value }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard startsWith(mark) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// `CET` or `<+03>`.
    mutating func skipName() -> Bool {
        if take("<") {
            guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[rest.index(after: close)...]
            return true
        }
        let letters = rest.prefix { ($0 | 0x20) >= 97 && ($0 | 0x20) <= 122 }
        guard letters.count >= 3 else { return false }
        rest = rest.dropFirst(letters.count)
        return true
    }

    mutating func number(upTo limit: Int) -> Int? {
        let run = rest.prefix { $0 >= 48 && $0 <= 57 }
        guard (1...3).contains(run.count) else { return nil }
        rest = rest.dropFirst(run.count)
        let value = run.reduce(0) { $0 * 10 + Int($1 - 48) }
        return value <= limit ? value : nil
    }

    /// `[+-]h[h][:mm[:ss]]` in seconds.
    mutating func time(hours limit: Int) -> Int? {
        let sign = take("-") ? -1 : 1
        if sign == 1 { _ = take("+") }
        guard let hours = number(upTo: limit) else { return nil }
        var seconds = hours * 3_600
        if take(":") {
            guard let minutes = number(upTo: 59) else { return nil }
            seconds += minutes * 60
            if take(":") {
                guard let more = number(upTo: 59) else { return nil }
                seconds += more
            }
        }
        return sign * seconds
    }

    /// `date[/time]`; two in the morning where no time is given.
    mutating func moment() -> YearlyMoment? {
        guard let day = day() else { return nil }
        guard take("/") else { return YearlyMoment(day: day, time: 7_200) }
        return time(hours: 167).map { YearlyMoment(day: day, time: $0) }
    }

    private mutating func day() -> YearlyMoment.Day? {
        if take("J") {
            guard let number = number(upTo: 365), number >= 1 else { return nil }
            return .julian(number)
        }
        if take("M") {
            guard let month = number(upTo: 12), month >= 1, take("."),
                let week = number(upTo: 5), week >= 1, take("."), let day = number(upTo: 6)
            else { return nil }
            return .weekday(month: month, week: week, day: day)
        }
        return number(upTo: 365).map { .zeroBased($0) }
    }
}
