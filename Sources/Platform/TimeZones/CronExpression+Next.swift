// When a schedule fires next, on the clocks of a zone.
extension CronExpression {
    /// Days looked through for the next firing: February 29 may stay away for eight years.
    private static let horizonDays = 366 * 9

    /// The first firing after `instant`; nil when there is none in nine years.
    ///
    /// A time that the clock jumps over fires once at the first valid minute, and one that it shows twice
    /// fires once, at the first. Where the hour field is a wildcard or has a step, firings follow
    /// elapsed hours instead: nothing fires for hours that are left out, and repeated ones fire again.
    package func next(after instant: Instant, in zone: TimeZoneRules) -> Instant? {
        guard canMatch else { return nil }
        let today = zone.civilTime(at: instant).date
        // Yesterday: where a clock is set back over midnight, its last hour comes again.
        for offset in -1...Self.horizonDays {
            let date = today.adding(days: offset)
            guard matches(date) else { continue }
            if let found = firstFiring(on: date, after: instant, in: zone) { return found }
        }
        return nil
    }

    private func firstFiring(
        on date: CivilDate, after instant: Instant, in zone: TimeZoneRules
    ) -> Instant? {
        let plain = plainDay(date, in: zone)
        var first: Instant?
        for hour in 0..<24 where self.hour.contains(hour) {
            for minute in 0..<60 where self.minute.contains(minute) {
                guard let time = LocalTime(hour: hour, minute: minute) else { continue }
                if let plain {
                    let fires = plain + .seconds(time.minutesSinceMidnight * 60)
                    if fires > instant { return fires }
                    continue
                }
                let later = firings(of: zone.resolve(date, time)).filter { $0 > instant }
                first = (later + [first].compactMap { $0 }).min()
            }
        }
        return first
    }

    private var followsElapsedHours: Bool { hour.isWildcard || hour.hasStep }

    private func firings(of resolution: TimeZoneRules.LocalResolution) -> [Instant] {
        switch resolution {
        case .exact(let instant): [instant]
        case .gap(let firstValid): followsElapsedHours ? [] : [firstValid]
        case .overlap(let earlier, let later): followsElapsedHours ? [earlier, later] : [earlier]
        }
    }

    /// Midnight of a day on which clocks are not set; nil when they are, that day or the next.
    private func plainDay(_ date: CivilDate, in zone: TimeZoneRules) -> Instant? {
        guard case .exact(let midnight) = zone.resolve(date, .midnight) else { return nil }
        guard let change = zone.nextTransition(after: midnight - .seconds(86_400)) else {
            return midnight
        }
        return change.instant > midnight + .seconds(2 * 86_400) ? midnight : nil
    }
}
