/// A point in time in whole milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// Its text form is RFC 3339 in UTC with three fraction digits, for years 0000 to 9999.
package struct Instant: Sendable, Hashable, Comparable {
    /// Milliseconds since the epoch; negative before it.
    package var milliseconds: Int64

    /// The instant so many milliseconds after the epoch.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Whether `left` is earlier.
    package static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The instant `duration` later (earlier when negative), cut to whole milliseconds and held within
    /// ``earliest`` and ``latest``.
    package static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflowed) = instant.milliseconds
            .addingReportingOverflow(duration.wholeMilliseconds)
        if overflowed { return duration < .zero ? earliest : latest }
        return Instant(milliseconds: sum).heldWithinYears
    }

    /// The instant `duration` earlier, cut and held as `+` does.
    package static func - (instant: Instant, duration: Duration) -> Instant {
        let (difference, overflowed) = instant.milliseconds
            .subtractingReportingOverflow(duration.wholeMilliseconds)
        if overflowed { return duration < .zero ? latest : earliest }
        return Instant(milliseconds: difference).heldWithinYears
    }

    /// The time from `right` to `left`; negative when `left` is earlier.
    package static func - (left: Instant, right: Instant) -> Duration {
        .milliseconds(left.milliseconds) - .milliseconds(right.milliseconds)
    }

    /// The same instant, or the nearer end of what RFC 3339 can write.
    var heldWithinYears: Instant { min(max(self, .earliest), .latest) }

    /// 0000-01-01T00:00:00.000Z.
    package static let earliest = Instant(milliseconds: -62_167_219_200_000)
    /// 9999-12-31T23:59:59.999Z.
    package static let latest = Instant(milliseconds: 253_402_300_799_999)
}

extension Instant: CustomStringConvertible {
    /// RFC 3339, such as `2026-11-30T10:00:00.000Z`.
    package var description: String {
        let civil = CivilTime(self, offsetSeconds: 0)
        return civil.date.description + "T" + twoDigits(civil.hour) + ":" + twoDigits(civil.minute)
            + ":" + twoDigits(civil.second) + "." + digits(civil.millisecond, width: 3) + "Z"
    }

    /// Reads RFC 3339 with any offset and any number of fraction digits (cut to milliseconds).
    ///
    /// A leap second is admitted where one can stand (23:59:60 UTC) and read as the first instant of
    /// the next day. Nil for anything else, and for years outside 0 to 9999 once in UTC.
    package init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2),
            scanner.take("-"), let day = scanner.digits(2),
            let date = CivilDate(year: year, month: month, day: day),
            scanner.take("T") || scanner.take("t") || scanner.take(" "),
            let hour = scanner.digits(2), hour < 24, scanner.take(":"),
            let minute = scanner.digits(2), minute < 60, scanner.take(":"),
            let second = scanner.digits(2), second <= 60
        else { return nil }
        var millisecond = 0
        if scanner.take(".") {
            guard let fraction = scanner.fraction() else { return nil }
            millisecond = fraction
        }
        guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
        let seconds =
            Int64(date.daysSinceEpoch) * 86_400
            + Int64(hour * 3_600 + minute * 60 + second - offset)
        if second == 60, seconds % 86_400 != 0 { return nil }
        self.init(milliseconds: seconds * 1_000 + Int64(second == 60 ? 0 : millisecond))
        guard self >= .earliest, self <= .latest else { return nil }
    }
}

extension Duration {
    /// Whole milliseconds, cut towards zero and held within 64 bits.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflowed) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflowed { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}
