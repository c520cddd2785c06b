import JSON
import JourneyEngine
import Postgres
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

/// What holds over all dispatchers of a database: concurrency, rates, consent, caps.
@Suite(.timeLimit(.minutes(2)))
struct EffectLimitTests {
    /// One effect each of the account `crm`.
    private func withEffects(
        _ customers: Int, opening: @escaping EffectStore.WindowOpening = { _, _ in nil },
        _ body: @escaping @Sendable (World, EffectStore) async throws -> Void
    ) async throws {
        try await World.with(connections: 8) { world in
            _ = try await world.deliveries.store(
                (1...customers).map { .webhook("e\($0)", id: "u\($0)") })
            _ = try await world.routing.route(limit: 500)
            _ = try await world.turns.turn(limit: 500) { turn, _ in Fixture.enter(turn) }
            try await body(world, EffectStore(pool: world.pool, opening: opening))
        }
    }

    private func crm(
        _ limits: AccountLimits, free: Int = 100, account: String = "crm"
    ) -> [EffectCapacity] {
        [EffectCapacity(tool: "http", account: account, free: free, limits: limits)]
    }

    private func end(_ lease: LeasedEffect) -> FinishedAttempt {
        FinishedAttempt(lease: lease, outcome: "200", next: .end(.succeeded(["status": 200])))
    }

    /// Leases until nothing stands in the way any more but the limits.
    private func leaseAll(
        _ capacities: [EffectCapacity], _ effects: EffectStore
    ) async throws -> [LeasedEffect] {
        var leased: [LeasedEffect] = []
        for _ in 0..<50 {
            let round = try await effects.round(capacities)
            leased += round.leases
            if round.leases.isEmpty, round.lookAgainAfter == nil { break }
        }
        return leased
    }

