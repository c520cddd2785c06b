/// Sends what the journal holds until the server has taken or refused it, and answers who waits for it.
final class Deliveries: Sendable {
    /// What came of an attempt.
    enum Verdict: Sendable {
        case receipt(FeatureConsumptionResult)
        case taken
        case refused(NuxieError)
        case postponed(NuxieError)
        /// The SDK stops; another process goes on.
        case interrupted
    }

    typealias Answer = Result<FeatureConsumptionResult, any Error>

    private struct Waiter {
        let deadline: Int64
        let continuation: CheckedContinuation<FeatureConsumptionResult, any Error>
    }

    private struct Item {
        let operation: Operation
        var attempts: Int
        var notBefore: Int64
        var isUnderWay = false
        var lastError: NuxieError?
        var waiters: [Int: Waiter] = [:]
        /// Callers that will wait and do not yet.
        var expected = 0
    }

    private struct State {
        var items: [Int: Item] = [:]
        /// Answers for callers that did not wait yet.
        var early: [Int: (answer: Answer, left: Int)] = [:]
        var lastID: Int
        var lastWaiter = 0
        var alarm = Int64.max
        /// Why nobody waits any more, once the SDK has stopped.
        var ended: NuxieError?
    }

    /// Operations that may wait to be sent.
    static let mostPending = 1_000
    /// Sent at once, when nobody waits for them.
    static let mostUnderWay = 4

    private let journal: any OperationJournal
    private let surroundings: Surroundings
    private let log: SDKLog
    private let state: Locked<State>
    private let kicks: AsyncStream<Void>
    private let kick: AsyncStream<Void>.Continuation

    init(journal: any OperationJournal, surroundings: Surroundings, log: SDKLog) {
        self.journal = journal
        self.surroundings = surroundings
        self.log = log
        let content = journal.recovered
        state = Locked(
            State(
                items: content.pending.mapValues { pending in
                    Item(
                        operation: pending.operation, attempts: pending.attempts,
                        notBefore: pending.notBefore)
                }, lastID: content.lastID))
        (kicks, kick) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        kick.yield()
    }

    // MARK: Taking operations

    /// Writes an operation down; it is sent from now on, whatever happens to the process.
    ///
    /// - Parameter isAwaited: whether ``answer(of:within:)`` is called next.
    /// - Throws: when it was not written: then it is not sent.
    func add(_ operation: Operation, isAwaited: Bool = false) throws(NuxieError) -> Int {
        let id = try state.withLock { state throws(NuxieError) in
            guard state.items.count < Self.mostPending else {
                throw NuxieError(
                    .tooManyPending,
                    "\(Self.mostPending) operations wait to be sent already; see why the server is not "
                        + "reached.")
            }
            let id = state.lastID + 1
            try journal.append(.operation(id: id, operation))
            state.lastID = id
            state.items[id] = Item(
                operation: operation, attempts: 0, notBefore: 0, expected: isAwaited ? 1 : 0)
            return id
        }
        kick.yield()
        return id
    }

    /// A pending consumption that a caller may take over; it counts as awaited then.
    func join(where isTheOne: (UsageCommand) -> Bool, alsoAwaited: Bool) -> (Int, UsageCommand)? {
        state.withLock { state in
            for (id, item) in state.items.sorted(by: { $0.key < $1.key }) {
                guard case .use(let command) = item.operation, isTheOne(command),
                    alsoAwaited || item.waiters.isEmpty && item.expected == 0
                else { continue }
                state.items[id]?.expected += 1
                return (id, command)
            }
            return nil
        }
    }

