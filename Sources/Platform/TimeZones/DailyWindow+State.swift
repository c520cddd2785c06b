// What a window is at an instant, on the clocks of a zone (S7).
extension DailyWindow {
    /// Whether the window is open at an instant, and when that changes.
    package struct State: Sendable, Hashable {
        package let isOpen: Bool
        /// When it opens next; nil while open, and when it does not open within ``horizonDays``.
        package let opensAt: Instant?
        /// When it closes; nil while closed, and when it stays open past ``horizonDays``.
        package let closesAt: Instant?
    }

    /// How far ahead openings are looked for: past every gap of a calendar and a whole week more.
    package static let horizonDays = 16

    /// What the window is at `instant` on the clocks of a zone.
    package func state(at instant: Instant, in zone: TimeZoneRules) -> State {
        let today = zone.civilTime(at: instant).date
        var openUntil: Instant?
        // A start two days back can be open still where a calendar leaves a day out.
        for offset in -2...Self.horizonDays {
            guard let span = span(on: today.adding(days: offset), in: zone) else { continue }
            if let end = openUntil {
                guard span.start <= end else {
                    return State(isOpen: true, opensAt: nil, closesAt: end)
                }
                openUntil = max(end, span.end)
            } else if span.start <= instant, instant < span.end {
                openUntil = span.end
            } else if span.start > instant {
                return State(isOpen: false, opensAt: span.start, closesAt: nil)
            }
        }
        guard openUntil != nil else { return State(isOpen: false, opensAt: nil, closesAt: nil) }
        // The horizon's last window ends where the walk does: it goes on for ever.
        let lastDay = today.adding(days: Self.horizonDays - 2)
        let horizon = zone.instant(of: lastDay, at: .midnight, inOverlap: .earlier)
        return State(
            isOpen: true, opensAt: nil,
            closesAt: openUntil.flatMap { $0 < horizon ? $0 : nil })
    }

    /// The first instant at or after `instant` at which the window is open; nil when there is none
    /// within ``horizonDays``.
    package func firstOpening(from instant: Instant, in zone: TimeZoneRules) -> Instant? {
        let state = state(at: instant, in: zone)
        return state.isOpen ? instant : state.opensAt
    }

    /// The window that starts on a date; nil when its days leave the date out, and when the clock
    /// jumps over all of it.
    private func span(
        on date: CivilDate, in zone: TimeZoneRules
    ) -> (start: Instant, end: Instant)? {
        guard days.contains(date.weekday) else { return nil }
        let lastDate = end <= start ? date.adding(days: 1) : date
        let opens = zone.instant(of: date, at: start, inOverlap: .earlier)
        let closes = zone.instant(of: lastDate, at: end, inOverlap: .later)
        return opens < closes ? (opens, closes) : nil
    }
}

extension CivilDate {
    /// The date's day of the week.
    package var weekday: Weekday { Weekday(iso: isoWeekday) ?? .monday }
}