    @Test func `dispatchers together start no more than an account may have at once`()
        async throws
    {
        try await withEffects(40) { world, effects in
            let capacities = crm(AccountLimits(concurrency: 5), free: 3)
            let leased = try await withThrowingTaskGroup(of: [LeasedEffect].self) { group in
                for _ in 0..<6 { group.addTask { try await leaseAll(capacities, effects) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(leased.count == 5)
            #expect(try await effects.finish(leased[..<2].map(end)) == [true, true])
            #expect(try await leaseAll(capacities, effects).count == 2)
        }
    }

    @Test func `the room of a dispatcher that died comes back with its leases`() async throws {
        try await withEffects(3) { world, effects in
            let capacities = crm(AccountLimits(concurrency: 1))
            #expect(try await leaseAll(capacities, effects).count == 1)
            #expect(try await leaseAll(capacities, effects).isEmpty)
            try await world.run(
                """
                update journey.effect_queue set lease_until = now(), due_at = now()
                where lease_until is not null
                """)
            #expect(try await leaseAll(capacities, effects).count == 1)
        }
    }

    @Test func `a rate is spent evenly, by all dispatchers together`() async throws {
        try await withEffects(20) { world, effects in
            // An attempt each 20 ms; an idle account may spend 50 ms at once.
            let capacities = crm(AccountLimits(concurrency: 100, ratePerSecond: 50))
            _ = try await effects.round(capacities)
            try await world.run(
                "update journey.account_limits set rate_from = now() - interval '1 hour'")
            try await world.run(
                "update journey.effect_queue set lease_until = null, due_at = now()")
            #expect(try await effects.round(capacities).leases.count == 2)
            try await world.run(
                "update journey.account_limits set rate_from = now() + interval '1 hour'")
            let round = try await effects.round(capacities)
            #expect(round.leases.isEmpty)
            let pause = try #require(round.lookAgainAfter)
            #expect(pause > .seconds(3_500) && pause <= .seconds(3_601))
        }
    }

    @Test(
        arguments: [
            (50.0, 20_000, 50_000), (1.0 / 60, 60_000_000, 60_000_000), (1_000, 1_000, 50_000),
        ] as [(Double, Int64, Int64)])
    func `a rate allows a twentieth of a second's worth at once, and always one`(
        rate: Double, pace: Int64, burst: Int64
    ) {
        let limits = AccountLimits(concurrency: 1, ratePerSecond: rate)
        #expect(limits.pace == pace && limits.burst == burst)
        #expect(limits.allowance(idle: 1 << 50).attempts == Int(burst / pace))
        #expect(limits.allowance(idle: pace - 1) == (0, .microseconds(1)))
        #expect(limits.allowance(idle: pace).attempts == 1)
        #expect(limits.allowance(idle: -pace) == (0, .microseconds(2 * pace)))
        #expect(AccountLimits(concurrency: 1).allowance(idle: 0).attempts == .max)
    }

    @Test func `an account that another dispatcher is at keeps up no other`() async throws {
        try await withEffects(4) { world, effects in
            try await world.run(
                "update journey.effect_queue set account = 'other' where customer % 2 = 0")
            let limits = AccountLimits(concurrency: 10)
            let both = crm(limits) + crm(limits, account: "other")
            try await effects.make(both)
            _ = try await world.pool.withTransaction { tx in
                _ = try await EffectStore.room(crm(limits), tx)
                return try await effects.round(both)
            }
            #expect(
                try await world.count(
                    "effect_queue", "lease_until is not null and account = 'crm'") == 0)
            #expect(
                try await world.count(
                    "effect_queue", "lease_until is not null and account = 'other'") == 2)
            #expect(try await leaseAll(both, effects).count == 2)
        }
    }

    // S13.7
    @Test func `who does not want a channel gets no message over it`() async throws {
        try await withEffects(4) { world, effects in
            let ids = "(select array_agg(id order by id) from journey.customers)"
            for (place, attributes) in [
                (1, #"{"unsubscribed":["sms","email"]}"#), (2, #"{"unsubscribed":"email"}"#),
                (3, #"{"unsubscribed":["e-mail"]}"#), (4, #"{"unsubscribed":{"email":true}}"#),
            ] {
                try await world.run(
                    """
                    update journey.customers set attributes = '\(attributes)'
                    where id = \(ids)[\(place)]
                    """)
            }
            let email = AccountLimits(concurrency: 9, messages: .init(channel: "email"))
            #expect(try await leaseAll(crm(email), effects).count == 2)
            #expect(
                try await world.count("effects", "status = 'suppressed' and reason = 'consent'")
                    == 2)
            #expect(try await world.count("effect_attempts") == 2)
            #expect(
                try await world.count(
                    "inbox",
                    """
                    payload -> 'outcome' ->> 'outcome' = 'suppressed'
                        and payload -> 'outcome' ->> 'reason' = 'consent'
                    """) == 2)
            #expect(
                try await world.number(
                    "select sum(amount) from journey.counts where name = 'suppressed'") == 2)
        }
    }

