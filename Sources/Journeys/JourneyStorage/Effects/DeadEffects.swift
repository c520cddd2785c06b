internal import JourneyEngine
package import JourneyModel
internal import Postgres
package import TimeZones

/// Which dead effects to list; every condition that is set must hold.
package struct DeadFilter: Sendable, Hashable {
    /// Only those of which nobody knows whether they arrived.
    package var isAmbiguous = false
    package var invocations: [String]?
    package var run: RunID?
    package var customer: String?
    package var environment: String?
    package var app: String?
    package var workflow: String?
    package var step: String?
    package var status: String?
    package var error: String?
    /// Ended at or after, and before.
    package var since: Instant?
    package var until: Instant?
    /// 1 to 10,000.
    package var limit = 100

    package init() {}
}

/// An effect that ended without success and that nobody has settled: its run failed with it, or it is not
/// known whether it arrived.
package struct DeadEffect: Sendable, Hashable {
    package var invocation: InvocationID
    package var customer: CustomerID
    package var run: RunID
    package var workflow: WorkflowID
    package var step: StepID
    package var tool: String
    package var account: String?
    package var status: String
    /// The error's word, such as `http_500`.
    package var error: String?
    package var attempts: Int
    package var endedAt: Instant?
    /// Whether its run failed with it, or nothing waits for it (`outbound`): it can be attempted again.
    package var isRepairable: Bool
}

/// A customer whose turns are tried no more.
package struct StuckCustomer: Sendable, Hashable {
    package var customer: CustomerID
    package var environment: String
    package var since: Instant
    package var attempts: Int
    package var error: String
}

extension LookStore {
    /// Dead effects, the newest end first.
    package func dead(_ filter: DeadFilter) async throws -> [DeadEffect] {
        try await look { tx in
            var customer: Int64?
            if let id = filter.customer {
                let environment = filter.environment ?? "production"
                customer = try await Self.customer(id, environment, filter.app, tx)
                if customer == nil { return [] }
            }
            let rows = try await tx.query(
                Self.listingDead,
                [
                    .optional(customer), .optional(filter.run?.text), .optional(filter.workflow),
                    .optional(filter.step), .optional(filter.status), .optional(filter.error),
                    .optional(filter.environment), .optional(filter.since), .optional(filter.until),
                    .bool(filter.isAmbiguous), filter.invocations.map { .textArray($0) } ?? .null,
                    .int4(Int32(min(max(filter.limit, 1), CommandStore.batchLimit))),
                ])
            var found: [DeadEffect] = []
            for row in rows {
                found.append(
                    DeadEffect(
                        invocation: InvocationID(try row.string("invocation")),
                        customer: CustomerID(try row.int64("customer")),
                        run: RunID(try row.string("run")),
                        workflow: WorkflowID(try row.string("workflow")),
                        step: StepID(try row.string("step")), tool: try row.string("tool"),
                        account: try row.stringOrNil("account"), status: try row.string("status"),
                        error: try row.stringOrNil("error"),
                        attempts: Int(try row.int32("attempts")),
                        endedAt: try row.instantOrNil("ended_at"),
                        isRepairable: try row.bool("is_repairable")))
            }
            return found
        }
    }

    /// Stuck customers, the longest stuck first.
    package func stuck(
        customer id: String?, environment: String?, app: String?, limit: Int
    ) async throws -> [StuckCustomer] {
        try await look { tx in
            var customer: Int64?
            if let id {
                customer = try await Self.customer(id, environment ?? "production", app, tx)
                if customer == nil { return [] }
            }
            var found: [StuckCustomer] = []
            let rows = try await tx.query(
                Self.listingStuck,
                [
                    .optional(customer), .optional(environment),
                    .int4(Int32(min(max(limit, 1), CommandStore.batchLimit))),
                ])
            for row in rows {
                found.append(
                    StuckCustomer(
                        customer: CustomerID(try row.int64("customer")),
                        environment: try row.string("environment"), since: try row.instant("since"),
                        attempts: Int(try row.int32("attempts")), error: try row.string("error")))
            }
            return found
        }
    }

    /// How many connections of workers that hold effects back there are.
    package func holdingConnections() async throws -> Int {
        try await look { tx in
            let rows = try await tx.query(
                Self.countingHolding, [.text(JourneySchema.holdingName)])
            return Int(try rows.only().int64("count"))
        }
    }

    static let listingDead = SQLStatement(
        "look_dead",
        """
        select e.invocation, e.customer, e.run, r.workflow, e.step, e.tool, e.account, e.status,
            e.result ->> 'error' as error, e.attempts - e.lost as attempts, e.ended_at,
            r.status = 'failed' and not exists (
                select from journey.effects l
                where l.customer = e.customer and l.run = e.run and l.requested_at > e.requested_at
                    and l.account is distinct from '$outbound'
            ) or e.account = '$outbound' as is_repairable
        from journey.effects e
        join journey.runs r on r.customer = e.customer and r.id = e.run
        where e.status in ('failed', 'timed_out', 'expired', 'unknown') and e.discarded is null
            and (
                e.status = 'unknown' or not $10 and e.account = '$outbound'
                or not $10 and r.status = 'failed' and not exists (
                    select from journey.effects l
                    where l.customer = e.customer and l.run = e.run
                        and l.requested_at > e.requested_at
                        and l.account is distinct from '$outbound'
                )
            )
            and ($1::bigint is null or e.customer = $1)
            and ($2::text is null or e.run = $2)
            and ($3::text is null or r.workflow = $3)
            and ($4::text is null or e.step = $4)
            and ($5::text is null or e.status = $5)
            and ($6::text is null or e.result ->> 'error' = $6)
            and ($7::text is null or r.environment = $7)
            and ($8::timestamptz is null or e.ended_at >= $8)
            and ($9::timestamptz is null or e.ended_at < $9)
            and ($11::text[] is null or e.invocation = any ($11))
        order by e.ended_at desc, e.invocation
        limit $12
        """)

    static let listingStuck = SQLStatement(
        "look_stuck",
        """
        select s.customer, c.environment, s.since, s.attempts, s.error
        from journey.set_aside s
        join journey.customers c on c.id = s.customer
        where s.retry_at is null and ($1::bigint is null or s.customer = $1)
            and ($2::text is null or c.environment = $2)
        order by s.since, s.customer
        limit $3
        """)

    static let countingHolding = SQLStatement(
        "look_holding",
        """
        select count(*) from pg_stat_activity
        where datname = current_database() and application_name = $1
        """)
}
