import JSON
import JourneyModel
import Postgres
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct DeliveryStoreTests {
    @Test func `an exact repeat is a duplicate and stores no second body`() async throws {
        try await World.with { world in
            let first = try await world.deliveries.store([
                .webhook("e1", id: "u1", body: "{\"a\":1}")
            ])
            let again = try await world.deliveries.store([
                .webhook("e1", id: "u1", body: "{\"a\":1}")
            ])
            #expect(first[0].result == .accepted)
            #expect(again == [DeliveryReceipt(delivery: first[0].delivery, result: .duplicate)])
            #expect(try await world.count("deliveries") == 1)
            #expect(try await world.count("delivery_bodies") == 1)
            #expect(try await world.count("inbox") == 1)
        }
    }

    @Test func `duplicates within one batch are told apart in its order`() async throws {
        try await World.with { world in
            let receipts = try await world.deliveries.store([
                .webhook("e2", id: "u1"), .webhook("e1", id: "u1"), .webhook("e2", id: "u1"),
                .webhook("e2", id: "u1", body: "{\"other\":true}"),
            ])
            #expect(receipts.map(\.result) == [.accepted, .accepted, .duplicate, .duplicate])
            #expect(receipts[2].delivery == receipts[0].delivery)
            #expect(try await world.count("deliveries") == 3)
            #expect(try await world.count("inbox") == 3)
            #expect(try await world.count("delivery_ids") == 2)
        }
    }

    @Test func `another body under a known id is stored with an input of its own`() async throws {
        try await World.with { world in
            _ = try await world.deliveries.store([.webhook("e1", id: "u1")])
            let other = try await world.deliveries.store([
                .webhook("e1", id: "u1", body: "{\"n\":2}")
            ])
            #expect(other[0].result == .duplicate)
            #expect(try await world.count("deliveries") == 2)
            #expect(try await world.count("inbox") == 2)
        }
    }

    @Test func `sessions that store the same ids at once accept each id once`() async throws {
        try await World.with(connections: 8) { world in
            let results = try await withThrowingTaskGroup(of: [DeliveryReceipt].self) { group in
                for session in 0..<8 {
                    group.addTask {
                        // Each session in another order: keys are taken in one order all the same.
                        let ids = (0..<50).map { "e\(($0 * 7 + session * 13) % 50)" }
                        return try await world.deliveries.store(ids.map { .webhook($0, id: "u") })
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(results.count == 400)
            #expect(try await world.count("delivery_ids") == 50)
            #expect(results.count { $0.result == .accepted } == 50)
            // A session that lost a race does not see the winner's body: it stores its own for a turn
            // to compare. Every stored delivery has an input.
            let stored = try await world.count("deliveries")
            #expect(stored >= 50)
            #expect(try await world.count("inbox") == stored)
        }
    }

    @Test func `a known person's input is resolved at once, an unknown one's waits`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            _ = try await world.deliveries.store([
                .webhook("e1", id: "u1"), .webhook("e2", id: "new", aliases: ["x"]),
            ])
            #expect(
                try await world.count("inbox", "customer is not null and routed_at is not null")
                    == 2)
            #expect(try await world.count("inbox", "customer is null") == 1)
            #expect(try await world.count("unrouted_ids") == 2)
        }
    }

    @Test func `a known person's input never overtakes an unrouted one of theirs`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            // In one batch, then in a later one: both mention u1 beside an id nobody knows yet.
            _ = try await world.deliveries.store([
                .webhook("e1", id: "u1", aliases: ["unseen"]), .webhook("e2", id: "u1"),
            ])
            _ = try await world.deliveries.store([.webhook("e3", id: "u1")])
            #expect(try await world.count("inbox", "customer is null") == 3)
            #expect(try await world.routing.route(limit: 100).routed == 3)
            _ = try await world.deliveries.store([.webhook("e4", id: "u1")])
            #expect(try await world.count("inbox", "customer is null") == 0)
            #expect(try await world.count("unrouted_ids") == 0)
            #expect(try await world.count("customers") == 1)
        }
    }

    @Test func `ids that PostgreSQL cannot hold are replaced, over-long ones ignored`() async throws
    {
        try await World.with { world in
            _ = try await world.deliveries.store([
                .webhook("e\0", id: "u\0v"),
                .webhook("f", id: String(repeating: "x", count: 2_000)),
            ])
            #expect(try await world.count("inbox", "person_id = U&'u\\FFFDv'") == 1)
            let report = try await world.routing.route(limit: 100)
            #expect(report.routed == 1)
            #expect(report.unassigned == 1)
        }
    }

    @Test func `an app's event is an input without a delivery, whatever its repeat says`()
        async throws
    {
        try await World.with { world in
            var arrival = ArrivedDelivery.webhook("own-1", id: "u1")
            let event = Event(
                id: EventID("evt_1"), connector: "backend", providerEventID: "own-1",
                providerType: nil, name: "app.opened", trust: .source,
                person: Event.Person(id: "u1"), occurredAt: .init(milliseconds: 1_000),
                receivedAt: .init(milliseconds: 1_000), environment: "production",
                properties: .init([("text", "nul \0 and 1e400")]))
            arrival.content = .event(event)
            let receipts = try await world.deliveries.store([arrival, arrival])
            #expect(receipts.map(\.result) == [.accepted, .duplicate])
            let later = try await world.deliveries.store([arrival])
            #expect(later.map(\.result) == [.duplicate])
            #expect(try await world.count("inbox", "kind = 'event' and payload is not null") == 1)
            #expect(try await world.count("deliveries") == 0)
        }
    }
}
