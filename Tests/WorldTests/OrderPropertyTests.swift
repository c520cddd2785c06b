import Connectors
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestMaterial
import TestModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Every order of arrival ends the same (S5): 100 random orders of each customer's events, with repeats.
@Suite struct OrderPropertyTests {
    private static let orders = 100
    /// Events of one set: more of a customer are several sets, since their orders cost more than they show.
    private static let most = 6

    /// Two workflows for each of these events, every time, whose entries read `/event` alone.
    ///
    /// `subscription.recovered` is left out: what a renewal is called hangs on what was known before.
    private func workflows(for names: Set<String>) throws -> DefinitionSet {
        var definitions: [JSONValue] = []
        for name in names.sorted() where name != "subscription.recovered" {
            let id = String(name.map { $0 == "." || $0 == "_" ? "-" : $0 })
            func workflow(_ suffix: String, _ entry: [(String, JSONValue)]) -> JSONValue {
                var all = JSONObject([
                    ("trigger", ["event": .string(name)]), ("reentry", "every_time"),
                ])
                for (key, value) in entry { all[key] = value }
                return [
                    "dsl": 1, "id": .string("\(id)-\(suffix)"), "kind": "journey",
                    "entry": .object(all), "start": "rest",
                    "steps": ["rest": ["type": "delay", "for": "P1D", "next": "end"]],
                ]
            }
            definitions.append(workflow("keyed", [("key", ["ref": "/event/product_id"])]))
            definitions.append(
                workflow("some", [("where", ["eq": [["ref": "/event/store"], "app_store"]])]))
        }
        return try DefinitionSet(reading: definitions)
    }

    /// - Returns: a sentence for the first order that ends otherwise than the first one.
    private func difference(in set: FactSet, seed: UInt64) throws -> String? {
        var random = SeededGenerator(seed: seed)
        let definitions = try workflows(
            for: Set(set.events.map(\.name).filter { !$0.hasPrefix("connector.") }))
        var expected: OrderOutcome?
        // Two or three events have not so many orders, repeats included.
        let orders = [1, 1, 12, 40][min(set.events.count, 3)]
        for number in 0..<(set.events.count > 3 ? Self.orders : orders) {
            let order = OrderOutcome.order(of: set.events.count, &random)
            let outcome = try OrderOutcome.play(set, order, definitions, &random)
            guard let first = expected else {
                expected = outcome
                continue
            }
            if outcome != first {
                return
                    "seed=\(seed), \(set.name), order \(number) \(order): \(outcome) is not \(first)"
            }
        }
        return nil
    }

    // S5.5
    @Test func `what providers' fixtures tell of a customer ends the same in every order`() throws {
        let sets = try Self.fixtures()
        if Conformance.folder("providers/fixtures") != nil { #expect(sets.count > 10) }
        let seed = UInt64.random(in: 1...999_999)
        print("seed=\(seed), \(sets.count) customers")
        for set in sets {
            let found = try difference(in: set, seed: seed)
            #expect(found == nil, "\(found ?? "")")
        }
    }

    // S5.5
    @Test func `whatever happens to a subscription ends the same in every order`() throws {
        let seed = UInt64.random(in: 1...999_999)
        print("seed=\(seed)")
        var random = SeededGenerator(seed: seed)
        let provider = try #require(ProviderDefinition.shipped(named: "revenuecat"))
        let connector = try FactSet.connector(provider)
        for number in 0..<4 {
            var set = FactSet(name: "generated \(number)", connector: connector)
            for place in 0..<Int.random(in: 4...Self.most, using: &random) {
                set.add(Self.body(place, &random), id: "g\(place)")
            }
            let found = try difference(in: set, seed: seed)
            #expect(found == nil, "\(found ?? "")")
        }
    }

    // MARK: Sets

    private static let types = [
        "INITIAL_PURCHASE", "RENEWAL", "CANCELLATION", "UNCANCELLATION", "BILLING_ISSUE",
        "EXPIRATION", "PRODUCT_CHANGE", "SUBSCRIPTION_PAUSED", "SUBSCRIPTION_EXTENDED",
        "REFUND_REVERSED",
    ]

    /// Times are few, so that rank and id decide as often as the time.
    private static func body(_ place: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let reasons = ["UNSUBSCRIBE", "BILLING_ERROR", "CUSTOMER_SUPPORT"]
        let event: JSONValue = [
            "id": .string("g\(place)"), "app_user_id": "ada", "environment": "PRODUCTION",
            "type": .string(types.randomElement(using: &random) ?? "RENEWAL"),
            "event_timestamp_ms": .integer(
                1_767_225_600_000 + Int64.random(in: 0...3, using: &random) * 60_000),
            "original_transaction_id": .string(random.chance(80) ? "t1" : "t2"),
            "product_id": .string(random.chance(70) ? "pro" : "max"),
            "new_product_id": "max", "period_type": .string(random.chance(30) ? "TRIAL" : "NORMAL"),
            "cancel_reason": .string(reasons.randomElement(using: &random) ?? "UNSUBSCRIBE"),
            "expiration_at_ms": .integer(1_769_904_000_000 + Int64(place)),
            "store": .string(random.chance(50) ? "APP_STORE" : "PLAY_STORE"),
        ]
        let body: JSONValue = ["event": event]
        return body.bytes
    }

    /// The public fixtures by provider and customer, two events at least, each under its file's name. A time
    /// that had to be clamped is left out: it is the one exception.
    private static func fixtures() throws -> [FactSet] {
        guard let root = Conformance.folder("providers/fixtures") else { return [] }
        var sets: [FactSet] = []
        for provider in ProviderDefinition.shipped {
            let connector = try FactSet.connector(provider)
            var byCustomer: [String: FactSet] = [:]
            let top = "\(root)/\(provider.name)"
            for folder in [top] + Conformance.names(in: top).map({ "\(top)/\($0)" }) {
                for name in Conformance.names(in: folder) where name.hasSuffix(".json") {
                    guard let body = Conformance.bytes(of: "\(folder)/\(name)") else { continue }
                    let event = connector.event(
                        body: body, receivedAt: FactSet.receivedAt, providerEventID: name)
                    let customer =
                        event.person.id ?? event.properties["subscription_key"]?.string ?? "-"
                    let known = byCustomer[customer]
                    var set =
                        known ?? FactSet(name: "\(provider.name) \(customer)", connector: connector)
                    set.add(body, id: name)
                    byCustomer[customer] = set
                }
            }
            for var set in byCustomer.values {
                set.keep { !$0.isClamped && $0.name != "connector.unreadable" }
                sets += set.parts(of: most).filter { $0.events.count > 1 }
            }
        }
        return sets.sorted { $0.name < $1.name }
    }
}
