internal import Connectors
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Reactor
internal import Telemetry

/// Takes long work on, in one process at a time: deliveries that operators have offered again.
struct BatchLoop: Sendable {
    let batches: BatchStore
    let leases: LeaseStore
    let connectors: @Sendable () -> [String: Connector]
    /// A name that no other process has.
    let holder: String
    /// Called when inputs were put in.
    let onInput: @Sendable () -> Void
    /// Raised when the loop is to stop.
    let pause: WakeSignal
    let log: Log
    let isStopping: @Sendable () -> Bool

    private static let lease = "batches"
    private static let leaseLength = Duration.seconds(30)
    private static let round = Duration.seconds(1)
    /// Of each round; the rest is left to the turns.
    private static let work = Duration.milliseconds(800)

    func run() async {
        var holds = false
        while !isStopping(), !Task.isCancelled {
            let begun = ContinuousClock.now
            do {
                let running = try await batches.running()
                if !running.isEmpty {
                    holds =
                        try await leases.take(Self.lease, holder: holder, for: Self.leaseLength)
                        != nil
                    if holds { await step(running, until: begun + Self.work) }
                }
            } catch {
                if Task.isCancelled { return }
                log.warning(
                    "batches could not be looked at; trying again", ["reason": .text("\(error)")])
            }
            let left = Self.round - (ContinuousClock.now - begun)
            if left > .zero { _ = await pause.wait(atMost: left) }
        }
        if holds { try? await leases.release(Self.lease, holder: holder) }
    }

    /// One second's work: each batch goes on by what its rate allows.
    private func step(_ running: [Batch], until end: ContinuousClock.Instant) async {
        let review = DeliveryReview(connectors: connectors())
        for batch in running {
            do {
                let replay = batch.replay
                try await walk(batch, until: end) { candidate in
                    ReplayJudge(review: review, replay: replay).judge(candidate)
                }
            } catch {
                if Task.isCancelled { return }
                log.error(
                    "a batch stands still until it is resumed",
                    ["batch": .integer(batch.id), "reason": .text("\(error)")])
                try? await batches.halt(batch.id, because: "\(error)")
            }
        }
    }

    private func walk(
        _ batch: Batch, until end: ContinuousClock.Instant,
        _ judge: @escaping @Sendable (DeliveryCandidate) -> ReplayJudgement
    ) async throws {
        var left = batch.rate
        // A page at least, however slow the others were: every batch goes on.
        repeat {
            let page = try await batches.walk(
                batch, limit: min(left, BatchStore.pageLimit), judge: judge)
            if page.offered > 0 { onInput() }
            left -= page.offered
            if page.isLast {
                log.info("a batch is done", ["batch": .integer(batch.id)])
                return
            }
        } while left > 0 && ContinuousClock.now < end && !isStopping()
    }
}

/// What a replay does with one stored delivery; pure.
struct ReplayJudge {
    let review: DeliveryReview
    let replay: Replay

    func judge(_ candidate: DeliveryCandidate) -> ReplayJudgement {
        // Repeats are the first one's event, what is unread has its turn to come, and what was erased with
        // a person stays erased.
        guard candidate.isFirst, !["unread", "forgotten"].contains(candidate.state) else {
            return .pass
        }
        return replay.remaps ? remapped(candidate) : offeredAgain(candidate)
    }

    private func remapped(_ candidate: DeliveryCandidate) -> ReplayJudgement {
        switch review.review(candidate.delivery, hasBody: candidate.hasBody) {
        case .same: return .pass
        case .unable(let sentence):
            return .unable(
                BatchFinding(
                    object: candidate.delivery.id, outcome: "unable", event: candidate.event,
                    before: candidate.delivery.earlier?.name, sentence: sentence))
        case .differs(let before, let after):
            let isSomebodyElses =
                before.map { $0.environment != after.environment || !$0.names(after.person) }
                ?? true
            let owner = ReplayJudgement.NewOwner(
                environment: after.environment, person: after.person,
                occurredAt: after.occurredAt)
            let finding = BatchFinding(
                object: candidate.delivery.id, outcome: "offered", event: candidate.event,
                before: before?.name, after: after.name)
            if isSomebodyElses, after.person.id != nil { return .offer(finding, to: owner) }
            // What names nobody stays whose it is; where it is nobody's, it waits on.
            return candidate.customer == nil ? .pass : .offer(finding, to: nil)
        }
    }

    private func offeredAgain(_ candidate: DeliveryCandidate) -> ReplayJudgement {
        guard let event = candidate.delivery.earlier, candidate.customer != nil else {
            return .pass
        }
        return .offer(
            BatchFinding(
                object: candidate.delivery.id, outcome: "offered", event: candidate.event,
                before: event.name, after: event.name), to: nil)
    }
}

extension Event {
    /// Whether the person it is about is known by the same own id.
    fileprivate func names(_ person: Person) -> Bool {
        switch (self.person.id, person.id) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, _), (_, nil): false
        }
    }
}
