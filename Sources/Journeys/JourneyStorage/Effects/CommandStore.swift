package import JSON
package import JourneyModel
package import Postgres
package import TimeZones

/// Takes operators' commands in: as inputs of the customers' turns, which decide them (S1). Every call that
/// changes something is one row of `audit`, in the same transaction.
package struct CommandStore: Sendable {
    /// What may be asked of a run.
    package enum Verb: String, Sendable, Hashable, CaseIterable {
        /// Ends a live run.
        case cancel
        /// Has a run that failed at an effect wait for it again, and the effect attempted again.
        case retry
    }

    /// One run, and for ``Verb/retry`` its effect.
    package struct Target: Sendable, Hashable {
        package var customer: CustomerID
        package var run: RunID
        package var invocation: InvocationID?

        package init(customer: CustomerID, run: RunID, invocation: InvocationID? = nil) {
            self.customer = customer
            self.run = run
            self.invocation = invocation
        }
    }

    /// Who does something, and why.
    package struct Request: Sendable, Hashable {
        package var who: String
        package var verb: String
        package var reason: String
        /// The selection as written, and how many it was.
        package var detail: JSONObject

        package init(who: String, verb: String, reason: String, detail: JSONObject) {
            self.who = who
            self.verb = verb
            self.reason = reason
            self.detail = detail
        }
    }

    /// What a turn made of a command.
    package struct Outcome: Sendable, Hashable {
        package var run: RunID
        package var at: Instant
        /// `done` or `refused`.
        package var word: String
        /// Why it was refused.
        package var sentence: String?
    }

    /// Objects that one call takes.
    package static let batchLimit = 10_000

    let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Stores one command for each target.
    ///
    /// - Returns: the audit's number, under which ``outcomes(of:)`` tells what became of them.
    package func issue(
        _ verb: Verb, _ targets: [Target], _ request: Request
    ) async throws -> Int64 {
        precondition(targets.count <= Self.batchLimit, "more than \(Self.batchLimit) commands")
        let sorted = targets.sorted { ($0.customer, $0.run) < ($1.customer, $1.run) }
        return try await pool.withTransaction { tx in
            let audit = try await Self.record(request, tx)
            _ = try await tx.query(
                Self.issuing,
                [
                    .int8(audit), .text(verb.rawValue), .text(storable(request.reason)),
                    .int8Array(sorted.map(\.customer.number)), .textArray(sorted.map(\.run.text)),
                    .textArray(sorted.map { $0.invocation?.text }),
                ])
            return audit
        }
    }

    /// A run that a source may speak of: one of its environment and app.
    ///
    /// - Returns: the run's target and its status; nil when there is none.
    package func target(
        _ run: RunID, environment: String, app: String?
    ) async throws(PostgresError) -> (target: Target, status: String)? {
        let rows = try await pool.query(
            Self.finding,
            [.text(storable(run.text)), .text(storable(environment)), .text(storable(app ?? ""))])
        guard let row = rows.first else { return nil }
        let target = Target(customer: CustomerID(try row.int64("customer")), run: run)
        return (target, try row.string("status"))
    }

    /// What became of the commands of one call so far, by run.
    package func outcomes(of audit: Int64) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for row in try await pool.query(Self.readingOutcomes, [.int8(audit)]) {
            outcomes.append(
                Outcome(
                    run: RunID(try row.string("run")), at: try row.instant("at"),
                    word: try row.string("outcome"), sentence: try row.stringOrNil("sentence")))
        }
        return outcomes
    }

    /// Settles effects by hand: they are listed as dead no more. Those that came to life again meanwhile
    /// are left alone.
    ///
    /// - Returns: the audit's number, and how many were settled.
    package func discard(
        _ invocations: [InvocationID], _ request: Request
    ) async throws -> (audit: Int64, count: Int) {
        try await pool.withTransaction { tx in
            let audit = try await Self.record(request, tx)
            let rows = try await tx.query(
                Self.discarding,
                [.int8(audit), .textArray(invocations.sorted().map(\.text))])
            return (audit, Int(try rows.only().int64("count")))
        }
    }

    /// Has run events that were given up told again, for three days from now. No run waits for them, so no
    /// turn is asked.
    ///
    /// - Returns: the audit's number, and how many wait for an attempt again.
    package func tellAgain(
        _ invocations: [InvocationID], _ request: Request
    ) async throws -> (audit: Int64, count: Int) {
        try await pool.withTransaction { tx in
            let audit = try await Self.record(request, tx)
            let rows = try await tx.query(
                Self.tellingAgain, [.textArray(invocations.sorted().map(\.text))])
            return (audit, Int(try rows.only().int64("count")))
        }
    }

    /// Has stuck customers' turns tried again, from the beginning.
    ///
    /// - Returns: the audit's number, and how many were set free.
    package func free(
        _ customers: [CustomerID], _ request: Request
    ) async throws -> (audit: Int64, count: Int) {
        try await pool.withTransaction { tx in
            let audit = try await Self.record(request, tx)
            let rows = try await tx.query(
                Self.freeing, [.int8Array(customers.sorted().map(\.number))])
            return (audit, Int(try rows.only().int64("count")))
        }
    }

    /// Notes a change that is made by other statements, before the first of them.
    package func note(_ request: Request) async throws -> Int64 {
        try await pool.withTransaction { tx in try await Self.record(request, tx) }
    }

    static func record(
        _ request: Request, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> Int64 {
        try await tx.query(
            auditing,
            [
                .text(storable(request.who)), .text(storable(request.verb)),
                .text(storable(request.reason)), .text(JSONValue.object(request.detail).text),
            ]
        ).only().int64("id")
    }

    static let finding = SQLStatement(
        "command_find",
        """
        select r.customer, r.status
        from journey.runs r
        join journey.customers c on c.id = r.customer
        where r.id = $1 and c.environment = $2 and coalesce(c.app, '') = $3
        """)

    static let auditing = SQLStatement(
        "command_audit",
        """
        insert into journey.audit (who, verb, reason, detail) values ($1, $2, $3, $4::json)
        returning id
        """)

    /// Inputs of whom the customers are now; a turn that finds one at a merged record moves it on.
    static let issuing = SQLStatement(
        "command_issue",
        """
        insert into journey.inbox (customer, kind, payload, environment, app, routed_at)
        select c.id, 'command',
            json_build_object(
                'command', $2::text, 'audit', $1::bigint, 'reason', $3::text, 'run', t.run, 'invocation', t.invocation),
            c.environment, c.app, date_trunc('milliseconds', clock_timestamp())
        from unnest($4::bigint[], $5::text[], $6::text[]) t (customer, run, invocation)
        join journey.customers m on m.id = t.customer
        join journey.customers c on c.id = coalesce(m.forwards_to, m.id)
        order by c.id, t.run
        """)

    static let readingOutcomes = SQLStatement(
        "command_outcomes",
        """
        select run, at, outcome, sentence from journey.command_outcomes
        where audit = $1
        order by run
        """)

    /// Lock order: invocation.
    static let discarding = SQLStatement(
        "command_discard",
        """
        with dead as materialized (
            select e.customer, e.invocation
            from journey.effects e
            where e.invocation = any ($2::text[]) and e.discarded is null
                and e.status in ('failed', 'timed_out', 'expired', 'unknown')
            order by e.invocation
            for no key update of e
        ), settled as (
            update journey.effects e
            set discarded = $1
            from dead d
            where e.customer = d.customer and e.invocation = d.invocation
            returning 1
        )
        select count(*) from settled
        """)

    /// Lock order: (customer, invocation).
    static let tellingAgain = SQLStatement(
        "command_tell_again",
        """
        with dead as materialized (
            select e.customer, e.invocation
            from journey.effects e
            where e.invocation = any ($1::text[]) and e.account = '$outbound'
                and e.status in ('failed', 'timed_out', 'expired', 'unknown')
            order by e.customer, e.invocation
            for no key update of e
        ), living as (
            update journey.effects e
            set status = 'pending', reason = null, result = null, ended_at = null, discarded = null,
                retries = e.retries + 1,
                deadline = date_trunc('milliseconds', clock_timestamp()) + interval '3 days'
            from dead d
            where e.customer = d.customer and e.invocation = d.invocation
            returning e.*
        ), queued as (
            insert into journey.effect_queue (
                customer, invocation, run, tool, account, due_at, deadline, attempt_timeout_ms, fence,
                attempts, attempts_before
            )
            select customer, invocation, run, tool, account, clock_timestamp(), deadline,
                attempt_timeout_ms, fence, attempts, attempts
            from living
            returning 1
        )
        select count(*) from queued
        """)

    /// Lock order: customer.
    static let freeing = SQLStatement(
        "command_free",
        """
        with stuck as materialized (
            select s.customer
            from journey.set_aside s
            where s.customer = any ($1::bigint[])
            order by s.customer
            for update of s
        ), freed as (
            update journey.set_aside s
            set attempts = 0, retry_at = date_trunc('milliseconds', clock_timestamp())
            from stuck t
            where s.customer = t.customer
            returning 1
        )
        select count(*) from freed
        """)
}
