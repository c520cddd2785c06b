/// A date and wall-clock time, at a fixed offset from UTC.
package struct CivilTime: Sendable, Hashable {
    /// The local date.
    package let date: CivilDate
    /// 0 to 23.
    package let hour: Int
    /// 0 to 59.
    package let minute: Int
    /// 0 to 59; an instant knows no leap second.
    package let second: Int
    /// 0 to 999.
    package let millisecond: Int

    /// What a clock that is `offsetSeconds` ahead of UTC shows at `instant`.
    ///
    /// - Parameter offsetSeconds: held within a week either way; real zones stay within a day.
    package init(_ instant: Instant, offsetSeconds: Int) {
        let offset = min(max(offsetSeconds, -604_800), 604_800)
        let local = instant.heldWithinYears.milliseconds + Int64(offset) * 1_000
        let day = local >= 0 ? local / 86_400_000 : (local - 86_399_999) / 86_400_000
        let rest = Int(local - day * 86_400_000)
        date = CivilDate(daysSinceEpoch: Int(day))
        hour = rest / 3_600_000
        minute = rest / 60_000 % 60
        second = rest / 1_000 % 60
        millisecond = rest % 1_000
    }

    /// The local hour and minute.
    package var time: LocalTime { LocalTime(minutesSinceMidnight: hour * 60 + minute) }
}