    /// Waits for the server's decision; through repeats, if they come within the time.
    ///
    /// - Parameter limit: milliseconds.
    /// - Throws: why there is none yet. The operation is sent on all the same, unless the server refused it.
    func answer(of id: Int, within limit: Int64) async throws -> FeatureConsumptionResult {
        let now = surroundings.wallClock()
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = register(
                    Waiter(deadline: now + limit, continuation: continuation), waiter, for: id)
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            remove { $0 == waiter }?.resume(throwing: CancellationError())
        }
    }

    private func register(_ waiter: Waiter, _ number: Int, for id: Int) -> Answer? {
        state.withLock { state in
            if let ended = state.ended { return .failure(ended) }
            if let early = state.early[id] {
                state.early[id] = early.left > 1 ? (early.answer, early.left - 1) : nil
                return early.answer
            }
            guard var item = state.items[id] else { return .failure(CancellationError()) }
            item.expected = max(0, item.expected - 1)
            if Task.isCancelled {
                state.items[id] = item
                return .failure(CancellationError())
            }
            if let error = item.lastError ?? Self.earlier(item),
                item.notBefore > waiter.deadline, !item.isUnderWay
            {
                state.items[id] = item
                return .failure(error.asking(item.notBefore - surroundings.wallClock()))
            }
            item.waiters[number] = waiter
            state.items[id] = item
            return nil
        }
    }

    /// Tried by an earlier process: why it failed is forgotten, when it may go on is not.
    private static func earlier(_ item: Item) -> NuxieError? {
        item.attempts == 0
            ? nil
            : NuxieError(
                .unavailable, "The server asked to be left alone; wait as retryAfter says.")
    }

    private func remove(
        _ isTheOne: (Int) -> Bool
    ) -> CheckedContinuation<FeatureConsumptionResult, any Error>? {
        state.withLock { state in
            for id in state.items.keys {
                if let number = state.items[id]?.waiters.keys.first(where: isTheOne) {
                    return state.items[id]?.waiters.removeValue(forKey: number)?.continuation
                }
            }
            return nil
        }
    }

    /// Everybody who waits gets an error; the operations stay.
    ///
    /// - Parameter isForGood: whether nobody may wait from now on.
    func release(_ error: NuxieError, isForGood: Bool = false) {
        let waiters = state.withLock { state in
            if isForGood { state.ended = error }
            var waiters: [Waiter] = []
            for id in state.items.keys {
                waiters += state.items[id].map { Array($0.waiters.values) } ?? []
                state.items[id]?.waiters = [:]
            }
            return waiters
        }
        for waiter in waiters { waiter.continuation.resume(throwing: error) }
    }

    /// How many operations wait to be sent.
    var pendingCount: Int { state.withLock { $0.items.count } }

    // MARK: Sending

    /// Sends until the task is cancelled.
    func run(_ send: @escaping @Sendable (Operation) async -> Verdict) async {
        await withDiscardingTaskGroup { group in
            for await _ in kicks {
                if Task.isCancelled { break }
                while let (id, operation) = takeDue() {
                    group.addTask { await self.attempt(id, operation, send) }
                }
                if let pause = pauseUntilAlarm() {
                    group.addTask {
                        try? await self.surroundings.sleep(pause)
                        self.state.withLock { $0.alarm = .max }
                        self.kick.yield()
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func takeDue() -> (Int, Operation)? {
        let now = surroundings.wallClock()
        return state.withLock { state in
            let busy = state.items.values.count { $0.isUnderWay && $0.waiters.isEmpty }
            for (id, item) in state.items.sorted(by: { $0.key < $1.key })
            where !item.isUnderWay && item.notBefore <= now {
                let isAwaited = item.expected > 0 || !item.waiters.isEmpty
                guard isAwaited || busy < Self.mostUnderWay else { continue }
                state.items[id]?.isUnderWay = true
                return (id, item.operation)
            }
            return nil
        }
    }

    /// Milliseconds until the next attempt, when no alarm is set that comes before it.
    private func pauseUntilAlarm() -> Int64? {
        let now = surroundings.wallClock()
        return state.withLock { state in
            let next = state.items.values.filter { !$0.isUnderWay }.map(\.notBefore).min()
            guard let next, next > now, next < state.alarm else { return nil }
            state.alarm = next
            return next - now
        }
    }

    private func attempt(
        _ id: Int, _ operation: Operation, _ send: @Sendable (Operation) async -> Verdict
    ) async {
        let verdict: Verdict
        do throws(NuxieError) {
            try journal.synchronize()
            verdict = await send(operation)
        } catch {
            verdict = .postponed(error)
        }
        switch verdict {
        case .receipt(let receipt): finish(id, .success(receipt))
        case .taken: finish(id, .failure(CancellationError()))
        case .refused(let error):
            log.log(.error, "An operation was refused and is not repeated: \(error)")
            finish(id, .failure(error))
        case .postponed(let error): postpone(id, error)
        case .interrupted: state.withLock { $0.items[id]?.isUnderWay = false }
        }
        kick.yield()
    }

    private func finish(_ id: Int, _ answer: Answer) {
        note(.finished(id: id))
        let waiters = state.withLock { state -> [Waiter] in
            guard let item = state.items.removeValue(forKey: id) else { return [] }
            if item.expected > 0 { state.early[id] = (answer, item.expected) }
            return Array(item.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(with: answer) }
    }

    private func postpone(_ id: Int, _ error: NuxieError) {
        let now = surroundings.wallClock()
        let random = surroundings.random()
        let (waiters, record) = state.withLock { state -> ([Waiter], JournalRecord?) in
            guard var item = state.items[id] else { return ([], nil) }
            item.isUnderWay = false
            item.attempts += 1
            item.lastError = error
            item.notBefore =
                now
                + RetryPolicy.pause(after: item.attempts, wish: error.retryAfter, random: random)
            let leaving = item.waiters.filter { $0.value.deadline < item.notBefore }
            for number in leaving.keys { item.waiters[number] = nil }
            state.items[id] = item
            let record = JournalRecord.postponed(
                id: id, attempts: item.attempts, until: item.notBefore)
            return (Array(leaving.values), record)
        }
        if let record { note(record) }
        log.log(.warning, "An operation is repeated later: \(error)")
        for waiter in waiters { waiter.continuation.resume(throwing: error) }
    }

    /// Lost, such a line only makes the server repeat what it decided.
    private func note(_ record: JournalRecord) {
        do throws(NuxieError) {
            try journal.append(record)
        } catch {
            log.log(.warning, "\(error)")
        }
    }
}

extension NuxieError {
    /// The same with the time that is left until the next attempt.
    fileprivate func asking(_ milliseconds: Int64) -> NuxieError {
        NuxieError(
            code, message, serverCode: serverCode,
            retryAfter: .milliseconds(max(0, milliseconds)))
    }
}
