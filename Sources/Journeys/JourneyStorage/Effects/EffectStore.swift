package import JSON
internal import JourneyEngine
internal import JourneyModel
package import Postgres
package import TimeZones
internal import WorkflowDefinitions

/// Leases effects to dispatchers and takes in how their attempts went (S13).
package struct EffectStore: Sendable {
    let pool: PostgresPool
    /// When a window opens that an effect's attempts keep to.
    private let opening: WindowOpening

    /// Says when a stored window opens, at `now` or later; nil where it is open.
    package typealias WindowOpening = @Sendable (_ window: JSONObject, _ now: Instant) -> Instant?

    /// Leases that one call gives out.
    package static let batchLimit = 256
    /// How much longer than its attempt a lease lasts.
    package static let leaseMargin = Duration.seconds(30)
    /// How often one call looks again when what it locked gave no lease.
    private static let leaseRounds = 8
    /// Batches that one call of ``expireUnserved()`` ends.
    private static let expiryRounds = 100

    package init(pool: PostgresPool, opening: @escaping WindowOpening = { _, _ in nil }) {
        self.pool = pool
        self.opening = opening
    }

    /// Leases due effects, the oldest of each account first; see ``round(_:)``.
    package func lease(_ capacities: [EffectCapacity]) async throws -> [LeasedEffect] {
        try await round(capacities).leases
    }

    /// Leases due effects, the oldest of each account first.
    ///
    /// An effect is leased only while its run is live, its customer has no unread input, its window is
    /// open, and its deadline lies ahead (S12); and while its account's concurrency and rate allow it over
    /// all dispatchers. One past its deadline ends `expired` (`unknown` when its last lease ran out) and
    /// wakes its run; so does a message that the customer does not want or that is one too many, as
    /// `suppressed`. One whose run has ended is withdrawn; one whose customer has unread input is put off
    /// for a moment, one whose window is closed until it opens. One whose stored request cannot be read
    /// ends `failed` with the word `unreadable`.
    ///
    /// - Returns: no leases only when nothing is due or allowed, or eight rounds of due effects gave none.
    package func round(_ capacities: [EffectCapacity]) async throws -> LeaseRound {
        let wanted = capacities.filter { $0.free > 0 }
        var whole = LeaseRound()
        if wanted.isEmpty { return whole }
        for _ in 0..<Self.leaseRounds {
            let round = try await leaseRound(wanted)
            whole.add(round)
            if !round.leases.isEmpty || round.locked == 0 { return whole }
            // All of them ended or were put off: what is due behind them must not wait for a poll.
        }
        return whole
    }

    /// Ends effects past their deadline that no dispatcher serves any more, such as those of an account
    /// that was taken out of the configuration, so that their runs go on. For once a minute.
    package func expireUnserved() async throws {
        for _ in 0..<Self.expiryRounds {
            let round = try await leaseOverdue()
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

    // MARK: One round

    private func leaseRound(_ wanted: [EffectCapacity]) async throws -> LeaseRound {
        var room = Room()
        let rows = try await pool.withTransaction(retries: 3) { tx -> PostgresRows? in
            room = try await Self.room(wanted, tx)
            if room.capacities.isEmpty { return nil }
            let locked = try await tx.query(
                Self.locking,
                [
                    .textArray(room.capacities.map(\.tool)),
                    .textArray(room.capacities.map { $0.account ?? "" }),
                    .int4Array(room.capacities.map { Int32(clamping: $0.free) }),
                    .int4(Int32(Self.batchLimit)),
                ])
            return try await judge(locked, room.capacities, tx)
        }
        if !room.missing.isEmpty {
            try await make(room.missing)
            room.lookAgain(after: .zero)
        }
        var round = try await taken(rows)
        if let pause = room.lookAgainAfter { round.lookAgain(after: pause) }
        return round
    }

    private func leaseOverdue() async throws -> LeaseRound {
        let rows = try await pool.withTransaction(retries: 3) { tx in
            let locked = try await tx.query(
                Self.lockingOverdue, [.int4(Int32(Self.batchLimit))])
            return try await judge(locked, [], tx)
        }
        return try await taken(rows)
    }

    /// Judges locked rows in a later statement than the one that locked them: it sees what others
    /// committed before.
    private func judge(
        _ locked: PostgresRows, _ capacities: [EffectCapacity], _ tx: PostgresTransaction
    ) async throws -> PostgresRows? {
        if locked.isEmpty { return nil }
        var customers: [Int64] = []
        var invocations: [String] = []
        var openings: [Instant?] = []
        for row in locked {
            customers.append(try row.int64("customer"))
            invocations.append(try row.string("invocation"))
            let now = try row.instant("now")
            let window = try row.jsonOrNil("send_window").flatMap {
                try? readObject($0, "window of an effect")
            }
            openings.append(window.flatMap { opening($0, now) })
        }
        return try await tx.pipelineAndCommit([
            (
                Self.leasing,
                [
                    .int8Array(customers), .textArray(invocations), .timestamptzArray(openings),
                    .int8(Self.leaseMargin.wholeMilliseconds),
                    .text(JSONValue.object(EffectOutcome.expired.json).text),
                    .text(JSONValue.object(EffectOutcome.unknown.json).text),
                ] + Self.rules(of: capacities.filter { $0.limits != nil })
            )
        ])[0]
    }

    private static func rules(of capacities: [EffectCapacity]) -> [PostgresValue] {
        let messages = capacities.map(\.limits?.messages)
        return [
            .textArray(capacities.map(\.tool)), .textArray(capacities.map { $0.account ?? "" }),
            .int8Array(capacities.map(\.limits?.pace)), .int8Array(capacities.map(\.limits?.burst)),
            .textArray(messages.map { $0?.channel }),
            .int4Array(messages.map { $0?.cap.map { Int32(clamping: $0.messages) } }),
            .int8Array(messages.map { $0?.cap?.period.wholeMilliseconds }),
            .boolArray(capacities.map(\.limits?.isIdempotent)),
        ]
    }

    private func taken(_ rows: PostgresRows?) async throws -> LeaseRound {
        var round = LeaseRound()
        guard let rows else { return round }
        var unreadable: [Attempted] = []
        for row in rows {
            round.locked += 1
            let verdict = try row.string("verdict")
            guard verdict == "leased" else {
                if verdict == "put_off" { round.lookAgain(after: Self.unreadPause) }
                round.ended.append(
                    LeaseRound.Ended(
                        tool: try row.string("queue_tool"),
                        account: try row.string("queue_account"),
                        word: verdict, reason: try row.stringOrNil("reason")))
                continue
            }
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

    /// How soon an effect is looked at again whose customer had unread input.
    private static let unreadPause = Duration.milliseconds(200)

    /// Takes in how attempts went. An attempt whose lease was given to another dispatcher meanwhile
    /// changes nothing; what it said is kept with it.
    /// - Returns: for each attempt, in order, whether it still held its lease.
    package func finish(
        _ attempts: [FinishedAttempt]
    ) async throws -> [Bool] {
        precondition(attempts.count <= Self.batchLimit, "more than \(Self.batchLimit) attempts")
        return try await finish(attempts.map(Attempted.init))
    }

    private func finish(_ attempts: [Attempted]) async throws -> [Bool] {
        if attempts.isEmpty { return [] }
        var held = try await takeIn(attempts)
        // The customer's record may have been merged while the attempt was under way: its rows are the
        // survivor's then.
        let missed = held.indices.filter { !held[$0] }
        let survivors = try await survivors(of: missed.map { attempts[$0].held.customer })
        var again: [(place: Int, attempt: Attempted)] = []
        for place in missed {
            var attempt = attempts[place]
            guard let survivor = survivors[attempt.held.customer] else { continue }
            attempt.held.customer = survivor
            again.append((place, attempt))
        }
        if again.isEmpty { return held }
        for (one, isHeld) in zip(again, try await takeIn(again.map(\.attempt))) {
            held[one.place] = isHeld
        }
        return held
    }

    private func takeIn(_ attempts: [Attempted]) async throws -> [Bool] {
        let values = Self.values(of: attempts)
        return try await pool.withTransaction(retries: 3) { tx in
            let rows = try await tx.pipelineAndCommit([(Self.finishing, values)])[0]
            var held: [Bool] = []
            for row in rows { held.append(try row.bool("is_held")) }
            return held
        }
    }

    /// Into which records customers were merged; who was not has no entry.
    private func survivors(of customers: [Int64]) async throws -> [Int64: Int64] {
        if customers.isEmpty { return [:] }
        var survivors: [Int64: Int64] = [:]
        for row in try await pool.query(Self.followingForwards, [.int8Array(customers)]) {
            survivors[try row.int64("id")] = try row.int64("forwards_to")
        }
        return survivors
    }

    static let followingForwards = SQLStatement(
        "effect_follow_forwards",
        """
        select c.id, c.forwards_to
        from journey.customers c
        where c.id = any ($1::bigint[]) and c.forwards_to is not null
        """)

    /// Puts effects back that were leased and not started, as at shutdown; the attempt does not count.
    package func handBack(_ leases: [LeasedEffect]) async throws {
        if leases.isEmpty { return }
        let customers = leases.map(\.customer.number)
        let survivors = try await survivors(of: customers)
        _ = try await pool.query(
            Self.handingBack,
            [
                .int8Array(customers.map { survivors[$0] ?? $0 }),
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
            requestedAt: try row.instant("requested_at"),
            notBefore: try row.instantOrNil("not_before"), deadline: try row.instant("deadline"),
            window: try row.jsonOrNil("send_window").flatMap {
                AttemptWindow(json: try readObject($0, what))
            },
            attemptTimeout: .milliseconds(try row.int64("attempt_timeout_ms")), retry: retry)
        return LeasedEffect(
            customer: CustomerID(try row.int64("customer")),
            workflow: WorkflowID(try row.string("workflow")),
            environment: try row.string("environment"), request: request,
            attempt: Int(try row.int32("attempts") - row.int32("attempts_before")),
            fence: try row.int64("fence"),
            startedAt: try row.instant("started_at"), leaseUntil: try row.instant("lease_until"),
            wasAmbiguous: try row.bool("was_ambiguous"))
    }
}
