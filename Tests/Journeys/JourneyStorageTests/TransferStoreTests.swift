import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Postgres
import TestSupport
import Testing
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

/// Subscriptions that change hands, and events that wait for their owner, in a real database (S10).
@Suite(.timeLimit(.minutes(3)))
struct TransferStoreTests {
    /// Something a provider tells at an hour of one day.
    struct Told: Sendable {
        var name: String
        var number: Int
        var hour: Int
        var id: String?
        var properties: JSONObject
    }

    private static func started(_ id: String, _ number: Int, hour: Int) -> Told {
        Told(
            name: "subscription.started", number: number, hour: hour, id: id,
            properties: object(("subscription_key", "k1"), ("product_id", "pro")))
    }

    private static func transfer(_ from: String, _ to: String, _ number: Int, hour: Int) -> Told {
        Told(
            name: "customer.transferred", number: number, hour: hour, id: to,
            properties: object(
                ("transferred_from", [.string(from)]), ("transferred_to", [.string(to)])))
    }

    private static func tell(_ scenario: Scenario, _ told: Told) async throws {
        let now = try await scenario.time()
        let person = Event.Person(id: told.id, isAnonymous: told.id?.hasPrefix("$") ?? false)
        let at = now - .seconds(86_400) + .seconds(3_600 * told.hour)
        let event = Event(
            id: Event.makeID(connector: "shop", providerEventID: "\(told.number)"),
            connector: "shop", providerEventID: "\(told.number)", providerType: nil,
            name: told.name, trust: .provider, person: person, occurredAt: at, receivedAt: now,
            environment: "production", properties: told.properties)
        _ = try await scenario.world.deliveries.store([
            ArrivedDelivery(
                connector: "shop", providerEventID: "\(told.number)", content: .event(event),
                environment: "production", person: person)
        ])
    }

    private static func owner(_ world: World) async throws -> Set<String> {
        var owners: Set<String> = []
        for id in ["A", "B", "C", "$c"] {
            let count = try await world.number(
                "select count(*) from journey.subscriptions s join journey.customer_ids i "
                    + "on i.customer = s.customer where i.external_id = '\(id)'")
            if count > 0 { owners.insert(id) }
        }
        return owners
    }

    private static func keyed(_ id: String, _ trigger: String) -> WorkflowDefinition {
        let step = StepID("only")
        return WorkflowDefinition(
            id: WorkflowID(id), kind: .journey,
            entry: Entry(
                trigger: .event(names: [trigger]), key: .subscription, reentry: .everyTime),
            start: step,
            steps: [
                step: Step(
                    id: step,
                    action: .delay(Delay(length: .duration(.seconds(86_400)), next: .end)))
            ], stepOrder: [step])
    }

    // S10.8 S10.2
    @Test func `a transfer reaches both owners, moves the subscription and ends the giver's runs`()
        async throws
    {
        let role = WorkflowDefinition(
            id: WorkflowID("moved"), kind: .journey,
            entry: Entry(
                trigger: .event(names: ["customer.transferred"]),
                condition: .all([
                    .compare(.eq, at("event", "role"), .literal("to")),
                    .subscription(
                        .compare(.eq, at("subscription", "status"), .literal("active"))),
                ]), reentry: .everyTime), start: StepID("only"),
            steps: [
                StepID("only"): Step(
                    id: StepID("only"),
                    action: .delay(Delay(length: .duration(.seconds(86_400)), next: .end)))
            ], stepOrder: [StepID("only")])
        try await Scenario.with([
            "keyed": Self.keyed("keyed", "subscription.started"), "moved": role,
        ]) { scenario in
            try await scenario.publish("keyed", "moved")
            let world = scenario.world
            try await Self.tell(scenario, Self.started("A", 1, hour: 1))
            try await scenario.settleAll()
            #expect(try await world.count("runs", "ended_at is null") == 1)
            for _ in 0..<2 {
                try await Self.tell(scenario, Self.transfer("A", "B", 2, hour: 2))
                try await scenario.settleAll()
            }
            #expect(try await Self.owner(world) == ["B"])
            #expect(
                try await world.count(
                    "runs", "workflow = 'keyed' and status = 'exited' and reason = 'transferred'")
                    == 1)
            // The receiver's event finds the subscription moved already.
            #expect(try await world.count("runs", "workflow = 'moved' and ended_at is null") == 1)
            for role in ["from", "to"] {
                #expect(
                    try await world.count(
                        "events",
                        "name = 'customer.transferred' "
                            + "and event -> 'properties' ->> 'role' = '\(role)'") == 1)
            }
            #expect(try await world.count("inbox") == 0)
        }
    }

    // S10.8
    @Test(arguments: [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]])
    func `a chain of transfers ends at its last owner in every order`(_ order: [Int]) async throws {
        try await Scenario.with([:]) { scenario in
            let told = [
                1: Self.started("A", 1, hour: 1), 2: Self.transfer("A", "B", 2, hour: 2),
                3: Self.transfer("B", "$c", 3, hour: 3),
            ]
            for number in order + order {
                guard let one = told[number] else { continue }
                try await Self.tell(scenario, one)
                try await scenario.settleAll()
            }
            #expect(try await Self.owner(scenario.world) == ["$c"])
            // Who buys again afterwards has it again.
            try await Self.tell(scenario, Self.started("A", 9, hour: 9))
            try await scenario.settleAll()
            #expect(try await Self.owner(scenario.world) == ["$c", "A"])
        }
    }

    // S10.9
    @Test func `an event without an id belongs to who has its subscription`() async throws {
        try await Scenario.with([
            "cancelled": Self.keyed("cancelled", "subscription.cancelled")
        ]) { scenario in
            try await scenario.publish("cancelled")
            let world = scenario.world
            let routing = RoutingStore(pool: world.pool) { connector, id, _, _ in
                SubscriptionID(connector: connector, key: id.hasPrefix("k2") ? "k2" : "k1")
            }
            // Before anybody owns it.
            _ = try await world.deliveries.store([.webhook("k1-a", id: nil)])
            let report = try await routing.route(limit: 10)
            #expect(report.unassigned == 1)
            #expect(
                try await world.count(
                    "unassigned", "reason = 'no_owner' and subscription_key = 'k1'") == 1)
            #expect(try await scenario.counted("unassigned", "no_owner") == 1)
            _ = try await world.deliveries.store([.webhook("k2-a", id: nil)])
            _ = try await routing.route(limit: 10)
            try await world.run(
                "update journey.unassigned set recorded_at = now() - interval '25 hours' "
                    + "where subscription_key = 'k1'")
            try await Self.tell(scenario, Self.started("A", 1, hour: 1))
            _ = try await world.routing.route(limit: 10)
            _ = try await scenario.turns.turn(limit: 10) { turn, set in
                TurnDecider(definitions: set, connectors: [:]).decide(turn)
            }
            #expect(try await world.count("unassigned") == 1)
            #expect(try await world.count("inbox", "kind = 'delivery' and not starts") == 1)
            // Afterwards it is the owner's at once.
            _ = try await world.deliveries.store([.webhook("k1-b", id: nil)])
            #expect(try await routing.route(limit: 10).routed == 1)
            #expect(try await world.count("inbox", "starts and customer is not null") == 1)
            // One that was set aside while a turn named the owner is found again.
            try await world.run(
                "update journey.unassigned set subscription_key = 'k1', "
                    + "set_aside_at = now() - interval '1 minute'")
            _ = try await routing.route(limit: 10)
            #expect(try await world.count("unassigned") == 0)
        }
    }
}
