/// ISO 8601 durations in the grammar of RFC 3339, appendix A: `PT30S`, `P1DT12H`, `P2W`.
///
/// A day is 24 hours and a week 168: these are elapsed time, not calendar time. Years and months have
/// no fixed length and are refused, and so is every sign: a duration here is never negative.
package enum ISODuration {
    /// The longest duration that is read: 3,660,000 days, about as long as the calendar here.
    package static let longest = Duration.seconds(longestSeconds)
    private static let longestSeconds: Int64 = 3_660_000 * 86_400

    /// Reads a duration.
    ///
    /// - Parameters:
    ///   - text: the whole text, without blanks around it.
    ///   - allowsFraction: admits `PT0.25S`, which the grammar of RFC 3339 does not have: one to
    ///     nine digits, on the seconds only. For the settings of a machine, not for definitions.
    /// - Throws: ``ISODurationError`` with one sentence.
    package static func parse(
        _ text: String, allowsFraction: Bool = false
    ) throws(ISODurationError) -> Duration {
        var scanner = DurationScanner(text: text, allowsFraction: allowsFraction)
        return try scanner.duration()
    }

    /// Writes a duration so that ``parse(_:allowsFraction:)`` reads it back: weeks never, days, hours,
    /// minutes and seconds as needed, digits below a nanosecond cut. Negative ones begin with `-`,
    /// which nothing here reads.
    package static func format(_ duration: Duration) -> String {
        let (wholeSeconds, attoseconds) = duration.components
        let isNegative = wholeSeconds < 0 || attoseconds < 0
        let seconds = wholeSeconds.magnitude
        let nanoseconds = Int(attoseconds.magnitude / 1_000_000_000)
        let days = seconds / 86_400
        let hours = seconds / 3_600 % 24
        let minutes = seconds / 60 % 60
        let rest = seconds % 60
        var text = isNegative ? "-P" : "P"
        if days > 0 { text += "\(days)D" }
        let hasSeconds = rest > 0 || nanoseconds > 0
        if hours > 0 || minutes > 0 || hasSeconds || days == 0 {
            text += "T"
            if hours > 0 { text += "\(hours)H" }
            // The grammar has no hours followed by seconds: the minutes between are written as 0.
            if minutes > 0 || (hours > 0 && hasSeconds) { text += "\(minutes)M" }
            if hasSeconds || (hours == 0 && minutes == 0) {
                text += "\(rest)"
                if nanoseconds > 0 {
                    var fraction = digits(nanoseconds, width: 9)
                    while fraction.hasSuffix("0") { fraction.removeLast() }
                    text += "." + fraction
                }
                text += "S"
            }
        }
        return text
    }

    /// Seconds as a duration, refused past ``longest``.
    fileprivate static func bounded(
        _ seconds: Int64, _ nanoseconds: Int64, _ text: String
    ) throws(ISODurationError) -> Duration {
        guard seconds < longestSeconds || (seconds == longestSeconds && nanoseconds == 0) else {
            throw ISODurationError(text, "is longer than 3660000 days")
        }
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }
}

/// Why a text is not a duration, in one sentence.
package struct ISODurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text that was refused, cut to 64 characters.
    package let text: String
    /// What is wrong and what to write instead; continues "The duration … ".
    package let reason: String

    init(_ text: String, _ reason: String) {
        self.text = String(text.prefix(64))
        self.reason = reason
    }

    /// One sentence with the text.
    package var description: String { "The duration \"\(text)\" \(reason)." }
}

extension Duration {
    /// Reads RFC 3339 appendix A without years, months and fractions; nil for anything else. Use
    /// ``ISODuration/parse(_:allowsFraction:)`` where the reason matters.
    package init?(iso8601 text: String) {
        guard let parsed = try? ISODuration.parse(text) else { return nil }
        self = parsed
    }

    /// ISO 8601 text such as `P1DT2H` or `PT0.25S`.
    package var iso8601: String { ISODuration.format(self) }
}

/// Walks the designators in their one order.
private struct DurationScanner {
    private let text: String
    private let allowsFraction: Bool
    private var rest: Substring.UTF8View
    private var seconds: Int64 = 0
    private var nanoseconds: Int64 = 0

    init(text: String, allowsFraction: Bool) {
        self.text = text
        self.allowsFraction = allowsFraction
        rest = text[...].utf8
    }

