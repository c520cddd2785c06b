import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Postgres
import Testing
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

/// What was kept long enough goes, and nothing that is still needed. The clock is moved, not waited for.
@Suite(.timeLimit(.minutes(2)))
struct RetentionTests {
    private static let day = Duration.seconds(86_400)
    private static let policy = RetentionPolicy(
        rawBodies: day * 90, events: day * 400, history: day * 400, ids: day * 400)

    private func now(_ world: World) async throws -> Instant {
        try await world.pool.query(ScheduleStore.readingTime, []).only().instant("now")
    }

    /// Runs in every state, each with a row of history and an effect; `ends` and `open` are days from now.
    private static let runs = """
        insert into journey.runs (
            customer, id, workflow, version, digest, slot, cause, rerun, environment, status,
            entered_at, ended_at, open_until, decisions, state
        )
        select 1, r.id, 'w', 1, 'd', 0, r.id, 0, 'production',
            case when r.ends is null then 'waiting' else 'completed' end, now(),
            now() + r.ends * interval '1 day', now() + r.open * interval '1 day', 1, '{}'
        from (
            values ('live', null::integer, null::integer), ('old', 1, null), ('open', 1, 500),
                ('recent', 100, null)
        ) r (id, ends, open);
        insert into journey.history (customer, run, decision, at, entries)
        select 1, id, 1, now(), '{}' from journey.runs;
        insert into journey.effects (
            customer, invocation, run, step, attempt_group, tool, request, requested_at, deadline,
            attempt_timeout_ms, retry, status, ended_at
        )
        select 1, 'i-' || id, id, 's', 0, 'log', '{}', now(), now(), 1, '{}', 'succeeded', now()
        from journey.runs;
        insert into journey.effect_attempts (customer, invocation, number, fence, started_at)
        select 1, 'i-' || id, 1, 1, now() from journey.runs;
        insert into journey.events (
            customer, ordinal, recorded_at, id, name, connector, occurred_at, received_at,
            environment, event
        ) values (1, 1, now(), 'e1', 'n', 'c', now(), now(), 'production', '{}');
        insert into journey.event_ids (id, customer, ordinal, recorded_at)
        values ('e1', 1, 1, now());
        """

    // S19.5
    @Test func `months past their retention go, bodies first, and what runs need stays`()
        async throws
    {
        try await World.with { world in
            let store = RetentionStore(pool: world.pool)
            // One delivery whose input was taken, one that waits.
            try await world.arrive("a", "b")
            try await world.run(
                "delete from journey.inbox where sequence = (select min(sequence) from journey.inbox)"
            )
            try await world.run(Self.runs)
            let start = try await now(world)

            #expect(try await store.cut(Self.policy, at: start + Self.day * 60).isEmpty)
            let bodies = try await store.cut(Self.policy, at: start + Self.day * 130)
            #expect(bodies.map(\.table) == ["delivery_bodies"])
            #expect(bodies.map(\.removed) == [1] && bodies.map(\.kept) == [1])
            #expect(try await world.count("delivery_bodies") == 1)
            #expect(try await world.count("deliveries") == 2)
            #expect(try await world.count("events") == 1)
            // Again: what stays is not moved about.
            #expect(try await store.cut(Self.policy, at: start + Self.day * 130).isEmpty)

            let all = try await store.cut(Self.policy, at: start + Self.day * 440)
            // Months ahead that nobody ever wrote to go, too.
            let removed = Dictionary(
                all.filter { $0.removed > 0 }.map { ($0.table, $0.removed) }, uniquingKeysWith: +)
            #expect(
                removed == [
                    "deliveries": 1, "events": 1, "effect_attempts": 1, "history": 1, "effects": 1,
                    "delivery_ids": 2, "event_ids": 1,
                ])
            #expect(
                try await runs(of: "history", world)
                    == ["live", "open", "recent"])
            #expect(
                try await runs(of: "effects", world)
                    == ["live", "open", "recent"])
            #expect(try await world.count("effect_attempts") == 3)
            #expect(try await world.count("events") == 0)
            // Runs themselves stay: they say who may enter again.
            #expect(try await world.count("runs") == 4)
            let horizon = try #require(try await store.horizon(of: "events"))
            #expect(horizon > start && horizon <= start + Self.day * 32)
            // What came into the place of a dropped month takes rows as before, and goes in its turn.
            try await world.run(
                """
                insert into journey.history (customer, run, decision, at, entries)
                values (1, 'live', 2, now(), '{}')
                """)
            try await world.run("update journey.runs set ended_at = now() where id = 'live'")
            let later = try await store.cut(Self.policy, at: start + Self.day * 440)
            #expect(later.filter { $0.table == "history" }.map(\.removed) == [2])
            #expect(try await world.count("history", "run = 'live'") == 0)
        }
    }

    @Test func `a month that too much is needed of stays whole, and rows beside the months go`()
        async throws
    {
        try await World.with { world in
            try await world.run(Self.runs)
            let start = try await now(world)
            let rows = try await world.pool.query(
                RetentionStore.dropping,
                [
                    .text("history"), .timestamptz(start + Self.day * 40),
                    .timestamptz(start + Self.day * 440), .int4(2),
                ])
            // Three of four are needed, and two may be.
            #expect(try rows.map { try $0.bool("is_dropped") } == [false])
            #expect(try await world.count("history") == 4)
            // A row of last year lies in no month that was ever made.
            try await world.run(
                """
                insert into journey.history (customer, run, decision, at, entries)
                values (1, 'old', 0, now() - interval '1 year', '{}'),
                    (1, 'live', 0, now() - interval '1 year', '{}')
                """)
            let short = RetentionPolicy(
                rawBodies: Self.day, events: Self.day * 40, history: Self.day * 40,
                ids: Self.day * 40)
            let cuts = try await RetentionStore(pool: world.pool).cut(
                short, at: start + Self.day * 42)
            #expect(cuts.first { $0.partition == "history_rest" }?.removed == 1)
            #expect(try await world.count("history_rest") == 1)
        }
    }

    @Test func `a turn is told since when its events are known`() async throws {
        let flows = [
            "loyal": flow(
                "loyal", .event(names: ["purchase.completed"]),
                condition: .events(
                    EventHistory(
                        match: EventMatch(names: ["purchase.completed"]), since: .ever,
                        range: NumberRange(atMost: JSONNumber(3)))))
        ]
        try await Scenario.with(flows) { scenario in
            try await scenario.publish("loyal")
            try await scenario.tell("purchase.completed", 1)
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("runs") == 1)
            // Events of this customer were let go: "at most three, ever" can be said no more.
            try await scenario.world.run(
                "insert into journey.horizons values ('events', now() + interval '1 day')")
            try await scenario.tell("purchase.completed", 2)
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("runs") == 1)
            // Who was made after that has lost none.
            try await scenario.world.run(
                "update journey.horizons set since = now() - interval '1 year'")
            try await scenario.tell("purchase.completed", 3)
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("runs") == 2)
        }
    }

    /// Whose rows a table holds.
    private func runs(of table: StaticString, _ world: World) async throws -> [String] {
        let text = try await world.pool.query(
            SQLStatement(
                table,
                "select coalesce(string_agg(run, ' ' order by run), '') as value "
                    + "from journey.\(table)")
        ).only().string("value")
        return text.split(separator: " ").map(String.init)
    }
}
