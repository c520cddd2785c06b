internal import FailPoints
internal import JSON
internal import JourneyEngine
internal import JourneyModel
package import JourneyTurns
package import Postgres
internal import TimeZones

/// Carries transfers out: a turn over both records, in a transaction of its own (S10).
///
/// The subscriptions move and the giver's runs end in one transaction with the two events that tell both of
/// it. A transfer is carried out again when facts come that happened before it; only the first time is told.
package struct TransferStore: Sendable {
    /// Decides what moves; pure.
    package typealias Decide =
        @Sendable (RecordTransfer, DefinitionSet) throws -> (
            giver: TurnResult, receiver: TurnResult, moved: Int
        )

    /// What one call did.
    package struct Report: Sendable, Hashable {
        package var carriedOut = 0
        package var busy = 0
        /// Transfers that are put off for a minute, with the sentence that says why.
        package var failed: [String: String] = [:]

        package init() {}
    }

    private let pool: PostgresPool
    private let definitions: DefinitionCache
    private let features: FeatureDoor?

    package init(
        pool: PostgresPool, definitions: DefinitionCache, features: FeatureDoor? = nil
    ) {
        self.pool = pool
        self.definitions = definitions
        self.features = features
    }

    /// Carries out up to `limit` due transfers, the earliest to have happened first.
    package func carryOut(limit: Int, decide: Decide) async throws -> Report {
        var report = Report()
        let due = try await pool.query(Self.listingDue, [.int4(Int32(clamping: limit))])
        for row in due {
            let event = try row.string("event")
            do {
                let isDone = try await pool.withTransaction { tx in
                    try await attempt(event, decide, tx)
                }
                if isDone { report.carriedOut += 1 } else { report.busy += 1 }
            } catch let error as PostgresError where error.isRetryable {
                report.busy += 1
            } catch let error as PostgresError where error.kind != .server {
                throw error
            } catch {
                report.failed[event] = String(describing: error)
                _ = try await pool.query(Self.puttingOff, [.text(event)])
            }
        }
        return report
    }

    /// False when one of the records, or the transfer, is another session's.
    private func attempt(
        _ event: String, _ decide: Decide, _ tx: PostgresTransaction
    ) async throws -> Bool {
        guard let row = try await tx.query(Self.reading, [.text(event)]).first else { return false }
        let giver = CustomerID(try row.int64("giver"))
        let receiver = CustomerID(try row.int64("receiver"))
        let told = try readEvent(try row.json("payload"))
        let isTold = try row.bool("is_told")
        let ids = Set([giver, receiver]).sorted()
        let (claimed, revision) = try await TurnStore.claim(.these(ids), tx)
        guard claimed == ids else { return false }
        let (batch, set) = try await TurnStore.load(
            ids, revision: revision, definitions, tx, features: features, takesInputs: false)
        if let sentence = batch.unreadable.values.first { throw Unserved(sentence: sentence) }
        guard batch.forwards.isEmpty else { return false }
        var statements: [(SQLStatement, [PostgresValue])] = []
        var moved = 0
        if try row.bool("moves"), giver != receiver,
            let giving = batch.turns.first(where: { $0.customer.id == giver }),
            let receiving = batch.turns.first(where: { $0.customer.id == receiver })
        {
            let transfer = RecordTransfer(giver: giving, receiver: receiving, event: told)
            let results = try decide(transfer, set)
            moved = results.moved
            if moved > 0 {
                statements =
                    BatchWriter([results.giver, results.receiver], of: batch, set).statements
            }
        }
        failPoint("transfer.decided")
        var events = [(receiver, told.forReceiver)]
        if giver != receiver { events.append((giver, told.forGiver)) }
        if isTold { events = [] }
        statements.append(
            (
                Self.settling,
                [
                    .text(event), .int8Array(events.map(\.0.number)),
                    .textArray(events.map { JSONValue.object($0.1.json).text }),
                    .optional(moved > 0 ? receiver.number : nil),
                ]
            ))
        _ = try await tx.pipelineAndCommit(statements)
        return true
    }

    static let listingDue = SQLStatement(
        "transfer_list_due",
        """
        select t.event
        from journey.transfers t
        where t.due_at <= now()
        order by t.occurred_at, t.event
        limit $1
        """)

    /// Lock order: one transfer, never waiting; then the customers in id order, never waiting.
    static let reading = SQLStatement(
        "transfer_read",
        """
        select t.payload, t.moves, t.told_at is not null as is_told,
            (
                select coalesce(c.forwards_to, c.id) from journey.customers c where c.id = t.giver
            ) as giver,
            (
                select coalesce(c.forwards_to, c.id) from journey.customers c
                where c.id = t.receiver
            ) as receiver
        from journey.transfers t
        where t.event = $1 and t.due_at is not null and t.giver is not null
        for update of t skip locked
        """)

    /// What went to the receiver goes on with what they gave away later.
    static let settling = SQLStatement(
        "transfer_settle",
        """
        with clock as materialized (
            select date_trunc('milliseconds', clock_timestamp()) as now
        ), settled as (
            update journey.transfers t
            set due_at = null, told_at = coalesce(t.told_at, k.now)
            from clock k
            where t.event = $1
        ), onward as (
            update journey.transfers o
            set due_at = k.now
            from journey.transfers t, clock k
            where t.event = $1 and o.event <> t.event and o.giver = $4::bigint
                and o.connector = t.connector and o.occurred_at >= t.occurred_at
                and o.told_at is not null
        )
        insert into journey.inbox (
            customer, kind, payload, environment, app, occurred_at, routed_at
        )
        select c.id, 'event', n.payload::json, c.environment, c.app, t.occurred_at, k.now
        from unnest($2::bigint[], $3::text[]) n (customer, payload)
        join journey.customers c on c.id = n.customer
        join journey.transfers t on t.event = $1
        cross join clock k
        """)

    static let puttingOff = SQLStatement(
        "transfer_put_off",
        """
        update journey.transfers t set due_at = now() + interval '1 minute' where t.event = $1
        """)
}