    mutating func duration() throws(ISODurationError) -> Duration {
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
            throw refusal("has a sign; durations are never negative, so begin with P")
        }
        guard take("P") else { throw refusal("does not begin with P; write it like PT30S or P2D") }
        guard !rest.isEmpty else { throw refusal("names no length; write it like PT30S or P2D") }
        if rest.first != UInt8(ascii: "T") {
            let count = try number()
            if take("W") {
                try add(count, times: 604_800)
                guard rest.isEmpty else {
                    throw refusal("combines weeks with other units; write the weeks as days")
                }
                return try ISODuration.bounded(seconds, nanoseconds, text)
            }
            if take("Y") { throw refusal("counts years, which have no fixed length; write days") }
            if take("M") { throw refusal("counts months, which have no fixed length; write days") }
            guard take("D") else {
                throw refusal("has \"\(unitInReach)\" where the unit D or W belongs")
            }
            try add(count, times: 86_400)
        }
        if rest.isEmpty { return try ISODuration.bounded(seconds, nanoseconds, text) }
        guard take("T") else {
            throw refusal("goes on after the days without T; hours follow as in P1DT2H")
        }
        try timeOfDay()
        return try ISODuration.bounded(seconds, nanoseconds, text)
    }

    /// `H`, `M`, `S` in this order, each at most once and none left out between two others.
    private mutating func timeOfDay() throws(ISODurationError) {
        guard !rest.isEmpty else { throw refusal("names no hours, minutes or seconds after T") }
        var last: UInt8?
        while !rest.isEmpty {
            let count = try number()
            let fraction = try self.fraction()
            if fraction == nil, last == nil, take("H") {
                last = UInt8(ascii: "H")
                try add(count, times: 3_600)
            } else if fraction == nil, last != UInt8(ascii: "M"), last != UInt8(ascii: "S"),
                take("M")
            {
                last = UInt8(ascii: "M")
                try add(count, times: 60)
            } else if last != UInt8(ascii: "S"), take("S") {
                if last == UInt8(ascii: "H") {
                    throw refusal("leaves the minutes out; write them as 0M between H and S")
                }
                last = UInt8(ascii: "S")
                try add(count, times: 1)
                nanoseconds = fraction ?? 0
            } else {
                throw refusal(
                    fraction == nil
                        ? "has \"\(unitInReach)\" where one of H, M, S belongs, in this order"
                        : "has a fraction that is not of its seconds")
            }
        }
    }

    private mutating func number() throws(ISODurationError) -> Int64 {
        var value: Int64?
        while let byte = rest.first, byte >= 48, byte <= 57 {
            let (tens, carried) = (value ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflowed) = tens.addingReportingOverflow(Int64(byte - 48))
            if carried || overflowed { throw refusal("is longer than 3660000 days") }
            value = sum
            rest = rest.dropFirst()
        }
        guard let value else {
            throw refusal("has \"\(unitInReach)\" where a whole number belongs")
        }
        return value
    }

    /// Nanoseconds after a decimal point, nil without one.
    private mutating func fraction() throws(ISODurationError) -> Int64? {
        guard rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") else { return nil }
        guard allowsFraction else { throw refusal("has a fraction; write whole numbers") }
        guard take(".") else { throw refusal("has a comma; a fraction is written with a point") }
        let run = rest.prefix { $0 >= 48 && $0 <= 57 }
        guard (1...9).contains(run.count) else {
            throw refusal("has a fraction that is not one to nine digits")
        }
        rest = rest.dropFirst(run.count)
        var value: Int64 = 0
        for place in 0..<9 {
            let index = run.index(run.startIndex, offsetBy: place, limitedBy: run.endIndex)
            let digit = index.flatMap { $0 < run.endIndex ? Int64(run[$0] - 48) : nil } ?? 0
            value = value * 10 + digit
        }
        return value
    }

    private mutating func add(_ count: Int64, times unit: Int64) throws(ISODurationError) {
        let (product, overflowed) = count.multipliedReportingOverflow(by: unit)
        let (sum, carried) = seconds.addingReportingOverflow(product)
        if overflowed || carried { throw refusal("is longer than 3660000 days") }
        seconds = sum
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, UInt32(byte) == mark.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    private var unitInReach: String {
        rest.isEmpty ? "nothing" : String(Substring(rest).prefix(1))
    }

    private func refusal(_ reason: String) -> ISODurationError { ISODurationError(text, reason) }
}
