internal import Connectors
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import Reactor
internal import Telemetry
internal import TimeZones

/// Routes arrivals and takes turns until it is told to stop: one of several equal loops.
struct TurnLoop: Sendable {
    let routing: RoutingStore
    let transfers: TransferStore
    let merges: MergeStore
    let turns: TurnStore
    let connectors: @Sendable () -> [String: Connector]
    let zones: TimeZoneSet
    let defaultZone: String?
    let outbound: OutboundChoice?
    let wake: WakeSignal
    /// Called when a turn requested effects.
    let onRequested: @Sendable () -> Void
    let batch: Int
    let poll: Duration
    let loop: EventLoop
    let log: Log
    let metrics: WorkerMetrics
    let beat: ProcessBeat
    let isStopping: @Sendable () -> Bool

    func run() async {
        var failures = 0
        while !isStopping() {
            do {
                let worked = try await step()
                if failures > 0 { beat.noteTrouble(nil) }
                failures = 0
                // Where there was work there may be more: look again at once.
                if !worked { _ = await wake.wait(atMost: jittered(poll)) }
            } catch {
                failures += 1
                metrics.turnFailures.add()
                beat.noteTrouble("\(error)")
                log.error(
                    "turns cannot be taken; trying again", ["reason": .text("\(error)")])
                let pause = min(Duration.milliseconds(200) * (1 << min(failures, 6)), .seconds(10))
                _ = await wake.wait(atMost: jittered(pause))
            }
        }
    }

    /// One round; true when there was something to do.
    private func step() async throws -> Bool {
        let routed = try await routing.route(limit: 1_000)
        metrics.routed.add(Double(routed.routed))
        if routed.unassigned > 0 {
            metrics.unassigned.add(Double(routed.unassigned))
            log.warning(
                "deliveries carry no usable customer id and wait unassigned",
                ["count": .integer(routed.unassigned)])
        }
        let merged = try await merge(routed)
        let transferred = try await carryOutTransfers()
        let started = ContinuousClock.now
        let report = try await turns.turn(limit: batch, decide: decide)
        if report.requestedEffects > 0 { onRequested() }
        note(report, took: ContinuousClock.now - started)
        return routed.routed > 0 || merged || transferred || report.claimed > 0
    }

    /// Moves what providers say has moved; true when it is worth to look again at once.
    private func carryOutTransfers() async throws -> Bool {
        let report = try await transfers.carryOut(limit: 100) { transfer, definitions in
            try TurnDecider(
                definitions: definitions, connectors: connectors(), zones: zones,
                defaultZone: defaultZone, outbound: outbound
            ).decide(transfer)
        }
        for (event, reason) in report.failed.sorted(by: { $0.key < $1.key }).prefix(10) {
            log.error(
                "a transfer between customers could not be carried out and is put off",
                ["event": .text(event), "reason": .text(reason)])
        }
        return report.carriedOut > 0
    }

    /// Merges what routing found to be one person; true when it is worth to route again at once.
    private func merge(_ routed: RoutingStore.Report) async throws -> Bool {
        // Records that this round made are merged in the next.
        if routed.merges.isEmpty { return routed.waiting > 0 && routed.newCustomers > 0 }
        let report = try await merges.merge(routed.merges) { merge, definitions in
            try TurnDecider(
                definitions: definitions, connectors: connectors(), zones: zones,
                defaultZone: defaultZone, outbound: outbound
            ).decide(merge)
        }
        for (pair, reason) in report.failed.sorted(by: { $0.key.one < $1.key.one }).prefix(10) {
            log.error(
                "two records could not be merged and are put off, with the inputs that wait for it",
                [
                    "customer": .integer(pair.one.number), "other": .integer(pair.other.number),
                    "reason": .text(reason),
                ])
        }
        if report.merged > 0 {
            log.info("records were merged", ["count": .integer(report.merged)])
        } else if report.busy > 0 {
            // A turn of one of them is under way; it takes no longer than that.
            try await loop.sleep(for: .milliseconds(20))
        }
        return report.merged + report.busy > 0
    }

    private func decide(_ turn: CustomerTurn, _ definitions: DefinitionSet) throws -> TurnResult {
        let decider = TurnDecider(
            definitions: definitions, connectors: connectors(), zones: zones,
            defaultZone: defaultZone, outbound: outbound)
        if let lack = decider.lacks(for: turn) { throw lack }
        let result = decider.decide(turn)
        metrics.note(result)
        return result
    }

    private func note(_ report: TurnStore.Report, took duration: Duration) {
        guard report.claimed > 0 else { return }
        metrics.turns.add(Double(report.turns))
        if report.turns > 0 { beat.noteTurn() }
        metrics.inputs.add(Double(report.inputs))
        metrics.batchSeconds.observe(duration)
        for (customer, reason) in report.failed.sorted(by: { $0.key < $1.key }).prefix(10) {
            log.error(
                "a customer's turn failed and is put off; everyone else goes on",
                ["customer": .integer(customer.number), "reason": .text(reason)])
        }
        log.debug(
            "turns taken",
            ["turns": .integer(report.turns), "inputs": .integer(report.inputs)])
    }
}

/// So that workers that started together do not look together.
func jittered(_ duration: Duration) -> Duration { duration * Double.random(in: 0.75...1.25) }
