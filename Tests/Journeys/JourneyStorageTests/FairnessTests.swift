import JourneyModel
import JourneyTurns
import Postgres
import TestSupport
import Testing

@testable import JourneyStorage

/// One customer's trouble is nobody else's (S18).
@Suite(.timeLimit(.minutes(3)))
struct FairnessTests {
    // S18.1 S18.2
    @Test func `the neighbours of a customer whose turn takes too long are served at once`()
        async throws
    {
        try await World.with { world in
            for number in 1...40 { try await world.arrive("u\(number)") }
            let slow = try await world.number(
                "select customer from journey.customer_ids where external_id = 'u20'")
            try await world.run(
                """
                create function journey.stall() returns trigger language plpgsql as $$
                begin
                    if old.customer = \(slow) then perform pg_sleep(600); end if;
                    return old;
                end $$;
                create trigger stall before delete on journey.inbox
                for each row execute function journey.stall();
                """)
            var settings = world.settings
            settings.statementTimeout = .seconds(1)
            let pool = PostgresPool(settings: settings, size: 1, loop: world.loop)
            let report = try await TurnStore(pool: pool, definitions: world.cache)
                .turn(limit: 100) { turn, _ in Fixture.take(turn) }
            await pool.close()
            #expect(report.turns == 39)
            #expect(report.failed.keys.map(\.number) == [slow])
            #expect(try await world.count("inbox") == 1)
            #expect(try await world.count("set_aside", "retry_at is not null") == 1)
        }
    }

    @Test func `a customer with very many unread inputs leaves room for others`() async throws {
        try await World.with { world in
            try await world.arrive("crowd", "u1", "u2", "u3", "u4")
            let crowd = try await world.number(
                "select customer from journey.customer_ids where external_id = 'crowd'")
            try await world.run(
                """
                insert into journey.inbox (customer, kind, payload, environment, recorded_at, routed_at)
                select \(crowd), 'result', '{}', 'production', now() - interval '1 hour', now()
                from generate_series(1, 500)
                """)
            for draw in [0.0, 0.99] {
                let claimed = try await world.pool.withTransaction { tx in
                    let rows = try await tx.query(
                        TurnStore.claiming, [.int4(10), .int4(160), .double(draw)])
                    return rows.count
                }
                // From the last place on nobody may be left but the crowd's head, and the last.
                #expect(claimed == (draw < 0.5 ? 5 : 2))
            }
        }
    }
}
