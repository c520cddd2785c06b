internal import JSON
internal import JourneyEngine
package import JourneyModel
package import JourneyTurns
package import Postgres

/// Puts in what somebody asks for by name: runs that are to start (S4).
package struct StartStore: Sendable {
    /// What became of the wish. A queued start is decided in the customer's next turn, by the entry's
    /// filters and rules, and counted if they keep it out.
    package enum Outcome: Sendable, Hashable {
        /// The input's number.
        case queued(Int64)
        /// A run of the workflow with that key is live.
        case slotTaken(RunID)
        /// The same cause started this run before.
        case startedBefore(RunID)
        case unknownCustomer
    }

    /// Who asks and why, for the audit log; a program that asks for itself needs neither.
    package struct Audit: Sendable, Hashable {
        package var who: String
        package var reason: String

        package init(who: String, reason: String) {
            self.who = who
            self.reason = reason
        }
    }

    let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Asks for a run of one customer.
    ///
    /// - Parameters:
    ///   - externalID: an id that the customer is known by.
    ///   - allowsAnother: whether a live run with the same key is no reason to refuse, as with `when_live`
    ///     `restart` or `start_another`.
    package func start(
        _ start: StartInput, externalID: String, environment: String, app: String? = nil,
        allowsAnother: Bool = false, audit: Audit? = nil
    ) async throws(PostgresError) -> Outcome {
        let rows = try await pool.query(
            Self.starting,
            [
                .text(storable(environment)), .text(storable(app ?? "")),
                .text(storable(externalID)), .text(start.request.workflow.text),
                .optional(start.request.key.map(storable)), .text(storable(start.request.cause)),
                .bool(allowsAnother || start.supersedes),
                .text(JSONValue.object(start.json).text), .optional(audit.map { storable($0.who) }),
                .optional(audit.map { storable($0.reason) }),
            ])
        guard let row = rows.first else { return .unknownCustomer }
        if let run = try row.stringOrNil("earlier") { return .startedBefore(RunID(run)) }
        if let run = try row.stringOrNil("live") { return .slotTaken(RunID(run)) }
        return .queued(try row.int64("sequence"))
    }

    static let starting = SQLStatement(
        "start_one",
        """
        with asked as materialized (
            select c.id, c.environment, c.app,
                (
                    select r.id from journey.runs r
                    where r.customer = c.id and r.cause = $6::text and r.workflow = $4::text
                        and r.rerun = 0
                    limit 1
                ) as earlier,
                (
                    select r.id from journey.runs r
                    where r.customer = c.id and r.workflow = $4
                        and coalesce(r.key, '') = coalesce($5::text, '') and r.ended_at is null
                        and not $7
                    limit 1
                ) as live
            from journey.customer_ids i
            join journey.customers o on o.id = i.customer
            join journey.customers c on c.id = coalesce(o.forwards_to, o.id)
            where i.environment = $1 and i.app = $2 and i.external_id = $3
        ), queued as (
            insert into journey.inbox (customer, kind, payload, environment, app, routed_at)
            select a.id, 'start', $8::json, a.environment, a.app,
                date_trunc('milliseconds', clock_timestamp())
            from asked a
            where a.earlier is null and a.live is null
            returning sequence
        ), told as (
            insert into journey.audit (who, verb, reason, detail)
            select $9, 'start', $10,
                json_build_object('workflow', $4, 'customer', a.id, 'cause', $6, 'input', q.sequence)
            from asked a
            cross join queued q
            where $9::text is not null
        )
        select a.earlier, a.live, q.sequence
        from asked a
        left join queued q on true
        """)
}
