internal import JourneyModel
package import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import Reactor
internal import Telemetry
package import TimeZones
internal import WorkflowDefinitions

/// What the worker may ask of the feature house: answers, and who got others since. The one door between
/// the houses; nothing here can change an access.
package struct FeatureHouse: Sendable {
    /// An id whose access to something became another.
    package struct Change: Sendable, Hashable {
        package var environment: String
        package var id: String
        package var changedAt: Instant

        package init(environment: String, id: String, changedAt: Instant) {
            self.environment = environment
            self.id = id
            self.changedAt = changedAt
        }
    }

    /// Changes, and the house's time as it was asked.
    package struct Changes: Sendable, Hashable {
        package var changed: [Change]
        package var now: Instant

        package init(changed: [Change], now: Instant) {
            self.changed = changed
            self.now = now
        }
    }

    package var answers: FeatureDoor
    /// Changes at or after an instant; nil asks for the time only.
    package var changes: @Sendable (_ since: Instant?) async throws -> Changes

    package init(
        answers: @escaping FeatureDoor,
        changes: @escaping @Sendable (_ since: Instant?) async throws -> Changes
    ) {
        self.answers = answers
        self.changes = changes
    }
}

/// Looks for changed access and has the customers concerned looked at (S22).
struct FeatureWatch: Sendable {
    let house: FeatureHouse
    let wakes: FeatureWakeStore
    let definitions: @Sendable () async throws -> DefinitionSet
    let onInput: @Sendable () -> Void
    let loop: EventLoop
    let log: Log
    let isStopping: @Sendable () -> Bool

    private static let pause = Duration.seconds(2)
    /// Changes are looked for again this long: a transaction may commit after the time that it gives.
    private static let overlap = Duration.seconds(30)

    func run() async {
        var known: Instant?
        var seen: Set<FeatureHouse.Change> = []
        while !isStopping(), !Task.isCancelled {
            do {
                let set = try await definitions()
                if !set.needs.features.isEmpty {
                    let changes = try await house.changes(known.map { $0 - Self.overlap })
                    try await wake(changes, set, &seen)
                    known = changes.now
                }
            } catch {
                if Task.isCancelled { return }
                log.warning(
                    "changes of feature access could not be read; trying again",
                    ["reason": .text("\(error)")])
            }
            do { try await loop.sleep(for: Self.pause) } catch { return }
        }
    }

    /// Whoever was woken for a change of the overlap is woken once.
    private func wake(
        _ changes: FeatureHouse.Changes, _ set: DefinitionSet,
        _ seen: inout Set<FeatureHouse.Change>
    ) async throws {
        let workflows = Set(
            (set.live + set.older).filter { !$0.needs.features.isEmpty }.map(\.workflow.text))
        let wakesAll = set.segments.contains { !$0.needs.features.isEmpty }
        var woken = 0
        let fresh = Set(changes.changed).subtracting(seen)
        for (environment, changed) in Dictionary(grouping: fresh, by: \.environment)
            .sorted(by: { $0.key < $1.key })
        {
            woken += try await wakes.wake(
                Set(changed.map(\.id)).sorted(), environment: environment,
                workflows: workflows.sorted(), wakesAll: wakesAll)
        }
        seen = Set(changes.changed)
        if woken > 0 { onInput() }
    }
}
