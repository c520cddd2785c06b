package import JourneyModel
package import TimeZones
internal import WorkflowDefinitions

/// Which firings of schedules are to be written now.
package struct SchedulePlan: Sendable, Hashable {
    /// One firing.
    package struct Firing: Sendable, Hashable {
        package var workflow: WorkflowID
        package var plannedAt: Instant
        /// Customers a second, at most.
        package var rate: Int
        package var environments: [String]

        package init(
            workflow: WorkflowID, plannedAt: Instant, rate: Int, environments: [String]
        ) {
            self.workflow = workflow
            self.plannedAt = plannedAt
            self.rate = rate
            self.environments = environments
        }
    }

    /// Firings that do not happen; the last one stands for all.
    package struct Skip: Sendable, Hashable {
        package var firing: Firing
        /// `missed` or `walking`.
        package var reason: String
        /// How many firings it stands for.
        package var count: Int

        package init(firing: Firing, reason: String, count: Int) {
            self.firing = firing
            self.reason = reason
            self.count = count
        }
    }

    /// Nothing to write.
    package static let none = SchedulePlan()

    private init() {}

    package var starting: [Firing] = []
    package var skipped: [Skip] = []

    /// A firing that is later than this is skipped: it is no longer what the calendar meant.
    package static let longestDelay = Duration.seconds(3_600)
    /// Firings looked at of one workflow in one plan: those of 69 days, every minute.
    private static let lookLimit = 100_000

    /// Plans what is due.
    ///
    /// - Parameters:
    ///   - latest: the newest firing written of each workflow, whatever became of it.
    ///   - walking: workflows whose firing is not walked to its end.
    ///   - zones: the rules of every zone; `defaultZone` counts for workflows that name none.
    package init(
        _ definitions: DefinitionSet, latest: [WorkflowID: Instant], walking: Set<WorkflowID>,
        zones: TimeZoneSet, defaultZone: String?, now: Instant
    ) {
        for version in definitions.live {
            guard case .schedule(let trigger) = version.definition.entry.trigger else { continue }
            let names = [version.definition.timezone, defaultZone].compactMap(\.self)
            let zone = names.lazy.compactMap { zones.rules(named: $0) }.first ?? .utc
            func firing(_ instant: Instant) -> Firing {
                Firing(
                    workflow: version.workflow, plannedAt: instant, rate: trigger.rate,
                    environments: version.definition.environments)
            }
            // Nothing fires for times before the workflow was published.
            var last = max(latest[version.workflow] ?? .earliest, version.liveSince)
            if last == .earliest { last = now }
            var missed: (count: Int, last: Instant)?
            var isWalking = walking.contains(version.workflow)
            for _ in 0..<Self.lookLimit {
                guard let next = trigger.cron.next(after: last, in: zone), next <= now else {
                    break
                }
                last = next
                if now - next > Self.longestDelay {
                    missed = ((missed?.count ?? 0) + 1, next)
                    continue
                }
                if isWalking {
                    skipped.append(Skip(firing: firing(next), reason: "walking", count: 1))
                } else {
                    starting.append(firing(next))
                    isWalking = true
                }
            }
            if let missed {
                skipped.append(
                    Skip(firing: firing(missed.last), reason: "missed", count: missed.count))
            }
        }
    }

    /// When a schedule fires next, so that nobody needs to look before.
    package static func next(
        _ definitions: DefinitionSet, zones: TimeZoneSet, defaultZone: String?, now: Instant
    ) -> Instant? {
        definitions.live.compactMap { version -> Instant? in
            guard case .schedule(let trigger) = version.definition.entry.trigger else { return nil }
            let names = [version.definition.timezone, defaultZone].compactMap(\.self)
            let zone = names.lazy.compactMap { zones.rules(named: $0) }.first ?? .utc
            return trigger.cron.next(after: now, in: zone)
        }.min()
    }
}
