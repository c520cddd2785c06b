import Connectors
import JSON
import JourneyModel
import Testing
import TimeZones

struct ProviderFixtureTests {
    /// After every fixture's time but that of the transfer, which lies in the year 4466.
    private let receivedAt = Instant(milliseconds: 1_796_000_000_000)
    private let unstated = "unstated"

    @Test(arguments: [
        ("revenuecat", ExpectedCount(selection: 46, whole: 80)),
        ("superwall", ExpectedCount(selection: 13, whole: 29)),
        ("stripe", ExpectedCount(selection: 22, whole: 43)),
        ("apple", ExpectedCount(selection: 30, whole: 50)),
        ("google", ExpectedCount(selection: 16, whole: 31)),
        ("adapty", ExpectedCount(selection: 9, whole: 19)),
        ("paddle", ExpectedCount(selection: 12, whole: 16)),
        ("lemonsqueezy", ExpectedCount(selection: 5, whole: 7)),
        ("chargebee", ExpectedCount(selection: 3, whole: 7)),
        ("qonversion", ExpectedCount(selection: 1, whole: 1)),
        ("purchasely", ExpectedCount(selection: 0, whole: 1)),
    ])
    func `every fixture of a provider becomes the expected event`(
        provider: String, count: ExpectedCount
    ) throws {
        guard let folder = ConformanceFolder() else { return }
        let rows = try #require(try folder.json("fixtures/index.json").array)
            .filter { $0["provider"]?.string == provider }
        let definition = try #require(ProviderDefinition.shipped(named: provider))
        let connector = try Connector(
            name: provider, provider: definition,
            authentication: [Authentication(scheme: .none, secrets: [])],
            unknownEnvironment: unstated, allowsUnauthenticated: true)
        for row in rows {
            let file = try #require(row["file"]?.string)
            let body = try folder.bytes("fixtures/" + file)
            guard let expected = row["expect"] else {
                checkStored(body, connector, file)
                continue
            }
            if expected["accepted"]?.bool == false {
                checkStored(body, connector, file)
            } else {
                try check(body, connector, expected, file)
            }
        }
        print("\(provider): \(rows.count) fixtures checked")
        #expect(count.admits(rows.count))
    }

    /// The collection asks for a refusal of authenticated bodies that cannot be read. The product's
    /// contract wins: only what is not one JSON object in UTF-8 is answered with 400, and everything
    /// else is stored and told, at least as `connector.unreadable`.
    private func checkStored(_ body: [UInt8], _ connector: Connector, _ file: String) {
        let event = connector.event(body: body, receivedAt: receivedAt, providerEventID: "x")
        switch DeliveredBody(body) {
        case .object(let value, _):
            let id = Connector.deduplicationID(connector.envelope(of: value), body: body)
            #expect(!id.isEmpty, "\(file)")
            let shown = ["connector.unreadable", "connector.unknown", "connector.test"]
            let isKnown = Vocabulary.outcome(named: event.name) != nil
            #expect(shown.contains(event.name) || isKnown, "\(file)")
        case .tooDeep, .refused:
            #expect(event.name == "connector.unreadable", "\(file)")
            #expect(event.notes.count == 1, "\(file)")
        }
    }

    private func check(
        _ body: [UInt8], _ connector: Connector, _ expected: JSONValue, _ file: String
    ) throws {
        guard case .object(let value, _) = DeliveredBody(body) else {
            Issue.record("\(file) is not one JSON object")
            return
        }
        let envelope = connector.envelope(of: value)
        let id = Connector.deduplicationID(envelope, body: body)
        let event = connector.event(body: body, receivedAt: receivedAt, providerEventID: id)
        #expect(event.name == expected["outcome"]?.string, "\(file)")
        // Where the provider gives no id the collection writes the body's digest as sha256:….
        let wanted = expected["event_id"]?.string.map { $0.split(separator: ":").last ?? "" }
        #expect(
            id == expected["event_id"]?.string || id == wanted.map(String.init) ?? "", "\(file)")
        if let type = expected["provider_type"] {
            #expect(event.providerType == type.string, "\(file)")
        }
        #expect(
            envelope.occurredAt?.milliseconds == expected["occurred_at_ms"]?.integer, "\(file)")
        let environment = expected["environment"]?.string ?? unstated
        #expect(envelope.environment == environment, "\(file)")
        #expect(event.environment == environment, "\(file)")
        #expect(event.person == envelope.person, "\(file)")
        checkPerson(event.person, expected, file)
        checkTime(event, expected, file)
        checkProperties(event.properties, expected, file)
    }

    /// The collection leaves out what does not matter for a provider.
    private func checkPerson(_ person: Event.Person, _ expected: JSONValue, _ file: String) {
        if let listed = expected["customer_ids"]?.array {
            let ids = Set([person.id].compactMap { $0 } + person.aliases)
            #expect(ids == Set(listed.compactMap(\.string)), "\(file)")
        }
        if let id = expected["customer_id"] { #expect(person.id == id.string, "\(file)") }
        #expect(person.isAnonymous == expected["anonymous"]?.bool ?? false, "\(file)")
    }

    private func checkTime(_ event: Event, _ expected: JSONValue, _ file: String) {
        guard let stated = expected["occurred_at_ms"]?.integer else { return }
        let isAhead = stated > receivedAt.milliseconds + 86_400_000
        #expect(event.isClamped == isAhead, "\(file)")
        let taken = isAhead ? receivedAt.milliseconds : stated
        #expect(event.occurredAt.milliseconds == taken, "\(file)")
    }

    private func checkProperties(
        _ properties: JSONObject, _ expected: JSONValue, _ file: String
    ) {
        let words = [
            ("store", "store"), ("product_id", "product_id"), ("new_product_id", "new_product_id"),
            ("transaction_id", "transaction_id"),
            ("original_transaction_id", "original_transaction_id"), ("period_type", "period"),
            ("reason", "reason"), ("subscription_key", "subscription_id"),
            ("subscription_key", "purchase_token"), ("purchase_token", "purchase_token"),
            ("transaction_id", "order_id"), ("provider_customer_id", "provider_customer_id"),
        ]
        for (property, key) in words {
            guard let wanted = expected[key] else { continue }
            #expect(properties[property]?.string == wanted.string, "\(file) \(property)")
        }
        if let flag = expected["is_family_share"] {
            #expect(properties["is_family_share"]?.bool == flag.bool, "\(file)")
        }
        if let flag = expected["partial"] {
            #expect(properties["is_partial"]?.bool == flag.bool, "\(file)")
        }
        for (property, key) in [("price_usd", "price_usd"), ("price", "price_local")] {
            guard let amount = expected[key] else { continue }
            #expect(properties[property]?["amount"]?.string == amount.string, "\(file)")
        }
        if let dollars = properties["price_usd"] {
            #expect(dollars["currency"]?.string == "USD", "\(file)")
        }
        if let price = properties["price"], let currency = expected["currency"]?.string {
            #expect(price["currency"]?.string == currency, "\(file)")
        }
        for key in ["transferred_from", "transferred_to"] {
            guard let wanted = expected[key] else { continue }
            #expect(properties[key] == wanted, "\(file) \(key)")
        }
    }
}
