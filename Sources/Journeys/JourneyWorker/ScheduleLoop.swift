internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import Reactor
internal import Telemetry
internal import TimeZones

/// Fires schedules and walks the customers, in one process at a time.
struct ScheduleLoop: Sendable {
    let schedules: ScheduleStore
    let leases: LeaseStore
    let definitions: @Sendable () async throws -> DefinitionSet
    let zones: TimeZoneSet
    let defaultZone: String?
    /// A name that no other process has.
    let holder: String
    /// Called when inputs were put in or timers set.
    let onInput: @Sendable () -> Void
    /// Raised when the loop is to stop.
    let pause: WakeSignal
    let log: Log
    let isStopping: @Sendable () -> Bool

    /// The lease is kept far longer than a round takes.
    private static let lease = "schedules"
    private static let leaseLength = Duration.seconds(30)
    /// A round of a walk, and of looking at calendars.
    private static let round = Duration.seconds(1)
    /// Customers a second that meet what was published.
    private static let publishedRate = 2_000

    func run() async {
        var term: Int64?
        while !isStopping(), !Task.isCancelled {
            let begun = ContinuousClock.now
            do {
                let held = try await leases.take(
                    Self.lease, holder: holder, for: Self.leaseLength)
                if let held {
                    if held != term {
                        log.info("schedules are fired here", ["term": .integer(held)])
                    }
                    try await step()
                }
                term = held
            } catch {
                if Task.isCancelled { return }
                log.warning(
                    "schedules could not be looked at; trying again", ["reason": .text("\(error)")])
            }
            let left = Self.round - (ContinuousClock.now - begun)
            if left > .zero { _ = await pause.wait(atMost: left) }
        }
        // Others need not wait for the lease's end.
        if term != nil { try? await leases.release(Self.lease, holder: holder) }
    }

    /// One second's work: what is due is written, and each walk goes on by what its rate allows.
    private func step() async throws {
        let (latest, now) = try await schedules.latest()
        var walking = try await schedules.walking()
        let plan = SchedulePlan(
            try await definitions(), latest: latest, walking: Set(walking.map(\.workflow)),
            zones: zones, defaultZone: defaultZone, now: now)
        try await schedules.write(plan)
        for skip in plan.skipped {
            log.warning(
                "a schedule was not fired",
                [
                    "workflow": .text(skip.firing.workflow.text), "reason": .text(skip.reason),
                    "planned_at": .text(skip.firing.plannedAt.description),
                    "count": .integer(skip.count),
                ])
        }
        if !plan.starting.isEmpty { walking = try await schedules.walking() }
        var asked = 0
        for firing in walking {
            asked += try await walk(atMost: firing.rate) { limit in
                try await schedules.walk(firing, limit: limit)
            }
        }
        asked += try await walk(atMost: Self.publishedRate) { limit in
            try await schedules.walkPublished(limit: limit)
        }
        if asked > 0 { onInput() }
    }

    private func walk(
        atMost rate: Int, _ page: (_ limit: Int) async throws -> ScheduleStore.Page?
    ) async throws -> Int {
        var asked = 0
        var left = rate
        while left > 0, !isStopping() {
            let limit = min(left, ScheduleStore.pageLimit)
            guard let page = try await page(limit) else { break }
            asked += page.asked
            left -= limit
            if page.isLast { break }
        }
        return asked
    }
}