    @Test func `a result tells whether a message was sent, or may have been`() async throws {
        try await withEffects(5) { world, effects in
            let email = AccountLimits(concurrency: 9, messages: .init(channel: "email"))
            let leases = try await leaseAll(crm(email), effects)
            let outcomes: [EffectOutcome] = [
                .succeeded([:]), .timedOut, .failed(error: "x", detail: .null), .unknown,
            ]
            _ = try await effects.finish(
                zip(leases, outcomes).map { lease, outcome in
                    FinishedAttempt(lease: lease, outcome: outcome.word, next: .end(outcome))
                })
            // The last lease runs out past its deadline, when nobody serves the account any more.
            try await world.run(
                """
                update journey.effect_queue
                set lease_until = now(), due_at = now(), deadline = now()
                """)
            try await effects.expireUnserved()
            let told = "coalesce(payload ->> 'message', '') = 'true'"
            #expect(try await world.count("inbox", "kind = 'result' and \(told)") == 4)
            #expect(
                try await world.count(
                    "inbox", "payload -> 'outcome' ->> 'outcome' = 'failed' and not \(told)") == 1)
        }
    }

    // S13.7
    @Test func `a message past the cap is withheld, one that failed does not count`() async throws {
        try await withEffects(1) { world, effects in
            let copy = { (number: Int) in
                """
                with one as (
                    insert into journey.effects (customer, invocation, run, step, attempt_group,
                        tool, account, request, requested_at, deadline, attempt_timeout_ms, retry)
                    select customer, 'copy\(number)', run, step, \(number), tool, account, request,
                        requested_at, deadline, attempt_timeout_ms, retry
                    from journey.effects where attempt_group = 0
                    returning *
                )
                insert into journey.effect_queue (
                    customer, invocation, run, tool, account, due_at, deadline, attempt_timeout_ms
                )
                select customer, invocation, run, tool, account, now(), deadline, attempt_timeout_ms
                from one
                """
            }
            for number in 1...4 { try await world.run(copy(number)) }
            let limits = AccountLimits(
                concurrency: 9,
                messages: .init(
                    channel: "email", cap: .init(messages: 2, period: .seconds(86_400))))
            // Five are due at once: the cap holds within one look too.
            let leases = try await leaseAll(crm(limits), effects)
            #expect(leases.count == 2)
            #expect(
                try await world.count("effects", "status = 'suppressed' and reason = 'cap'") == 3)
            let failed = FinishedAttempt(
                lease: leases[0], outcome: "404", next: .end(.failed(error: "x", detail: .null)))
            _ = try await effects.finish([failed, end(leases[1])])
            try await world.run("delete from journey.inbox")
            try await world.run(copy(5))
            #expect(try await leaseAll(crm(limits), effects).count == 1)
            try await world.run(copy(6))
            #expect(try await leaseAll(crm(limits), effects).isEmpty)
            // What was sent before the period does not count.
            try await world.run("delete from journey.inbox")
            try await world.run(
                "update journey.effects set ended_at = now() - interval '2 days'")
            try await world.run("delete from journey.effect_queue")
            try await world.run(copy(7))
            #expect(try await leaseAll(crm(limits), effects).count == 1)
        }
    }

    // S13.4
    @Test func `a lost attempt is not repeated where the receiver does not honour the key`()
        async throws
    {
        try await withEffects(1) { world, effects in
            let once = crm(AccountLimits(concurrency: 1, isIdempotent: false))
            #expect(try await leaseAll(once, effects).count == 1)
            try await world.run(
                "update journey.effect_queue set lease_until = now(), due_at = now()")
            #expect(try await leaseAll(once, effects).isEmpty)
            #expect(try await world.count("effects", "status = 'unknown' and lost = 1") == 1)
            // No attempt is made up to say so.
            #expect(try await world.count("effect_attempts", "outcome = 'lease_lost'") == 1)
            #expect(try await world.count("effect_attempts") == 1)
            #expect(try await world.count("inbox", "kind = 'result'") == 1)
        }
    }

    // S12.2
    @Test func `an attempt waits until its window opens, and no longer than its deadline`()
        async throws
    {
        let opensAt = Instant(milliseconds: 4_000_000_000_000)
        try await withEffects(2, opening: { _, _ in opensAt }) { world, effects in
            let limits = crm(AccountLimits(concurrency: 9))
            try await world.run(
                """
                update journey.effect_queue set send_window = '{"start":"09:00","end":"18:00"}'
                where customer = (select min(id) from journey.customers)
                """)
            #expect(try await leaseAll(limits, effects).count == 1)
            #expect(
                try await world.count(
                    "effect_queue", "lease_until is null and due_at = deadline and attempts = 0")
                    == 1)
            try await world.run(
                """
                update journey.effect_queue set due_at = now(), deadline = '2100-01-01Z'
                where lease_until is null
                """)
            #expect(try await leaseAll(limits, effects).isEmpty)
            #expect(
                try await world.number(
                    """
                    select (extract(epoch from max(due_at)) * 1000)::bigint
                    from journey.effect_queue where lease_until is null
                    """) == opensAt.milliseconds)
        }
    }
}
