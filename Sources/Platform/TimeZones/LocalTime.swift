/// A time on a wall clock, to the minute.
package struct LocalTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// 0 to 1439.
    package let minutesSinceMidnight: Int

    /// Nil unless `hour` is 0 to 23 and `minute` 0 to 59.
    package init?(hour: Int, minute: Int) {
        guard (0..<24).contains(hour), (0..<60).contains(minute) else { return nil }
        minutesSinceMidnight = hour * 60 + minute
    }

    /// Reads exactly `HH:MM`, two digits each, `00:00` to `23:59`; nil for anything else.
    package init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let hour = scanner.digits(2), scanner.take(":"), let minute = scanner.digits(2),
            scanner.isAtEnd
        else { return nil }
        self.init(hour: hour, minute: minute)
    }

    /// For values already known to lie within a day.
    init(minutesSinceMidnight: Int) { self.minutesSinceMidnight = minutesSinceMidnight }

    /// 00:00.
    package static let midnight = LocalTime(minutesSinceMidnight: 0)

    /// 0 to 23.
    package var hour: Int { minutesSinceMidnight / 60 }
    /// 0 to 59.
    package var minute: Int { minutesSinceMidnight % 60 }

    /// Whether `left` is earlier in the day.
    package static func < (left: LocalTime, right: LocalTime) -> Bool {
        left.minutesSinceMidnight < right.minutesSinceMidnight
    }

    /// `09:30`.
    package var description: String { twoDigits(hour) + ":" + twoDigits(minute) }
}
