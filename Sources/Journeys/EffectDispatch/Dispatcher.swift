internal import FailPoints
internal import HTTPClient
internal import JSON
internal import JourneyEngine
internal import JourneyModel
package import JourneyStorage
internal import Locks
package import Reactor
package import Settings
package import Telemetry
package import TimeZones
internal import WorkflowDefinitions

/// Leases due effects, makes their attempts outside any transaction, and hands in how they went.
package final class Dispatcher: Sendable {
    private let store: EffectStore
    private let attempts: AttemptMaker
    private let gates: AccountGates
    private let isIdempotent: @Sendable (LeasedEffect) -> Bool
    private let wake: WakeSignal
    /// Raised whenever an attempt has ended.
    private let ended: WakeSignal
    private let onFinished: @Sendable () -> Void
    private let loop: EventLoop
    private let log: Log
    private let metrics: DispatchMetrics
    private let poll: Duration
    private let isHeld: Bool
    private let state = Guarded(State())

    private struct State {
        var isStopping = false
        var underWay = 0
        var trouble: String?
    }

    /// - Parameters:
    ///   - isHeld: leases and sends nothing.
    ///   - wake: raised when effects were requested.
    ///   - onFinished: called after results were stored, to wake the turns.
    package init(
        store: EffectStore, accounts: [String: AccountSettings], concurrency: Int,
        isHeld: Bool = false, poll: Duration, wake: WakeSignal, loop: EventLoop, log: Log,
        metrics: Metrics,
        clock: @escaping @Sendable () -> Instant, onFinished: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.wake = wake
        ended = WakeSignal(loop: loop)
        self.loop = loop
        self.log = log
        self.poll = poll
        self.isHeld = isHeld
        self.onFinished = onFinished
        self.metrics = DispatchMetrics(metrics)
        self.metrics.noteHeld(isHeld)
        gates = AccountGates(accounts: accounts, concurrency: concurrency)
        let transport = HTTPTransport(
            loop: loop, maximumConcurrentCalls: concurrency, userAgent: "nuxie-journey-worker")
        attempts = AttemptMaker(
            accounts: accounts, transport: transport, log: log, clock: clock)
        isIdempotent = { lease in
            switch lease.request.tool {
            case .http, .slack:
                lease.request.account.map { accounts[$0]?.isIdempotent ?? false } ?? false
            // A line that stands twice, with the same ids, does no harm.
            case .log: true
            }
        }
    }

    /// Runs until ``requestStop()``; attempts under way then go on, see ``drain(within:)``.
    package func run() async {
        var failures = 0
        while !state.withLock({ $0.isStopping }) {
            if isHeld {
                _ = await wake.wait(atMost: .seconds(60))
                continue
            }
            do {
                let (count, pause) = try await leaseAndStart()
                if failures > 0 { state.withLock { $0.trouble = nil } }
                failures = 0
                if count > 0 { continue }
                // A rate, or another dispatcher at the account, says when; else what is not due yet is
                // found by looking now and then.
                let jittered = poll * Double.random(in: 0.75...1.25)
                _ = await wake.wait(atMost: min(pause ?? jittered, jittered))
            } catch {
                failures += 1
                state.withLock { $0.trouble = "\(error)" }
                log.error("effects cannot be leased; trying again", ["reason": .text("\(error)")])
                let pause = min(Duration.milliseconds(200) * (1 << min(failures, 6)), .seconds(10))
                _ = await wake.wait(atMost: pause)
            }
        }
    }

    /// The tools and accounts that this process serves.
    package var served: [EffectCapacity] { gates.served }

    /// What keeps the dispatcher from leasing at the moment; nil for nothing.
    package var trouble: String? { state.withLock { $0.trouble } }

    /// Has ``run()`` return without leasing anything more.
    package func requestStop() {
        state.withLock { $0.isStopping = true }
        wake.raise()
    }

    /// Waits until no attempt is under way, or until the time is up: what is left is broken off, and
    /// what then cannot be handed in keeps its lease and is ambiguous when that runs out.
    package func drain(within limit: Duration) async {
        await idle(within: limit)
        await attempts.shutdown()
        await idle(within: Self.breakingOffLimit)
    }

    /// How long attempts that were broken off may take to hand in that they were.
    private static let breakingOffLimit = Duration.seconds(2)

    private func idle(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while state.withLock({ $0.underWay }) > 0 {
            let left = end - .now
            guard left > .zero else { return }
            _ = await ended.wait(atMost: left)
        }
    }

    /// - Returns: how many attempts were started, and how soon to look again where there were none.
    private func leaseAndStart() async throws -> (count: Int, pause: Duration?) {
        var pause: Duration?
        var hasEnded = false
        defer { if hasEnded { onFinished() } }
        for capacities in gates.rounds() {
            let round = try await store.round(capacities)
            for ended in round.ended { metrics.note(ended) }
            hasEnded = hasEnded || !round.ended.isEmpty
            if let again = round.lookAgainAfter { pause = min(pause ?? again, again) }
            if round.leases.isEmpty { continue }
            if state.withLock({ $0.isStopping }) {
                // One whose last attempt may have arrived keeps its lease, and with it that knowledge.
                try await store.handBack(round.leases.filter { !$0.wasAmbiguous })
                return (0, nil)
            }
            for lease in round.leases { begin(lease) }
            return (round.leases.count, nil)
        }
        return (0, pause.map { max($0, .milliseconds(1)) })
    }

    private func begin(_ lease: LeasedEffect) {
        gates.start(lease)
        state.withLock { $0.underWay += 1 }
        Task(executorPreference: loop.tasks) {
            await self.attempt(lease)
            self.gates.end(lease)
            self.finishOne()
        }
    }

    private func finishOne() {
        state.withLock { $0.underWay -= 1 }
        ended.raise()
        wake.raise()
    }

    // MARK: One attempt

    private func attempt(_ lease: LeasedEffect) async {
        let started = ContinuousClock.now
        failPoint("dispatch.leased")
        let outcome = await attempts.make(lease)
        failPoint("dispatch.answered")
        let took = ContinuousClock.now - started
        metrics.observe(took, tool: lease.request.tool.rawValue)
        guard let finished = finish(lease, outcome) else {
            await handBack(lease)
            return
        }
        metrics.note(finished, took: took)
        note(finished, outcome.sentence)
        await store(finished)
    }

    /// Nil where no attempt was made.
    private func finish(_ lease: LeasedEffect, _ outcome: AttemptOutcome) -> FinishedAttempt? {
        let verdict = AttemptVerdict.after(
            outcome, attempt: lease.attempt, policy: lease.request.retry,
            isIdempotent: isIdempotent(lease), jitter: Double.random(in: 0...1))
        let next: FinishedAttempt.Next
        switch verdict {
        case .end(let end): next = .end(end)
        case .repeatAfter(let pause): next = .retry(after: pause)
        case .handBack: return nil
        }
        return FinishedAttempt(
            lease: lease, outcome: outcome.word, isAmbiguous: outcome.isAmbiguous,
            excerpt: outcome.excerpt, next: next)
    }

    /// Puts an effect back for which nothing was sent. Where the attempt before this one may have arrived
    /// the lease is kept, and runs out: that knowledge must not be lost.
    private func handBack(_ lease: LeasedEffect) async {
        if lease.wasAmbiguous { return }
        do {
            try await store.handBack([lease])
        } catch {
            log.warning(
                "a lease could not be handed back; it runs out by itself",
                [
                    "invocation": .text(lease.request.invocation.text),
                    "reason": .text("\(error)"),
                ])
        }
    }

    /// Hands in an attempt. It is tried for longer than the lease lasts, since the fence protects what
    /// another dispatcher may have begun; only a stop ends it sooner.
    private func store(_ finished: FinishedAttempt) async {
        var pause = Duration.milliseconds(100)
        let end = ContinuousClock.now + finished.lease.request.attemptTimeout + Self.handingInLimit
        var mayBeStored = false
        while true {
            do {
                let held = try await store.finish([finished])
                failPoint("dispatch.stored")
                if held == [true] || mayBeStored {
                    onFinished()
                } else {
                    metrics.countLate(tool: finished.lease.request.tool.rawValue)
                    log.warning(
                        "an attempt ended after its lease was given to another; nothing is changed",
                        ["invocation": .text(finished.lease.request.invocation.text)])
                }
                return
            } catch {
                // The commit may have gone through and its answer not: the next try then finds it done.
                mayBeStored = true
                log.error(
                    "an attempt's end could not be stored; trying again",
                    [
                        "invocation": .text(finished.lease.request.invocation.text),
                        "reason": .text("\(error)"),
                    ])
                let isOver = ContinuousClock.now > end
                if isOver || (pause > .seconds(1) && state.withLock { $0.isStopping }) { return }
                try? await loop.sleep(for: pause)
                pause = min(pause * 2, .seconds(5))
            }
        }
    }

    /// How much longer than its attempt's time a result is kept for the database to come back.
    private static let handingInLimit = Duration.seconds(300)

    private func note(_ finished: FinishedAttempt, _ sentence: String?) {
        let fields: KeyValuePairs<String, LogValue> = [
            "workflow": .text(finished.lease.workflow.text),
            "run": .text(finished.lease.request.run.text),
            "step": .text(finished.lease.request.step.text),
            "invocation": .text(finished.lease.request.invocation.text),
            "attempt": .integer(finished.lease.attempt), "outcome": .text(finished.outcome),
            "reason": .text(sentence ?? ""),
        ]
        switch finished.next {
        case .end(.succeeded): log.info("an effect was done", fields)
        case .end: log.warning("an effect ended without success", fields)
        case .retry: log.warning("an attempt failed and will be repeated", fields)
        }
    }
}

extension AttemptOutcome {
    /// Our own words for what went wrong; nil where only the receiver's are at hand.
    fileprivate var sentence: String? {
        switch self {
        case .succeeded: nil
        case .failed(let failure), .ambiguous(let failure), .notMade(let failure):
            failure.detail.string
        }
    }

    /// The beginning of what came back, for people.
    fileprivate var excerpt: [UInt8] {
        switch self {
        case .succeeded(let result): Array(result.bytes.prefix(FinishedAttempt.excerptLimit))
        case .failed(let failure), .ambiguous(let failure), .notMade(let failure):
            Array(failure.detail.bytes.prefix(FinishedAttempt.excerptLimit))
        }
    }
}
