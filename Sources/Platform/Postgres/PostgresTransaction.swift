internal import Reactor

/// How much of other transactions a transaction sees.
package enum PostgresIsolation: String, Sendable, Hashable {
    case readCommitted = "read committed"
    case repeatableRead = "repeatable read"
    case serializable = "serializable"
}

/// An explicit transaction on one lent connection. `begin` travels with the first statements; after
/// ``pipelineAndCommit(_:)`` or an error nothing more may be asked of it.
package actor PostgresTransaction {
    private enum Phase {
        /// Nothing was sent.
        case new
        case open
        /// Committed, or the server refused the commit.
        case over
    }

    private let connection: PostgresConnection
    private let isolation: PostgresIsolation
    private nonisolated let loop: EventLoop
    private var phase = Phase.new

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    init(connection: PostgresConnection, isolation: PostgresIsolation, loop: EventLoop) {
        self.connection = connection
        self.isolation = isolation
        self.loop = loop
    }

    /// Runs one statement in this transaction.
    package func query(
        _ statement: SQLStatement, _ values: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresRows {
        try await send([(statement, values)], commits: false)[0]
    }

    /// Runs statements in one round trip; the rows are in their order.
    package func pipeline(
        _ items: [(SQLStatement, [PostgresValue])]
    ) async throws(PostgresError) -> [PostgresRows] {
        if items.isEmpty { return [] }
        return try await send(items, commits: false)
    }

    /// Runs the last statements and the commit in one round trip. When any of them fails, nothing of the
    /// transaction stays.
    package func pipelineAndCommit(
        _ items: [(SQLStatement, [PostgresValue])]
    ) async throws(PostgresError) -> [PostgresRows] {
        try await send(items, commits: true)
    }

    private static let commit = SQLStatement(named: "commit", "commit", isPrepared: false)
    private static let rollback = SQLStatement(
        named: "rollback", "rollback", timeout: .seconds(5), isPrepared: false)

    private func send(
        _ items: [(SQLStatement, [PostgresValue])], commits: Bool
    ) async throws(PostgresError) -> [PostgresRows] {
        if phase == .over {
            throw PostgresError(
                kind: .closed, message: "the transaction is over", statement: items.first?.0.name)
        }
        let begins = phase == .new
        var batch = PostgresBatch(items: [], isInTransaction: true, commits: commits)
        if begins {
            let begin = SQLStatement(
                named: "begin", "begin isolation level " + isolation.rawValue, isPrepared: false)
            batch.items.append((begin, []))
        }
        batch.items += items.map { ($0, $1) }
        if commits { batch.items.append((Self.commit, [])) }
        phase = .open
        var rows = try await connection.perform(batch)
        if commits {
            phase = .over
            rows.removeLast()
        }
        if begins { rows.removeFirst() }
        return rows
    }

    /// After a body that did not commit by itself.
    func commitIfOpen() async throws(PostgresError) {
        guard phase == .open else { return }
        _ = try await send([], commits: true)
    }

    /// Leaves the connection outside any transaction, or closed. Runs in cancelled tasks too.
    func rollBack() async {
        defer { phase = .over }
        guard phase == .open, await connection.isOpen, await !connection.isClean else { return }
        var batch = PostgresBatch(items: [(Self.rollback, [])], isInTransaction: true)
        batch.ignoresCancellation = true
        do throws(PostgresError) { _ = try await connection.perform(batch) } catch {
            // In what state the session is nobody knows: another one is cheap.
            await connection.close()
        }
    }
}
