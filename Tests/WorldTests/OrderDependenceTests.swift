import Connectors
import JSON
import JourneyModel
import JourneyTurns
import TestMaterial
import TestModel
import Testing
import TimeZones

/// What may hang on the order of arrival all the same, each by its name. Whatever else does is a fault.
@Suite struct OrderDependenceTests {
    private func set(_ bodies: [JSONValue], at times: [Instant] = []) throws -> FactSet {
        let provider = try #require(ProviderDefinition.shipped(named: "revenuecat"))
        var set = FactSet(name: "own", connector: try FactSet.connector(provider))
        for (place, body) in bodies.enumerated() {
            set.add(
                body.bytes, id: "e\(place)",
                at: times.indices.contains(place) ? times[place] : FactSet.receivedAt)
        }
        return set
    }

    private func body(_ type: String, minute: Int64, _ more: [String: JSONValue] = [:]) -> JSONValue
    {
        var event = JSONObject([
            ("id", .string(type)), ("type", .string(type)), ("app_user_id", "ada"),
            ("environment", "PRODUCTION"), ("original_transaction_id", "t1"),
            ("event_timestamp_ms", .integer(1_767_225_600_000 + minute * 60_000)),
            ("product_id", "pro"), ("period_type", "NORMAL"),
        ])
        for (key, value) in more.sorted(by: { $0.key < $1.key }) { event[key] = value }
        return ["event": .object(event)]
    }

    private func play(
        _ set: FactSet, _ order: [Int], _ workflows: [JSONValue] = []
    ) throws -> OrderOutcome {
        var random = SeededGenerator(seed: 1)
        return try OrderOutcome.play(
            set, order, try DefinitionSet(reading: workflows), &random)
    }

    private func workflow(
        _ event: String, _ members: [(String, JSONValue)] = [], entry: [(String, JSONValue)] = []
    ) -> JSONValue {
        var all = JSONObject([
            ("trigger", ["event": .string(event)]), ("reentry", "every_time"),
        ])
        for (key, value) in entry { all[key] = value }
        var workflow = JSONObject([
            ("dsl", 1), ("id", "flow"), ("kind", "journey"), ("entry", .object(all)),
            ("start", "rest"),
            ("steps", ["rest": ["type": "delay", "for": "P1D", "next": "end"]]),
        ])
        for (key, value) in members { workflow[key] = value }
        return .object(workflow)
    }

    // S5.2
    @Test func `a time that was clamped is the time of arrival, and so hangs on it`() throws {
        let far: Int64 = 5_000_000
        func state(clampedAt: Instant) throws -> JSONObject? {
            // The cancellation gives itself a time in ten years.
            let set = try set(
                [
                    body("CANCELLATION", minute: far, ["cancel_reason": "UNSUBSCRIBE"]),
                    body("UNCANCELLATION", minute: 60),
                ], at: [clampedAt, FactSet.receivedAt])
            #expect(set.events[0].isClamped)
            let outcome = try play(set, [0, 1])
            return outcome.subscriptions.values.first?["fields"]?["will_renew"]?.object
        }
        let start = Instant(milliseconds: 1_767_225_600_000)
        #expect(try state(clampedAt: start)?["value"] == true)
        #expect(try state(clampedAt: start + .seconds(7_200))?["value"] == false)
    }

    // S5.7
    @Test
    func
        `whether a renewal is a recovery hangs on whether the failure was known; the row does not`()
        throws
    {
        let set = try set([body("BILLING_ISSUE", minute: 0), body("RENEWAL", minute: 5)])
        let flow = workflow("subscription.recovered")
        let inOrder = try play(set, [0, 1], [flow])
        let reversed = try play(set, [1, 0], [flow])
        #expect(inOrder.entered == ["flow -"] && reversed.entered.isEmpty)
        #expect(inOrder.subscriptions == reversed.subscriptions)
        // By the name that the mapping tells it is the same in both.
        let named = workflow("subscription.renewed")
        #expect(
            try play(set, [0, 1], [named]).entered == play(set, [1, 0], [named]).entered)
    }

    // S4.5
    @Test func `a goal or exit that came first keeps out who would have entered`() throws {
        let set = try set([
            body("INITIAL_PURCHASE", minute: 0), body("EXPIRATION", minute: 5),
        ])
        for members: [(String, JSONValue)] in [
            [("goal", ["event": "subscription.expired"])],
            [("exits", [["event": "subscription.expired", "reason": "over"]])],
        ] {
            let flow = workflow("subscription.started", members)
            #expect(try play(set, [0, 1], [flow]).entered == ["flow -"])
            #expect(try play(set, [1, 0], [flow]).entered.isEmpty)
        }
    }

    @Test func `an entry that reads more than its event sees what is known by then`() throws {
        let set = try set([
            body("INITIAL_PURCHASE", minute: 0),
            body("CANCELLATION", minute: 5, ["cancel_reason": "UNSUBSCRIBE"]),
        ])
        let flow = workflow(
            "subscription.started",
            entry: [("where", ["eq": [["ref": "/subscription/will_renew"], true]])])
        #expect(try play(set, [0, 1], [flow]).entered == ["flow -"])
        #expect(try play(set, [1, 0], [flow]).entered.isEmpty)
    }

    @Test func `with one entry for ever the first to come enters, and the others do not`() throws {
        let set = try set([
            body("INITIAL_PURCHASE", minute: 0, ["store": "APP_STORE"]),
            body("RENEWAL", minute: 5, ["store": "PLAY_STORE"]),
        ])
        var flow = workflow(
            "subscription.started",
            entry: [
                ("trigger", ["event": ["subscription.started", "subscription.renewed"]]),
                ("reentry", "one_time"),
            ])
        // Who enters is the same; by which of the events is not.
        #expect(try play(set, [0, 1], [flow]).entered == play(set, [1, 0], [flow]).entered)
        flow = workflow(
            "subscription.started",
            entry: [
                ("trigger", ["event": ["subscription.started", "subscription.renewed"]]),
                ("reentry", "one_time"), ("key", ["ref": "/event/store"]),
            ])
        // With a key each key has its own.
        #expect(try play(set, [0, 1], [flow]).entered == play(set, [1, 0], [flow]).entered)
    }
}
