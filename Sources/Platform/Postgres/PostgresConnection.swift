internal import CPostgres
package import Reactor

/// One session with PostgreSQL, through libpq in pipeline mode on an event loop.
///
/// Any number of tasks may use it at once: what they ask is sent at once and answered in order, and an
/// error of one leaves the others unharmed. A timeout or a cancelled task asks the server to cancel; the
/// caller hears the statement's true outcome, and when the server does not react the connection is given up.
/// Callers run best in tasks of the loop (`Task(executorPreference: loop.tasks)`).
package actor PostgresConnection {
    /// Hears of notifications, on the loop.
    package typealias NotificationHandler = @Sendable (PostgresNotification) -> Void

    let loop: EventLoop
    let settings: PostgresSettings
    /// Nil before it is open and after it is closed.
    var wire: OpaquePointer?
    var descriptor: Int32 = -1
    var prepared = PreparedStatements()
    var pending: [Exchange] = []
    var nextID = 0
    var isWatchingWrites = false
    /// Why it is no longer open.
    var end: PostgresError?
    var endWaiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private let onNotification: NotificationHandler?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    init(
        settings: PostgresSettings, loop: EventLoop, onNotification: NotificationHandler?
    ) {
        self.settings = settings
        self.loop = loop
        self.onNotification = onNotification
    }

    isolated deinit {
        guard let wire else { return }
        loop.unwatch(descriptor)
        PQfinish(wire)
    }

    /// Opens a connection.
    ///
    /// - Parameter onNotification: called on the loop for each NOTIFY that arrives; must not wait.
    package static func connect(
        _ settings: PostgresSettings, on loop: EventLoop,
        onNotification: NotificationHandler? = nil
    ) async throws(PostgresError) -> PostgresConnection {
        let connection = PostgresConnection(
            settings: settings, loop: loop, onNotification: onNotification)
        try await connection.open()
        return connection
    }

    /// Runs one statement in a transaction of its own.
    package func query(
        _ statement: SQLStatement, _ values: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresRows {
        let results = try await perform(PostgresBatch(items: [(statement, values)]))
        return results[0]
    }

    /// Runs statements in one implicit transaction and one round trip; the rows are in their order.
    package func pipeline(
        _ items: [(SQLStatement, [PostgresValue])]
    ) async throws(PostgresError) -> [PostgresRows] {
        if items.isEmpty { return [] }
        return try await perform(PostgresBatch(items: items.map { ($0, $1) }))
    }

    /// Runs a text of one or more statements without parameters; its rows are dropped. While it runs, and
    /// while anything else runs, the connection refuses (`.exhausted`).
    ///
    /// - Parameter name: for errors.
    package func simple(
        _ sql: String, name: StaticString = "script", timeout: Duration = .seconds(60)
    ) async throws(PostgresError) {
        try await runScript(sql, name: name.description, timeout: timeout)
    }

    /// Ends the session now; what is in flight fails with `.closed`.
    package func close() {
        lose(PostgresError(kind: .closed, message: "the connection to PostgreSQL is closed"))
    }

    /// Whether it is open, as far as known.
    package var isOpen: Bool { wire != nil }

    /// Whether it is open, idle and outside any transaction block: fit for another user.
    var isClean: Bool {
        wire != nil && pending.isEmpty && PQtransactionStatus(wire) == PQTRANS_IDLE
    }

    /// Returns when the connection ends, or when the task is cancelled.
    package func waitUntilClosed() async {
        guard wire != nil, !Task.isCancelled else { return }
        let id = nextID
        nextID += 1
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // It may have ended, or been cancelled, since the look above.
                if wire == nil || Task.isCancelled {
                    continuation.resume()
                } else {
                    endWaiters[id] = continuation
                }
            }
        } onCancel: {
            loop.onLoop {
                self.assumeIsolated { $0.endWaiters.removeValue(forKey: id)?.resume() }
            }
        }
    }

    func deliverNotifications() {
        while let notice = PQnotifies(wire) {
            let notification = PostgresNotification(
                channel: String(cString: notice.pointee.relname),
                payload: String(cString: notice.pointee.extra))
            PQfreemem(notice)
            onNotification?(notification)
        }
    }
}

/// A NOTIFY.
package struct PostgresNotification: Sendable, Hashable {
    package let channel: String
    package let payload: String

    package init(channel: String, payload: String) {
        self.channel = channel
        self.payload = payload
    }
}
