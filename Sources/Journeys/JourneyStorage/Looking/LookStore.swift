internal import JSON
internal import JourneyEngine
package import JourneyModel
package import Postgres
internal import TimeZones

/// What people ask about runs, customers, deliveries, events and effects. Every look is a read-only
/// transaction with bounded statements, and works on a hot standby.
package struct LookStore: Sendable {
    private let pool: PostgresPool

    /// Runs and events shown with a customer.
    package static let tailLimit = 50
    /// Rows that one list may hold.
    package static let listLimit = 1_000

    package init(pool: PostgresPool) { self.pool = pool }

    /// Runs, newest entry first.
    package func runs(_ filter: RunFilter) async throws -> [RunSummary] {
        try await look { tx in
            guard let conditions = try await Self.values(of: filter, tx) else { return [] }
            let values =
                conditions + [
                    .optional(filter.after?.enteredAt), .optional(filter.after?.id.text),
                    Self.limit(filter.limit),
                ]
            return try await tx.query(Self.listingRuns, values).map(Self.readSummary)
        }
    }

    /// A run's decisions in order, from the number `first` on, at most ``listLimit``.
    package func history(_ id: RunID, from first: Int = 0) async throws -> [HistoryRow] {
        try await look { tx in
            let rows = try await tx.query(
                Self.readingHistory,
                [.text(id.text), .int4(Int32(clamping: first)), Self.limit(Self.listLimit)])
            return try rows.map { row in
                HistoryRow(
                    number: Int(try row.int32("decision")), at: try row.instant("at"),
                    json: try readObject(try row.json("entries"), "history of run \(id)"))
            }
        }
    }

    /// Effects, newest request first.
    package func effects(_ filter: EffectFilter) async throws -> [EffectView] {
        try await look { tx in
            var customer: Int64?
            if let run = filter.run {
                let row = try await tx.query(Self.showingRun, [.text(run.text)]).first
                guard let row else { return [] }
                customer = try row.int64("customer")
            }
            let rows = try await tx.query(
                Self.listingEffects,
                [
                    .optional(customer), .optional(filter.run?.text), .optional(filter.status),
                    .optional(filter.tool), .optional(filter.account), .optional(filter.since),
                    .optional(filter.until), Self.limit(filter.limit),
                    .optional(filter.prefix.map(storable)),
                ])
            return try rows.map(Self.readEffect)
        }
    }

    // MARK: Reading

    /// The values of the conditions on runs; nil when they name a customer whom nobody knows.
    static func values(
        of filter: RunFilter, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> [PostgresValue]? {
        var customer: Int64?
        if let id = filter.customer {
            let environment = filter.environment ?? "production"
            customer = try await Self.customer(id, environment, filter.app, tx)
            if customer == nil { return nil }
        }
        return [
            .optional(customer), .optional(filter.workflow),
            filter.version.map { .int4(Int32(clamping: $0)) } ?? .null,
            .optional(filter.status), .optional(filter.environment), .optional(filter.key),
            .optional(filter.step), .optional(filter.since), .optional(filter.until),
            .optional(filter.error), .optional(filter.connector), .optional(filter.event),
        ]
    }

    func look<Value>(_ body: (PostgresTransaction) async throws -> Value) async throws -> Value {
        try await pool.withTransaction { tx in
            _ = try await tx.query(Self.readingOnly, [])
            return try await body(tx)
        }
    }

    static func limit(_ wanted: Int) -> PostgresValue {
        .int4(Int32(min(max(wanted, 1), listLimit)))
    }

    /// The record that an external id stands for, forwarding followed.
    static func customer(
        _ id: String, _ environment: String, _ app: String?, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> Int64? {
        let rows = try await tx.query(
            findingCustomer,
            [.text(storable(environment)), .text(storable(app ?? "")), .text(storable(id))])
        return try rows.first?.int64("customer")
    }

    static func readSummary(_ row: PostgresRow) throws(PostgresError) -> RunSummary {
        RunSummary(
            id: RunID(try row.string("id")), customer: CustomerID(try row.int64("customer")),
            workflow: WorkflowID(try row.string("workflow")),
            version: Int(try row.int32("version")), key: try row.stringOrNil("key"),
            environment: try row.string("environment"), status: try row.string("status"),
            reason: try row.stringOrNil("reason"), step: try row.stringOrNil("step"),
            enteredAt: try row.instant("entered_at"), endedAt: try row.instantOrNil("ended_at"),
            wakeAt: try row.instantOrNil("wake_at"),
            attemptAt: try row.instantOrNil("attempt_at"))
    }

    static func readStanding(_ row: PostgresRow) throws(PostgresError) -> CustomerStanding {
        var standing = CustomerStanding(
            unreadInputs: Int(try row.int64("unread")),
            oldestUnread: try row.instantOrNil("oldest_unread"),
            inputsAhead: Int(try row.int64("ahead")),
            timerDue: try row.instantOrNil("timer_due"), setAside: nil)
        if let since = try row.instantOrNil("aside_since") {
            standing.setAside = CustomerStanding.SetAside(
                since: since, attempts: Int(try row.int32("aside_attempts")),
                error: try row.string("aside_error"),
                retryAt: try row.instantOrNil("aside_retry_at"))
        }
        return standing
    }

    static func readEffect(_ row: PostgresRow) throws -> EffectView {
        let invocation = try row.string("invocation")
        let result = try row.jsonOrNil("result")
        return EffectView(
            invocation: InvocationID(invocation), customer: CustomerID(try row.int64("customer")),
            run: RunID(try row.string("run")), step: StepID(try row.string("step")),
            attemptGroup: Int(try row.int32("attempt_group")), tool: try row.string("tool"),
            account: try row.stringOrNil("account"), status: try row.string("status"),
            reason: try row.stringOrNil("reason"), attempts: Int(try row.int32("attempts")),
            requestedAt: try row.instant("requested_at"), deadline: try row.instant("deadline"),
            endedAt: try row.instantOrNil("ended_at"), dueAt: try row.instantOrNil("due_at"),
            leaseUntil: try row.instantOrNil("lease_until"),
            result: try result.map {
                .object(try readObject($0, "result of effect \(invocation)"))
            }, notBefore: try row.instantOrNil("not_before"),
            window: try row.jsonOrNil("send_window").flatMap {
                AttemptWindow(json: try readObject($0, "window of effect \(invocation)"))
            }, discarded: try row.int64OrNil("discarded"))
    }
}
