internal import TimeZones

/// The header `Retry-After`: so many seconds, or a date in one of HTTP's three forms (RFC 9110, 5.6.7 and
/// 10.2.3).
enum RetryAfter {
    /// Longer than this nobody means; the retry policy bounds it further.
    private static let longest = Duration.seconds(366 * 86_400)

    /// How long to wait; zero for a time that has passed, nil for what cannot be read.
    ///
    /// - Parameters:
    ///   - answeredAt: the answer's `Date`: told against it, a receiver's wrong clock does no harm.
    ///   - now: what a date is told against otherwise.
    static func wait(_ text: String, answeredAt: String?, now: Instant) -> Duration? {
        let text = trimmed(text)
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return min(longest, .seconds(Int64(text.prefix(18)) ?? 0))
        }
        guard let until = instant(text) else { return nil }
        let from = answeredAt.flatMap { instant(trimmed($0)) } ?? now
        return min(longest, max(.zero, until - from))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, or `Sun Nov  6 08:49:37 1994`.
    static func instant(_ text: String) -> Instant? {
        let words = text.split(separator: " ").map(String.init)
        if words.count == 6, words[0].hasSuffix(","), words[5] == "GMT" {
            return instant(year: words[3], month: words[2], day: words[1], time: words[4])
        }
        if words.count == 4, words[0].hasSuffix(","), words[3] == "GMT" {
            let parts = words[1].split(separator: "-").map(String.init)
            guard parts.count == 3, let short = Int(parts[2]), parts[2].utf8.count == 2 else {
                return nil
            }
            return instant(
                year: String(short < 70 ? 2_000 + short : 1_900 + short), month: parts[1],
                day: parts[0], time: words[2])
        }
        guard words.count == 5 else { return nil }
        return instant(year: words[4], month: words[1], day: words[2], time: words[3])
    }

    private static func instant(
        year: String, month: String, day: String, time: String
    ) -> Instant? {
        guard let place = months.firstIndex(of: month), year.utf8.count == 4,
            (1...2).contains(day.utf8.count)
        else { return nil }
        let number = place + 1
        return Instant(
            "\(year)-\(number < 10 ? "0" : "")\(number)-\(day.utf8.count < 2 ? "0" : "")\(day)T\(time)Z"
        )
    }

    private static func trimmed(_ text: String) -> String {
        text.split(separator: " ").joined(separator: " ")
    }
}
