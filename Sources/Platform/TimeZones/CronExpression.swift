/// Times of a calendar in the five fields of cron: minute, hour, day of month, month, day of week.
///
/// Numbers, names (`JAN`, `MON`, in any case), `*`, lists, ranges and steps, `a/n` too; Sunday is 0 or 7.
/// What other dialects add (`?`, seconds, `TZ=`, `@daily`, `L`, `W`, `#`) is refused.
package struct CronExpression: Sendable, Hashable, CustomStringConvertible {
    /// The values at which a field holds.
    package struct Field: Sendable, Hashable {
        /// Bit n is set when the field holds at n.
        package let bits: UInt64
        /// Whether it was written as `*`: it restricts nothing.
        package let isWildcard: Bool
        /// Whether a part of it was written with a step, such as `*/2`.
        package let hasStep: Bool

        /// Whether the field holds at a value.
        package func contains(_ value: Int) -> Bool {
            (0..<64).contains(value) && bits & (1 << UInt64(value)) != 0
        }
    }

    /// As it was written, with single blanks.
    package let text: String
    /// 0 to 59.
    package let minute: Field
    /// 0 to 23.
    package let hour: Field
    /// 1 to 31.
    package let dayOfMonth: Field
    /// 1 to 12.
    package let month: Field
    /// 0 (Sunday) to 6; a written 7 is 0.
    package let dayOfWeek: Field

    /// Reads five fields parted by blanks.
    ///
    /// - Throws: ``CronError`` with one sentence.
    package init(_ text: String) throws(CronError) {
        let words = text.split(separator: " ").map { String($0) }
        if let first = words.first, first.hasPrefix("@") {
            throw CronError("\(first) is no field; write five fields, such as \"0 9 * * *\"")
        }
        if let first = words.first, first.uppercased().contains("TZ=") {
            throw CronError("\(first) is no field; the zone is the workflow's \"timezone\"")
        }
        guard words.count == 5 else {
            throw CronError(
                "it has \(words.count) fields; write five: minute, hour, day of month, month, day of "
                    + "week" + (words.count == 6 ? ", without seconds" : ""))
        }
        self.text = words.joined(separator: " ")
        minute = try Self.field(words[0], .minute)
        hour = try Self.field(words[1], .hour)
        dayOfMonth = try Self.field(words[2], .dayOfMonth)
        month = try Self.field(words[3], .month)
        dayOfWeek = try Self.field(words[4], .dayOfWeek)
    }

    package var description: String { text }

    /// Whether a day matches. When both day fields are restricted, either of them suffices.
    package func matches(_ date: CivilDate) -> Bool {
        guard month.contains(date.month) else { return false }
        let byMonth = dayOfMonth.contains(date.day)
        let byWeek = dayOfWeek.contains(date.isoWeekday % 7)
        if dayOfMonth.isWildcard || dayOfWeek.isWildcard { return byMonth && byWeek }
        return byMonth || byWeek
    }

    /// Whether some day of some year matches: `0 0 30 2 *` never does.
    package var canMatch: Bool {
        if !dayOfWeek.isWildcard && !dayOfMonth.isWildcard { return true }
        let longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return longest.enumerated().contains { index, days in
            month.contains(index + 1) && (1...days).contains { dayOfMonth.contains($0) }
        }
    }

    // MARK: Reading

    private struct Kind {
        var name: String
        var range: ClosedRange<Int>
        var names: [String] = []

        static let minute = Kind(name: "minute", range: 0...59)
        static let hour = Kind(name: "hour", range: 0...23)
        static let dayOfMonth = Kind(name: "day of month", range: 1...31)
        static let month = Kind(
            name: "month", range: 1...12,
            names: [
                "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
            ])
        static let dayOfWeek = Kind(
            name: "day of week", range: 0...7,
            names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"])
    }

    private static func field(_ text: String, _ kind: Kind) throws(CronError) -> Field {
        var bits: UInt64 = 0
        var isWildcard = false
        var hasStep = false
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let (values, step) = try Self.values(String(part), kind)
            for value in stride(from: values.lowerBound, through: values.upperBound, by: step ?? 1)
            {
                let isSunday = kind.range.upperBound == 7 && value == 7
                bits |= 1 << UInt64(isSunday ? 0 : value)
            }
            if part == "*" || part == "*/1" { isWildcard = true }
            if let step, step > 1 { hasStep = true }
        }
        return Field(bits: bits, isWildcard: isWildcard, hasStep: hasStep)
    }

    /// One part of a list: `*`, `a`, `a-b`, each with `/n` behind it or not.
    private static func values(
        _ part: String, _ kind: Kind
    ) throws(CronError) -> (values: ClosedRange<Int>, step: Int?) {
        let halves = part.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(halves.count) else {
            throw CronError("\"\(part)\" has two steps in the field \(kind.name)")
        }
        var step: Int?
        if halves.count == 2 {
            guard let number = number(halves[1]), number > 0 else {
                throw CronError(
                    "the step \"\(halves[1])\" of the field \(kind.name) is no number from 1 on")
            }
            step = number
        }
        if halves[0] == "*" {
            let top = kind.range.upperBound == 7 ? 6 : kind.range.upperBound
            return (kind.range.lowerBound...top, step)
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
            .map(String.init)
        guard (1...2).contains(ends.count) else {
            throw CronError("\"\(part)\" is no range of the field \(kind.name)")
        }
        let low = try value(ends[0], kind)
        guard ends.count == 2 else {
            let top = kind.range.upperBound == 7 ? max(low, 6) : kind.range.upperBound
            return (low...(step == nil ? low : top), step)
        }
        let high = try value(ends[1], kind)
        guard low <= high else {
            throw CronError(
                "the range \"\(halves[0])\" of the field \(kind.name) runs backwards; write two, "
                    + "such as \(ends[0])-\(kind.range.upperBound),\(kind.range.lowerBound)-\(ends[1])"
            )
        }
        return (low...high, step)
    }

    private static func value(_ word: String, _ kind: Kind) throws(CronError) -> Int {
        if let index = kind.names.firstIndex(of: word.uppercased()) {
            return index + (kind.range.lowerBound == 1 ? 1 : 0)
        }
        if let number = number(word), kind.range.contains(number) { return number }
        let foreign = word == "?" ? "; write * instead" : ""
        throw CronError(
            "\"\(word)\" is no value of the field \(kind.name), which is "
                + "\(kind.range.lowerBound) to \(kind.range.upperBound)" + foreign)
    }

    private static func number(_ text: String) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int(text)
    }
}

/// Why a text is not a cron expression.
package struct CronError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and what to write instead; continues "The schedule … cannot be read: ".
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    package var description: String { "The cron expression cannot be read: \(reason)." }
}
