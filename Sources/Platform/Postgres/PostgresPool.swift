package import Reactor

/// A bounded set of connections to one database; each is lent to one user at a time.
///
/// Connections are opened when they are needed. Broken ones are dropped; while the database is out of
/// reach, attempts follow each other with a growing, jittered pause, and those who wait hear why.
package actor PostgresPool {
    /// How many connections there are and how many callers wait.
    package struct Statistics: Sendable, Hashable {
        /// Most connections.
        package let size: Int
        package let open: Int
        package let inUse: Int
        package let waiting: Int
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Result<PostgresConnection, PostgresError>, Never>
        let timer: LoopTimer
    }

    package nonisolated let settings: PostgresSettings
    /// Where its connections live.
    package nonisolated let loop: EventLoop
    private let size: Int
    private let mostWaiting: Int
    private let waitLimit: Duration
    private var idle: [PostgresConnection] = []
    private var inUse = 0
    private var opening = 0
    private var waiters: [Int: Waiter] = [:]
    /// Numbers of waiters in the order of arrival; those answered meanwhile are passed over.
    private var order: [Int] = []
    private var nextWaiter = 0
    private var failures = 0
    private var isPausing = false
    private var isClosed = false
    private var closers: [CheckedContinuation<Void, Never>] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - size: most connections, at least 1.
    ///   - mostWaiting: callers that may wait for a connection; one more fails with `.exhausted`.
    ///   - waitLimit: how long each of them waits.
    package init(
        settings: PostgresSettings, size: Int, loop: EventLoop, mostWaiting: Int = 1_000,
        waitLimit: Duration = .seconds(10)
    ) {
        precondition(size >= 1, "a pool without connections")
        self.settings = settings
        self.size = size
        self.loop = loop
        self.mostWaiting = mostWaiting
        self.waitLimit = waitLimit
    }

    package var statistics: Statistics {
        Statistics(
            size: size, open: idle.count + inUse, inUse: inUse, waiting: waiters.count)
    }

    /// Runs one statement in a transaction of its own.
    package func query(
        _ statement: SQLStatement, _ values: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresRows {
        let connection = try await acquire()
        defer { release(connection) }
        return try await connection.query(statement, values)
    }

    /// Runs statements in one implicit transaction and one round trip.
    package func pipeline(
        _ items: [(SQLStatement, [PostgresValue])]
    ) async throws(PostgresError) -> [PostgresRows] {
        let connection = try await acquire()
        defer { release(connection) }
        return try await connection.pipeline(items)
    }

    /// Refuses new work, closes idle connections, and waits for the ones in use.
    package func close() async {
        isClosed = true
        for connection in idle { await connection.close() }
        idle = []
        for id in waiters.keys.sorted() { answer(id, .failure(Self.closed)) }
        await withCheckedContinuation { continuation in
            if inUse + opening == 0 { continuation.resume() } else { closers.append(continuation) }
        }
    }

    // MARK: Lending

    /// Lends a connection; every caller gives it back with ``release(_:)``.
    func acquire() async throws(PostgresError) -> PostgresConnection {
        if isClosed { throw Self.closed }
        if Task.isCancelled {
            throw PostgresError(kind: .cancelled, message: "before it was sent")
        }
        if let connection = takeIdle() { return connection }
        let id = nextWaiter
        nextWaiter += 1
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { enqueue(id, $0) }
        } onCancel: {
            loop.onLoop { self.assumeIsolated { $0.answer(id, .failure(Self.cancelled)) } }
        }
        return try outcome.get()
    }

    /// Everything is looked at anew: other work of the pool may have run since the caller found no idle
    /// connection, although it was on the pool's own loop all the while.
    private func enqueue(
        _ id: Int,
        _ continuation: CheckedContinuation<Result<PostgresConnection, PostgresError>, Never>
    ) {
        if isClosed {
            continuation.resume(returning: .failure(Self.closed))
        } else if Task.isCancelled {
            continuation.resume(returning: .failure(Self.cancelled))
        } else if let connection = takeIdle() {
            continuation.resume(returning: .success(connection))
        } else if waiters.count >= mostWaiting {
            let full = PostgresError(
                kind: .exhausted,
                message: "the pool is exhausted: \(waiters.count) callers wait already")
            continuation.resume(returning: .failure(full))
        } else {
            let timer = loop.schedule(after: waitLimit) { [weak self] in
                self?.assumeIsolated { $0.expire(id) }
            }
            waiters[id] = Waiter(continuation: continuation, timer: timer)
            order.append(id)
            openWhereNeeded()
        }
    }

    private func takeIdle() -> PostgresConnection? {
        while let connection = idle.popLast() {
            guard connection.assumeIsolated({ $0.isClean }) else { continue }
            inUse += 1
            return connection
        }
        return nil
    }

    /// Takes a connection back; one that is not clean is closed.
    func release(_ connection: PostgresConnection) {
        inUse -= 1
        let isClean = connection.assumeIsolated { $0.isClean }
        if isClean, !isClosed {
            hand(connection)
        } else {
            connection.assumeIsolated { $0.close() }
            openWhereNeeded()
        }
        tellClosers()
    }

    private func hand(_ connection: PostgresConnection) {
        while !order.isEmpty {
            let id = order.removeFirst()
            if waiters[id] == nil { continue }
            inUse += 1
            answer(id, .success(connection))
            return
        }
        idle.append(connection)
    }

    private func answer(_ id: Int, _ result: Result<PostgresConnection, PostgresError>) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        if waiters.isEmpty { order.removeAll(keepingCapacity: true) }
        waiter.timer.cancel()
        waiter.continuation.resume(returning: result)
    }

    private func expire(_ id: Int) {
        answer(
            id,
            .failure(
                PostgresError(
                    kind: .exhausted,
                    message: "the pool is exhausted: none of \(size) connections became free in "
                        + "\(waitLimit)")))
    }

    // MARK: Opening

    private func openWhereNeeded() {
        guard !isClosed, !isPausing else { return }
        while opening < waiters.count, idle.count + inUse + opening < size {
            // After a failure, one scout is enough.
            if failures > 0, opening > 0 { return }
            opening += 1
            Task(executorPreference: loop.tasks) { await self.openOne() }
        }
    }

    private func openOne() async {
        let result: Result<PostgresConnection, PostgresError>
        do throws(PostgresError) {
            result = .success(try await PostgresConnection.connect(settings, on: loop))
        } catch {
            result = .failure(error)
        }
        opening -= 1
        switch result {
        case .success(let connection) where isClosed:
            await connection.close()
        case .success(let connection):
            failures = 0
            hand(connection)
            openWhereNeeded()
        case .failure(let error):
            failures += 1
            for id in waiters.keys.sorted() { answer(id, .failure(error)) }
            pause()
        }
        tellClosers()
    }

    /// From 50 ms, doubling up to 2 s, each between half and the whole.
    private func pause() {
        isPausing = true
        let most = min(2_000, 50 << min(failures - 1, 6))
        loop.schedule(after: .milliseconds(Int.random(in: most / 2...most))) { [weak self] in
            self?.assumeIsolated { pool in
                pool.isPausing = false
                pool.openWhereNeeded()
            }
        }
    }

    private func tellClosers() {
        guard isClosed, inUse + opening == 0 else { return }
        for closer in closers { closer.resume() }
        closers = []
    }

    private static let cancelled = PostgresError(
        kind: .cancelled, message: "while it waited for a connection")
    private static let closed = PostgresError(
        kind: .closed, message: "the pool of connections to PostgreSQL is closed")
}
