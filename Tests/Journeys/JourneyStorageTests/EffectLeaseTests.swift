import TestSupport
import Testing

@testable import JourneyStorage

/// Batches of effects in which not every row can be leased.
@Suite(.timeLimit(.minutes(2)))
struct EffectLeaseTests {
    /// One effect each; that of the first customer is due longest.
    private func withEffects(
        _ customers: Int = 2, _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await World.with { world in
            _ = try await world.deliveries.store(
                (1...customers).map { .webhook("e\($0)", id: "u\($0)") })
            _ = try await world.routing.route(limit: 500)
            _ = try await world.turns.turn(limit: 500) { turn, _ in Fixture.enter(turn) }
            try await world.run(
                "update journey.effect_queue set due_at = due_at - interval '1 hour' where "
                    + Self.isFirst)
            try await body(world)
        }
    }

    private static let isFirst = "customer = (select min(id) from journey.customers)"
    private static let one = [EffectCapacity(tool: "http", account: "crm", free: 1)]

    @Test func `an effect that is put off does not hide the one behind it`() async throws {
        try await withEffects { world in
            try await world.run(
                """
                insert into journey.inbox (customer, kind, environment)
                select min(id), 'event', 'production' from journey.customers
                """)
            let leases = try await world.effects.lease(Self.one)
            #expect(leases.count == 1)
            #expect(
                try await world.count(
                    "effect_queue", "lease_until is null and attempts = 0 and " + Self.isFirst)
                    == 1)
        }
    }

    @Test func `effects of a customer that is set aside are passed over`() async throws {
        try await withEffects { world in
            try await world.run(
                """
                insert into journey.set_aside
                select min(id), now(), 5, 'refused', null from journey.customers
                """)
            #expect(try await world.effects.lease(Self.one).count == 1)
            #expect(try await world.effects.lease(Self.one).isEmpty)
            #expect(
                try await world.count(
                    "effect_queue", "due_at < now() - interval '50 minutes' and " + Self.isFirst)
                    == 1)
        }
    }

    @Test func `an effect that cannot be read ends failed, and the others are leased`()
        async throws
    {
        try await withEffects { world in
            try await world.run("update journey.effects set request = '[]' where " + Self.isFirst)
            let leases = try await world.effects.lease([
                EffectCapacity(tool: "http", account: "crm", free: 10)
            ])
            #expect(leases.count == 1)
            #expect(
                try await world.count(
                    "effects",
                    "status = 'failed' and result ->> 'error' = 'unreadable' and " + Self.isFirst)
                    == 1)
            #expect(try await world.count("effect_attempts", "outcome = 'unreadable'") == 1)
            #expect(try await world.count("inbox", "kind = 'result' and " + Self.isFirst) == 1)
            #expect(try await world.count("effect_queue") == 1)
        }
    }

    @Test func `more effects than one batch holds expire in one call`() async throws {
        let customers = EffectStore.batchLimit + 40
        try await withEffects(customers) { world in
            try await world.run("update journey.effect_queue set deadline = now()")
            try await world.effects.expireUnserved()
            #expect(try await world.count("effect_queue") == 0)
            #expect(try await world.count("effects", "status = 'expired'") == Int64(customers))
        }
    }

    @Test func `the backlog tells due effects from leases in force`() async throws {
        try await withEffects(3) { world in
            let store = BacklogStore(pool: world.pool)
            #expect(try await store.backlog().dueEffects == 3)
            _ = try await world.effects.lease(Self.one)
            let backlog = try await store.backlog()
            #expect(backlog.dueEffects == 2)
            #expect(backlog.leasedEffects == 1)
            #expect(backlog.oldestEffect != nil)
        }
    }
}
