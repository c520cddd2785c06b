/// A day of the week.
package enum Weekday: String, Sendable, Hashable, CaseIterable {
    case monday = "mon"
    case tuesday = "tue"
    case wednesday = "wed"
    case thursday = "thu"
    case friday = "fri"
    case saturday = "sat"
    case sunday = "sun"

    /// 1 for Monday to 7 for Sunday, as ``CivilDate/isoWeekday`` counts; nil for another number.
    package init?(iso number: Int) {
        guard (1...7).contains(number) else { return nil }
        self = Self.allCases[number - 1]
    }
}

/// A span of the day, on some days of the week: `[start, end)` of a wall clock (S7).
package struct DailyWindow: Sendable, Hashable {
    package var start: LocalTime
    /// At or before ``start`` it is on the next day; equal to it the window lasts 24 hours.
    package var end: LocalTime
    /// The days on which the window starts; never empty.
    package var days: Set<Weekday>

    package init(start: LocalTime, end: LocalTime, days: Set<Weekday> = Set(Weekday.allCases)) {
        self.start = start
        self.end = end
        self.days = days
    }
}
