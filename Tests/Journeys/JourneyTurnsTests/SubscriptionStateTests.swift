import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestMaterial
import Testing
import TimeZones

struct SubscriptionStateTests {
    private static let id = SubscriptionID(connector: "shop", key: "sub-1")

    private func told(
        _ name: String, _ number: Int, after offset: Duration = .zero,
        _ properties: JSONObject = [:]
    ) -> Event {
        var properties = properties
        properties["subscription_key"] = "sub-1"
        return makeEvent(name, number, at: after(offset), properties)
    }

    private func state(_ events: [Event]) -> SubscriptionState {
        var state = SubscriptionState(id: Self.id)
        for event in events { _ = state.take(event) }
        return state
    }

    // S5.5
    @Test func `each field keeps its greatest setter`() {
        let events = [
            told(
                "subscription.started", 1,
                ["product_id": "pro", "price": ["amount": "9.99", "currency": "EUR"]]),
            told("subscription.cancelled", 2, after: hours(1)),
            told("subscription.billing_issue", 3, after: hours(2), ["expires_at": "x"]),
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let scope = state(order.map { events[$0] }).scope
            #expect(scope["status"] == "billing_issue")
            #expect(scope["will_renew"] == false)
            #expect(scope["price"]?["amount"] == "9.99")
            #expect(scope["product_id"] == "pro")
        }
    }

    // S5.6
    @Test func `at one instant the rank decides, and then the event id`() {
        let started = told("subscription.started", 9)
        let expired = told("subscription.expired", 1)
        #expect(state([started, expired]).status == "expired")
        #expect(state([expired, started]).status == "expired")
        let first = told("subscription.renewed", 1, ["product_id": "a"])
        let second = told("subscription.renewed", 2, ["product_id": "b"])
        #expect(state([second, first]).scope["product_id"] == "b")
    }

    // S5.table1 S5.table2 S5.table3 S5.table4 S5.table5 S5.table6 S5.table7 S5.table8 S5.table9
    @Test(arguments: [
        ("trial.started", "status", JSONValue.string("trialing")),
        ("trial.started", "grace_period_expires_at", .null),
        ("subscription.resubscribed", "status", "active"),
        ("subscription.renewed", "pending_product_id", .null),
        ("trial.converted", "will_renew", true),
        ("subscription.grace_period_started", "status", "grace_period"),
        ("subscription.grace_period_started", "grace_period_expires_at", "grace"),
        ("subscription.on_hold", "status", "on_hold"),
        ("trial.cancelled", "will_renew", false),
        ("subscription.uncancelled", "will_renew", true),
        ("subscription.pause_scheduled", "pauses_at", "end"),
        ("subscription.paused", "status", "paused"),
        ("trial.expired", "status", "expired"),
        ("subscription.expired", "will_renew", false),
        ("subscription.product_change_scheduled", "pending_product_id", "max"),
        ("subscription.product_change_cancelled", "pending_product_id", .null),
        ("subscription.refunded", "refunded_at", .string(dawn.description)),
        ("subscription.refund_reversed", "refunded_at", .null),
        ("subscription.revoked", "status", "revoked"),
        ("subscription.extended", "expires_at", "end"),
    ])
    func `an outcome sets what the table says`(
        outcome: String, field: String, value: JSONValue
    ) {
        let event = told(
            outcome, 1,
            [
                "expires_at": "end", "grace_period_expires_at": "grace", "new_product_id": "max",
                "price": "p",
            ])
        #expect(state([event]).scope[field] == value)
    }

    // S5.table3
    @Test func `a failed charge never sets the price`() {
        let event = told("subscription.billing_issue", 1, ["price": "p"])
        #expect(state([event]).scope["price"] == nil)
    }

    // S5.6
    @Test(arguments: ["purchase.completed", "invoice.paid", "paywall.impression", "app.opened"])
    func `an event of another kind touches no subscription`(name: String) {
        #expect(SubscriptionID(of: told(name, 1)) == nil)
    }

    // S5.5
    @Test func `a hundred orders with repeats end the same`() throws {
        var generator = SeededGenerator(seed: 5)
        let names = Vocabulary.outcomes.map(\.name).filter { Vocabulary.rank(of: $0) > 0 }
        let events = (0..<40).map { number in
            told(
                generator.pick(names), number, after: hours(number / 4),
                [
                    "product_id": .string("p\(number)"), "expires_at": .string("e\(number)"),
                    "new_product_id": .string("n\(number)"), "price": .string("x\(number)"),
                ])
        }
        let expected = state(events)
        for _ in 0..<100 {
            var order = events + (0..<20).map { _ in generator.pick(events) }
            order.shuffle(using: &generator)
            #expect(state(order) == expected)
        }
        #expect(try SubscriptionState(id: Self.id, json: expected.json) == expected)
    }

    // S5.7
    @Test func `a renewal that ends a failure is a recovery, and answers to both names`() {
        for failure in ["billing_issue", "grace_period_started", "on_hold"] {
            var world = World(
                makeWorkflow("renewals", [.wait("w", for: "subscription.renewed")]),
                makeWorkflow("recoveries", [.wait("w", for: "subscription.recovered")]))
            world.give("began")
            world.take(world.subscription(failure, after: hours(1)))
            let result = world.take(world.subscription("renewed", after: hours(2)))
            #expect(result.events.map(\.event.name) == ["subscription.recovered"])
            #expect(world.endings == ["completed", "completed"])
        }
    }

    // S5.7
    @Test func `a renewal that came before the failure, or without one, stays a renewal`() {
        var world = World()
        world.take(world.subscription("renewed", after: hours(1)))
        world.take(world.subscription("billing_issue", after: hours(3)))
        let late = world.take(world.subscription("renewed", at: hours(4), after: hours(2)))
        #expect(late.events.map(\.event.name) == ["subscription.renewed"])
        #expect(late.events.map(\.event.isLate) == [true])
        #expect(world.subscriptions.first?.status == "billing_issue")
    }

    @Test func `an event in time is not late`() {
        var world = World()
        let first = world.take(world.subscription("started"))
        let second = world.take(world.subscription("renewed", after: hours(1)))
        #expect((first.events + second.events).map(\.event.isLate) == [false, false])
        #expect(first.events[0].event.scope["meta"]?["late"] == false)
        #expect(first.subscriptions.count == 1)
    }

    @Test func `what an app says of itself touches no subscription`() {
        var world = World()
        var event = makeEvent("subscription.expired", 1, ["subscription_key": "sub-1"])
        event.trust = .client
        world.take(world.input(.event(event), at: dawn))
        #expect(world.subscriptions.isEmpty)
    }
}

extension World {
    /// An event about the subscription `sub-1`.
    mutating func subscription(
        _ outcome: String, at recorded: Duration? = nil, after occurred: Duration = .zero
    ) -> TurnInput {
        event(
            "subscription.\(outcome)", at: JourneyTurnsTests.after(recorded ?? occurred),
            occurred: JourneyTurnsTests.after(occurred), ["subscription_key": "sub-1"])
    }
}
