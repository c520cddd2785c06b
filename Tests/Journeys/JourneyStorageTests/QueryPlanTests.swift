import Postgres
import TestSupport
import Testing

@testable import JourneyStorage

/// On a filled database, the hot statements go by their indexes and touch few pages.
@Suite(.timeLimit(.minutes(3)))
struct QueryPlanTests {
    @Test func `claim, route and lease read few pages of full tables`() async throws {
        try await World.with { world in
            try await world.run(Self.filling)
            try await world.run("vacuum analyze")
            let claim = try await plan(
                world, TurnStore.claiming, types: "int, int, float8",
                values: "100, 1600, 0.5")
            #expect(claim.uses("inbox_by_age"))
            #expect(claim.uses("timers_due"))
            #expect(claim.scansWhole.isEmpty)
            // 400 candidates at most, each by the primary key, beside the two index ranges.
            #expect(claim.pages < 1_500, "\(claim.text)")

            let route = try await plan(world, RoutingStore.claiming, types: "int", values: "100")
            #expect(route.uses("inbox_unrouted"))
            #expect(route.scansWhole.isEmpty)
            #expect(route.pages < 1_000, "\(route.text)")

            let lease = try await plan(
                world, EffectStore.locking, types: "text[], text[], int[], int",
                values: "array['http', 'http'], array['acc0', 'acc1'], array[50, 50], 100")
            #expect(lease.uses("effect_queue_due"))
            #expect(lease.scansWhole.isEmpty)
            #expect(lease.pages < 1_000, "\(lease.text)")

            let load = try await plan(
                world, TurnStore.loadingInputs, types: "bigint[], int, bigint, bigint",
                values: "array[5, 6, 7, 8, 9], 200, 4000000, 32000000")
            #expect(load.uses("inbox_by_customer"))
            #expect(load.scansWhole.isEmpty)
            #expect(load.pages < 500, "\(load.text)")
        }
    }

    private struct Plan {
        var text: String

        func uses(_ index: String) -> Bool { text.contains(index) }

        /// Tables read from end to end; small ones that every plan may so read do not count.
        var scansWhole: [String] {
            text.split(separator: "\n").filter { line in
                line.contains("Seq Scan on") && !line.contains("set_aside")
                    && !line.contains("_rest") && !line.contains("never executed")
            }.map(String.init)
        }

        /// Pages touched in all: the figure of the topmost node.
        var pages: Int {
            guard let line = text.split(separator: "\n").first(where: { $0.contains("Buffers:") })
            else { return .max }
            return line.split(separator: " ").compactMap { word in
                word.hasPrefix("hit=") || word.hasPrefix("read=")
                    ? Int(word.drop { $0 != "=" }.dropFirst()) : nil
            }.reduce(0, +)
        }
    }

    private func plan(
        _ world: World, _ statement: SQLStatement, types: String, values: String
    ) async throws -> Plan {
        let connection = try await PostgresConnection.connect(world.settings, on: world.loop)
        let result: Result<Plan, any Error>
        do {
            try await connection.simple("prepare one (\(types)) as " + statement.sql)
            try await connection.simple("set plan_cache_mode = force_generic_plan")
            let explain = SQLStatement(
                "explain", "explain (analyze, buffers, costs off) execute one (\(values))")
            let rows = try await connection.query(explain)
            var lines: [String] = []
            for row in rows { lines.append(try row.string(0)) }
            result = .success(Plan(text: lines.joined(separator: "\n")))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    private static let filling = """
        insert into journey.customers (environment)
        select 'production' from generate_series(1, 20000);
        insert into journey.deliveries (
            id, received_at, connector, provider_event_id, body_sha256, body_bytes, environment
        )
        select g, clock_timestamp(), 'shop', 'e' || g, '', 1000, 'production'
        from generate_series(1, 30000) g;
        insert into journey.delivery_bodies (id, received_at, body)
        select id, received_at, convert_to(repeat('{"a":1}', 140), 'UTF8') from journey.deliveries;
        insert into journey.inbox (
            customer, kind, delivery, delivery_received_at, environment, routed_at
        )
        select 1 + (id * 7919) % 20000, 'delivery', id, received_at, 'production', received_at
        from journey.deliveries order by id;
        insert into journey.inbox (kind, environment, person_id, person_is_anonymous, aliases)
        select 'event', 'production', 'new' || g, false, array['a' || g]
        from generate_series(1, 10000) g;
        insert into journey.timers (customer, due_at)
        select id, clock_timestamp() + (id - 10000) * interval '1 minute' from journey.customers;
        insert into journey.effect_queue (
            customer, invocation, run, tool, account, due_at, deadline, attempt_timeout_ms
        )
        select id, md5(id::text), 'run', 'http', 'acc' || id % 3,
            clock_timestamp() + (id - 10000) * interval '1 second', clock_timestamp(), 30000
        from journey.customers;
        """
}
