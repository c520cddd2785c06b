internal import JSON
internal import JourneyEngine
internal import JourneyModel
package import Postgres
internal import TimeZones
internal import WorkflowDefinitions

/// Leases effects to dispatchers and takes in how their attempts went (S13).
package struct EffectStore: Sendable {
    private let pool: PostgresPool

    /// Leases that one call gives out.
    package static let batchLimit = 256
    /// How much longer than its attempt a lease lasts.
    package static let leaseMargin = Duration.seconds(30)
    /// How often one call looks again when what it locked gave no lease.
    private static let leaseRounds = 8
    /// Batches that one call of ``expireUnserved()`` ends.
    private static let expiryRounds = 100

    package init(pool: PostgresPool) { self.pool = pool }

    /// Leases due effects, the oldest of each account first.
    ///
    /// An effect is leased only while its run is live, its customer has no unread input, and its deadline
    /// lies ahead (S12). One past its deadline ends `expired` (`unknown` when its last lease ran out) and
    /// wakes its run; one whose run has ended is withdrawn; one whose customer has unread input is put off
    /// for a moment. One whose stored request cannot be read ends `failed` with the word `unreadable`.
    ///
    /// - Returns: nothing only when nothing is due, or eight rounds of due effects gave no lease.
    package func lease(_ capacities: [EffectCapacity]) async throws -> [LeasedEffect] {
        let wanted = capacities.filter { $0.free > 0 }
        if wanted.isEmpty { return [] }
        let values: [PostgresValue] = [
            .textArray(wanted.map(\.tool)), .textArray(wanted.map { $0.account ?? "" }),
            .int4Array(wanted.map { Int32(clamping: $0.free) }), .int4(Int32(Self.batchLimit)),
        ]
        for _ in 0..<Self.leaseRounds {
            let round = try await lease(Self.locking, values)
            if !round.leases.isEmpty || round.locked == 0 { return round.leases }
            // All of them ended or were put off: what is due behind them must not wait for a poll.
        }
        return []
    }

    /// Ends effects past their deadline that no dispatcher serves any more, such as those of an account
    /// that was taken out of the configuration, so that their runs go on. For once a minute.
    package func expireUnserved() async throws {
        for _ in 0..<Self.expiryRounds {
            let round = try await lease(Self.lockingOverdue, [.int4(Int32(Self.batchLimit))])
            if round.locked < Self.batchLimit { return }
        }
    }

    /// Effects that wait for an account that none of these capacities serves, by account: what a wrong or
    /// old configuration leaves standing.
    package func unserved(
        by capacities: [EffectCapacity]
    ) async throws(PostgresError) -> [(tool: String, account: String, count: Int)] {
        let rows = try await pool.query(
            Self.countingUnserved,
            [
                .textArray(capacities.map(\.tool)),
                .textArray(capacities.map { $0.account ?? "" }),
            ])
        var found: [(tool: String, account: String, count: Int)] = []
        for row in rows {
            found.append(
                (
                    try row.string("tool"), try row.string("account"),
                    Int(try row.int64("waiting"))
                ))
        }
        return found
    }

    private static let countingUnserved = SQLStatement(
        "effect_count_unserved",
        """
        select q.tool, q.account, count(*) as waiting
        from journey.effect_queue q
        where not exists (
            select from unnest($1::text[], $2::text[]) k (tool, account)
            where k.tool = q.tool and k.account = q.account
        )
        group by q.tool, q.account
        order by q.tool, q.account
        limit 20
        """)

    /// What one locking statement gave.
    private struct Round {
        var leases: [LeasedEffect] = []
        var locked = 0
    }

    private func lease(_ lock: SQLStatement, _ values: [PostgresValue]) async throws -> Round {
        let (rows, locked) = try await leaseRows(lock, values)
        var round = Round(locked: locked)
        guard let rows else { return round }
        var unreadable: [Attempted] = []
        for row in rows {
            let held = try Attempted.Held(row)
            do {
                round.leases.append(try Self.read(row))
            } catch {
                unreadable.append(.unreadable(held, String(describing: error)))
            }
        }
        _ = try await finish(unreadable)
        return round
    }

    private func leaseRows(
        _ lock: SQLStatement, _ values: [PostgresValue]
    ) async throws -> (rows: PostgresRows?, locked: Int) {
        try await pool.withTransaction(retries: 3) { tx in
            let locked = try await tx.query(lock, values)
            if locked.isEmpty { return (nil, 0) }
            var customers: [Int64] = []
            var invocations: [String] = []
            for row in locked {
                customers.append(try row.int64("customer"))
                invocations.append(try row.string("invocation"))
            }
            // A later statement than the one that locked: it sees what others committed before.
            let rows = try await tx.pipelineAndCommit([
                (
                    Self.leasing,
                    [
                        .int8Array(customers), .textArray(invocations),
                        .int8(Self.leaseMargin.wholeMilliseconds),
                        .text(JSONValue.object(EffectOutcome.expired.json).text),
                        .text(JSONValue.object(EffectOutcome.unknown.json).text),
                    ]
                )
            ])[0]
            return (rows, locked.count)
        }
    }

    /// Takes in how attempts went. An attempt whose lease was given to another dispatcher meanwhile
    /// changes nothing.
    /// - Returns: for each attempt, in order, whether it still held its lease.
    package func finish(
        _ attempts: [FinishedAttempt]
    ) async throws -> [Bool] {
        precondition(attempts.count <= Self.batchLimit, "more than \(Self.batchLimit) attempts")
        return try await finish(attempts.map(Attempted.init))
    }

    private func finish(_ attempts: [Attempted]) async throws -> [Bool] {
        if attempts.isEmpty { return [] }
        let values = Self.values(of: attempts)
        return try await pool.withTransaction(retries: 3) { tx in
            let rows = try await tx.pipelineAndCommit([(Self.finishing, values)])[0]
            var held: [Bool] = []
            for row in rows { held.append(try row.bool("is_held")) }
            return held
        }
    }

    /// Puts effects back that were leased and not started, as at shutdown; the attempt does not count.
    package func handBack(_ leases: [LeasedEffect]) async throws {
        if leases.isEmpty { return }
        _ = try await pool.query(
            Self.handingBack,
            [
                .int8Array(leases.map(\.customer.number)),
                .textArray(leases.map(\.request.invocation.text)),
                .int8Array(leases.map(\.fence)), .timestamptzArray(leases.map(\.startedAt)),
            ])
    }

    private static func values(of attempts: [Attempted]) -> [PostgresValue] {
        var pauses: [Int64?] = []
        var statuses: [String?] = []
        var results: [String?] = []
        for attempt in attempts {
            switch attempt.next {
            case .retry(let pause):
                pauses.append(max(0, pause.wholeMilliseconds))
                statuses.append(nil)
                results.append(nil)
            case .end(let outcome):
                pauses.append(nil)
                statuses.append(outcome.word)
                results.append(JSONValue.object(outcome.json).text)
            }
        }
        return [
            .int8Array(attempts.map(\.held.customer)), .textArray(attempts.map(\.held.invocation)),
            .int8Array(attempts.map(\.held.fence)),
            .timestamptzArray(attempts.map(\.held.startedAt)),
            .textArray(attempts.map { storable($0.outcome) }),
            .boolArray(attempts.map(\.isAmbiguous)),
            .byteaArray(attempts.map { Array($0.excerpt.prefix(FinishedAttempt.excerptLimit)) }),
            .int8Array(pauses), .textArray(statuses), .textArray(results),
        ]
    }

    private static func read(_ row: PostgresRow) throws -> LeasedEffect {
        let invocation = try row.string("invocation")
        let what = "effect \(invocation)"
        guard let tool = ActionStep.Tool(rawValue: try row.string("tool")),
            let retry = RetryPolicy(stored: try readObject(try row.json("retry"), what))
        else { throw StoredRowError(what: what, fact: "its tool or retry policy has another form") }
        let request = EffectRequest(
            invocation: InvocationID(invocation), run: RunID(try row.string("run")),
            step: StepID(try row.string("step")),
            attemptGroup: Int(try row.int32("attempt_group")), tool: tool,
            account: try row.stringOrNil("account"),
            request: try readObject(try row.json("request"), what),
            requestedAt: try row.instant("requested_at"), deadline: try row.instant("deadline"),
            attemptTimeout: .milliseconds(try row.int64("attempt_timeout_ms")), retry: retry)
        return LeasedEffect(
            customer: CustomerID(try row.int64("customer")),
            workflow: WorkflowID(try row.string("workflow")),
            environment: try row.string("environment"), request: request,
            attempt: Int(try row.int32("attempts")), fence: try row.int64("fence"),
            startedAt: try row.instant("started_at"), leaseUntil: try row.instant("lease_until"),
            wasAmbiguous: try row.bool("was_ambiguous"))
    }
}
