internal import JSON
internal import TimeZones

/// How a provider writes a point in time.
enum TimeUnit: String, Sendable, Hashable, CaseIterable {
    /// Since 1970, as a number or its digits in a text; fractions are cut.
    case milliseconds = "ms"
    case seconds = "s"
    case microseconds = "us"
    case nanoseconds = "ns"
    /// Also with an offset without a colon, `+0000`.
    case rfc3339

    /// The instant, from 1970 to the end of year 9999; nil for anything else.
    func instant(_ value: JSONValue) -> Instant? {
        let instant: Instant?
        switch self {
        case .milliseconds: instant = Self.count(value, perUnit: 1)
        case .seconds: instant = Self.count(value, perUnit: 1_000)
        case .microseconds: instant = Self.cut(value, places: 3)
        case .nanoseconds: instant = Self.cut(value, places: 6)
        case .rfc3339: instant = value.string.flatMap { Self.rfc3339($0) }
        }
        guard let instant, instant.milliseconds >= 0, instant <= .latest else { return nil }
        return instant
    }

    private static func rfc3339(_ text: String) -> Instant? {
        if let instant = Instant(text) { return instant }
        let end = Array(text.utf8.suffix(5))
        guard end.count == 5, end[0] == UInt8(ascii: "+") || end[0] == UInt8(ascii: "-"),
            end.dropFirst().allSatisfy({ $0 >= 48 && $0 <= 57 })
        else { return nil }
        return Instant(text.dropLast(2) + ":" + text.suffix(2))
    }

    /// Whole milliseconds of a count of smaller units.
    private static func cut(_ value: JSONValue, places: Int) -> Instant? {
        let number = value.number ?? value.string.flatMap { JSONNumber(literal: $0) }
        guard let plain = number?.plainDecimal else { return nil }
        let whole = plain.prefix { $0 != "." }
        guard whole.utf8.count > places else { return Instant(milliseconds: 0) }
        return Int64(whole.dropLast(places)).map { Instant(milliseconds: $0) }
    }

    private static func count(_ value: JSONValue, perUnit: Int64) -> Instant? {
        let number = value.number ?? value.string.flatMap { JSONNumber(literal: $0) }
        guard let plain = number?.plainDecimal else { return nil }
        let parts = plain.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let whole = Int64(first) else { return nil }
        let (scaled, overflowed) = whole.multipliedReportingOverflow(by: perUnit)
        if overflowed { return nil }
        guard perUnit == 1_000, parts.count == 2 else { return Instant(milliseconds: scaled) }
        let thousandths = Int64((parts[1] + "000").prefix(3)) ?? 0
        let (sum, carried) = scaled.addingReportingOverflow(whole < 0 ? 0 : thousandths)
        return carried ? nil : Instant(milliseconds: sum)
    }
}

extension [TimeUnit] {
    /// The instant by the first unit that reads the value.
    func instant(_ value: JSONValue) -> Instant? {
        lazy.compactMap { $0.instant(value) }.first
    }
}
