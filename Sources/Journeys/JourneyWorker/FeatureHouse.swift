internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Locks
internal import Postgres
internal import Reactor
internal import Telemetry
internal import TimeZones
internal import WorkflowDefinitions

/// What the worker may ask of the feature house: answers, and who got others since. The one door between
/// the houses; nothing here can change an access.
struct FeatureHouse: Sendable {
    /// An id whose access to something became another.
    struct Change: Sendable, Hashable {
        var environment: String
        var id: String
        var changedAt: Instant
    }

    var answers: FeatureDoor
    /// Hands changes at or after an instant over, page by page, and returns the house's time as it was
    /// asked; nil asks for the time only.
    var changes:
        @Sendable (
            _ since: Instant?, _ take: @Sendable ([Change]) async throws -> Void
        ) async throws -> Instant
    /// Whether there is a house.
    var look: @Sendable () async throws -> Bool
}

/// Looks for changed access and has the customers concerned looked at (S22).
struct FeatureWatch: Sendable {
    let house: FeatureHouse
    let wakes: FeatureWakeStore
    let definitions: @Sendable () async throws -> DefinitionSet
    /// Told in each round whether features are read by something and there is no house.
    let onMissed: @Sendable (Bool) -> Void
    let onInput: @Sendable () -> Void
    /// Raised when the watch is to stop.
    let pause: WakeSignal
    let log: Log
    let isStopping: @Sendable () -> Bool

    private static let roundLength = Duration.seconds(2)
    /// Changes are looked for again this long: a transaction may commit after the time that it gives.
    private static let overlap = Duration.seconds(30)
    /// Before all changes: where nobody has looked yet, everything is news.
    private static let beginning = Instant(milliseconds: 0) + overlap
    /// How often the place is kept. What changed since is looked at twice after a restart.
    private static let keeping = Duration.seconds(10)
    /// Rounds between two looks for a house that was not there.
    private static let roundsBetweenLooks = 15
    /// Changes of the overlap that are remembered; past it people are woken once more, which costs a turn
    /// that finds nothing.
    private static let mostSeen = 100_000

    /// What a round leaves for the next.
    private struct Place {
        var known: Instant?
        var kept: Instant?
        var seen: Set<FeatureHouse.Change> = []
        var isFirst = true
        var roundsToLook = 0
    }

    func run() async {
        // Says at the start whether there is a house; if the database is away, the rounds find out.
        _ = try? await house.look()
        var place = Place()
        while !isStopping(), !Task.isCancelled {
            do {
                try await round(&place)
            } catch {
                if Task.isCancelled { return }
                log.warning(
                    "changes of feature access could not be read; trying again",
                    ["reason": .text("\(error)")])
            }
            _ = await pause.wait(atMost: Self.roundLength)
        }
    }

    private func round(_ place: inout Place) async throws {
        let set = try await definitions()
        guard !set.needs.features.isEmpty else {
            // Whoever enters later is looked at as they enter: there is nothing to catch up with.
            place = Place()
            place.isFirst = false
            onMissed(false)
            return
        }
        if place.roundsToLook == 0 {
            guard try await house.look() else {
                // Once there is a house, everything in it is news.
                place = Place()
                place.known = Self.beginning
                place.isFirst = false
                place.roundsToLook = Self.roundsBetweenLooks
                onMissed(true)
                return
            }
            onMissed(false)
        } else {
            place.roundsToLook -= 1
            return
        }
        if place.isFirst {
            place.known = try await wakes.seenUntil() ?? Self.beginning
            place.isFirst = false
        }
        let seen = Guarded(place.seen)
        let fresh = Guarded<Set<FeatureHouse.Change>>([])
        let now = try await house.changes(place.known.map { $0 - Self.overlap }) { changes in
            let unseen = seen.withLock { Set(changes).subtracting($0) }
            try await wake(unseen, set)
            fresh.withLock { fresh in
                if fresh.count < Self.mostSeen { fresh.formUnion(changes) }
            }
        }
        place.seen = fresh.withLock { $0 }
        place.known = now
        if place.kept.map({ now - $0 >= Self.keeping }) ?? true {
            try await wakes.keep(seenUntil: now)
            place.kept = now
        }
    }

    /// Whoever was woken for a change of the overlap is woken once.
    private func wake(_ changes: Set<FeatureHouse.Change>, _ set: DefinitionSet) async throws {
        let workflows = Set(
            (set.live + set.older).filter { !$0.needs.features.isEmpty }.map(\.workflow.text))
        let wakesAll = set.segments.contains { !$0.needs.features.isEmpty }
        var woken = 0
        for (environment, changed) in Dictionary(grouping: changes, by: \.environment)
            .sorted(by: { $0.key < $1.key })
        {
            woken += try await wakes.wake(
                Set(changed.map(\.id)).sorted(), environment: environment,
                workflows: workflows.sorted(), wakesAll: wakesAll)
        }
        if woken > 0 { onInput() }
    }
}
