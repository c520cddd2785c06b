import Postgres
import TestSupport
import Testing

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct RoutingStoreTests {
    @Test func `an id unseen so far makes a record, and keeps it`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u1", "u2")
            #expect(try await world.count("customers") == 2)
            #expect(try await world.count("customer_ids", "is_own") == 2)
            #expect(try await world.count("inbox", "customer is null") == 0)
            let distinct = try await world.number(
                "select count(distinct customer) from journey.inbox")
            #expect(distinct == 2)
        }
    }

    @Test func `an alias that turns out to be a person gets a record, and the conflict is counted`()
        async throws
    {
        try await World.with { world in
            _ = try await world.deliveries.store([.webhook("e1", id: "u1", aliases: ["u2"])])
            _ = try await world.routing.route(limit: 10)
            _ = try await world.deliveries.store([.webhook("e2", id: "u2")])
            #expect(try await world.routing.route(limit: 10).newCustomers == 1)
            #expect(try await world.count("customer_ids", "is_own") == 2)
            #expect(try await world.count("counts", "name = 'identity_conflict'") == 1)
            let owners = try await world.number(
                "select count(distinct customer) from journey.customer_ids")
            #expect(owners == 2)
        }
    }

    // S17.1
    @Test func `environments and apps keep their own records`() async throws {
        try await World.with { world in
            var sandbox = ArrivedDelivery.webhook("e1", id: "u1")
            sandbox.environment = "sandbox"
            var app = ArrivedDelivery.webhook("e2", id: "u1")
            app.app = "ios"
            _ = try await world.deliveries.store([sandbox, app, .webhook("e3", id: "u1")])
            #expect(try await world.routing.route(limit: 10).newCustomers == 3)
        }
    }

    @Test func `routers at once make one record a person and lose nothing`() async throws {
        try await World.with(connections: 8) { world in
            for batch in 0..<5 {
                _ = try await world.deliveries.store(
                    (0..<100).map {
                        .webhook("e\(batch)-\($0)", id: "u\($0 % 20)", aliases: ["a\($0 % 20)"])
                    })
            }
            let routed = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        var routed = 0
                        while try await world.count("inbox", "customer is null") > 0 {
                            routed += try await world.routing.route(limit: 17).routed
                        }
                        return routed
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(routed == 500)
            #expect(try await world.count("customers") == 20)
            #expect(try await world.count("customer_ids") == 40)
            #expect(try await world.count("inbox", "customer is not null") == 500)
            #expect(try await world.count("unrouted_ids") == 0)
        }
    }

    @Test func `an id that others link while a batch is routed is read again`() async throws {
        try await World.with { world in
            _ = try await world.deliveries.store([.webhook("e1", id: "u1")])
            // The other session links u1 first and commits while the router waits for the key.
            let linked = TestSignal<Void>()
            async let other: Void = world.pool.withTransaction { tx in
                _ = try await tx.query(
                    SQLStatement(
                        "link_first",
                        """
                        with made as (
                            insert into journey.customers (environment) values ('production')
                            returning id
                        )
                        insert into journey.customer_ids
                            (environment, app, external_id, customer, is_own)
                        select 'production', '', 'u1', id, true from made
                        """))
                linked.send(())
                let isWaiting = try await eventually {
                    try await world.number(
                        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                            + "and datname = current_database()") > 0
                }
                #expect(isWaiting)
            }
            _ = await linked.wait()
            let report = try await world.routing.route(limit: 10)
            try await other
            #expect(report.routed == 1)
            #expect(report.newCustomers == 0)
            #expect(try await world.count("customers") == 1)
        }
    }

    @Test func `inputs without a usable id are kept apart`() async throws {
        try await World.with { world in
            _ = try await world.deliveries.store([.webhook("e1", id: nil)])
            let report = try await world.routing.route(limit: 10)
            #expect(report.unassigned == 1)
            #expect(try await world.count("inbox") == 0)
            #expect(try await world.count("unassigned", "reason = 'no_id'") == 1)
            #expect(try await world.count("deliveries", "state = 'unassigned'") == 1)
        }
    }
}
