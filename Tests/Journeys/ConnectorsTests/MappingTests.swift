import Connectors
import JSON
import JourneyModel
import Testing
import TimeZones

struct MappingTests {
    private static let shared: [(String, String)] = [
        ("revenuecat/trial-started", "trial.started"),
        ("revenuecat/trial-converted", "trial.converted"),
        ("revenuecat/billing-issue", "subscription.billing_issue"),
        ("revenuecat/cancelled-billing-error", "subscription.cancelled"),
        ("revenuecat/cancelled", "subscription.cancelled"),
        ("revenuecat/refunded", "subscription.refunded"),
        ("revenuecat/expired", "subscription.expired"),
        ("revenuecat/transfer", "customer.transferred"), ("revenuecat/test", "connector.test"),
        ("superwall/subscription-started", "subscription.started"),
        ("superwall/renewed", "subscription.renewed"),
        ("superwall/cancelled", "subscription.cancelled"),
        ("superwall/refunded", "subscription.refunded"),
        ("superwall/trial-started", "trial.started"),
        ("superwall/trial-converted", "trial.converted"),
    ]

    @Test(arguments: shared)
    func `the story's webhooks tell their outcomes`(webhook: String, outcome: String) throws {
        let provider = String(webhook.prefix { $0 != "/" })
        let event = try World.connector(provider).event(
            body: try World.webhook(webhook), receivedAt: Instant.latest, providerEventID: "1")
        #expect(event.name == outcome)
        #expect(event.notes.isEmpty)
        #expect(!event.isClamped)
    }

    /// A body that satisfies just the rule's own clauses must reach that rule and no earlier one.
    @Test(arguments: ["revenuecat", "superwall"])
    func `every rule is reached by some body`(provider: String) throws {
        let connector = try World.connector(provider)
        let rules = try #require(connector.provider.source["rules"]?.array)
        for (index, rule) in rules.enumerated() {
            var body: JSONValue =
                provider == "revenuecat"
                ? ["event": ["id": "r", "type": "ANY", "event_timestamp_ms": 1_770_000_000_000]]
                : ["data": ["id": "r", "ts": 1_770_000_000_000], "type": "any"]
            for (pointer, condition) in try #require(rule["when"]?.object) {
                body = body.setting(pointer, to: try witness(of: condition))
            }
            // What later rules of the same type look at is there as well, so that order matters.
            for place in ["/event/expiration_at_ms", "/data/expirationAt"]
            where place.hasPrefix(provider == "revenuecat" ? "/event" : "/data")
                && rule["when"]?[place] == nil
            {
                body = body.setting(place, to: 1_780_000_000_000)
            }
            let event = connector.event(
                body: body.bytes, receivedAt: World.receivedAt, providerEventID: "r")
            #expect(event.name == rule["outcome"]?.string, "\(provider) rule \(index)")
        }
        print("\(provider): \(rules.count) rules reached")
        #expect(rules.count == (provider == "revenuecat" ? 37 : 19))
    }

    private func witness(of condition: JSONValue) throws -> JSONValue? {
        guard let object = condition.object else { return condition.array?.first ?? condition }
        if let flag = object["exists"]?.bool { return flag ? ["there"] : nil }
        let bound = try #require(object["lt"]?.integer)
        return .integer(bound - 1)
    }

    @Test func `a trial start carries exactly the documented properties`() throws {
        let event = try World.connector("revenuecat").event(
            body: try World.webhook("revenuecat/trial-started"), receivedAt: World.receivedAt,
            providerEventID: "5d3b7c10-4a6e-4f0e-9b1c-000000000001")
        let expected: JSONValue = [
            "store": "app_store", "product_id": "example.pro.monthly", "period_type": "trial",
            "transaction_id": "310000000000101", "original_transaction_id": "310000000000101",
            "subscription_key": "310000000000101", "expires_at": "2026-03-09T09:00:00.000Z",
            "price": ["amount": "0", "currency": "EUR"],
            "price_usd": ["amount": "0", "currency": "USD"], "is_family_share": false,
            "attributes": ["email": "user-1042@example.com", "display_name": "Robin"],
            "attribute_times": [
                "email": "2026-03-02T08:58:00.000Z", "display_name": "2026-03-02T08:58:00.000Z",
            ],
        ]
        #expect(JSONValue.object(event.properties) == expected)
        #expect(event.providerType == "INITIAL_PURCHASE")
        #expect(event.providerApp == "app4f1c2d3e")
        #expect(event.trust == .provider)
        #expect(event.environment == "production")
        #expect(event.occurredAt.description == "2026-03-02T09:00:04.000Z")
        #expect(event.person.id == "user-1042")
        #expect(event.person.aliases == ["$RCAnonymousID:5f0c6b1de2a94c7cb8b1a0d3e4f56789"])
        #expect(!event.person.isAnonymous)
        #expect(event.raw["subscriber_attributes"]?["$displayName"]?["value"] == "Robin")
        #expect(
            event.id
                == Event.makeID(
                    connector: "revenuecat",
                    providerEventID: "5d3b7c10-4a6e-4f0e-9b1c-000000000001"))
        #expect(
            event.mappingVersion == ProviderDefinition.shipped(named: "revenuecat")?.mappingVersion)
    }

    @Test func `a billing issue carries the grace period and its price`() throws {
        let event = try World.connector("revenuecat").event(
            body: try World.webhook("revenuecat/billing-issue"), receivedAt: Instant.latest,
            providerEventID: "3")
        #expect(event.properties["grace_period_expires_at"] == "2026-04-25T09:00:00.000Z")
        #expect(event.properties["reason"] == nil)
    }

    @Test func `a transfer goes to the receiver and names both sides`() throws {
        let event = try World.connector("revenuecat").event(
            body: try World.webhook("revenuecat/transfer"), receivedAt: World.receivedAt,
            providerEventID: "8")
        #expect(event.person.id == "user-1055")
        #expect(event.person.aliases == ["$RCAnonymousID:0a1b2c3d4e5f60718293a4b5c6d7e8f9"])
        #expect(event.properties["transferred_from"] == ["user-1042"])
        #expect(event.properties["transferred_to"]?.array?.count == 2)
    }

    @Test func `a paywall event that calls itself TRANSFER moves nobody`() throws {
        let body: JSONValue = [
            "event": [
                "id": "p", "type": "TRANSFER", "event_timestamp_ms": 1_770_000_000_000,
                "paywall_id": "pw_1", "app_user_id": "user-1042", "transferred_to": ["user-1055"],
            ]
        ]
        let event = try World.connector("revenuecat").event(
            body: body.bytes, receivedAt: World.receivedAt, providerEventID: "p")
        #expect(event.name == "paywall.other")
        #expect(event.person.id == "user-1042")
    }

    @Test func `a web purchase belongs to who redeemed it`() throws {
        let body: JSONValue = [
            "event": [
                "id": "p", "type": "PURCHASE_REDEEMED", "event_timestamp_ms": 1_770_000_000_000,
                "redeemed_from": ["$RCAnonymousID:a"], "redeemed_by": ["user-1042"],
            ]
        ]
        let event = try World.connector("revenuecat").event(
            body: body.bytes, receivedAt: World.receivedAt, providerEventID: "p")
        #expect(event.name == "customer.redeemed")
        #expect(event.person.id == "user-1042")
        #expect(event.properties["redeemed_from"] == ["$RCAnonymousID:a"])
    }

    @Test func `types that disagree at Superwall are stored and do nothing`() throws {
        let body = try JSONParser.parse(try World.webhook("superwall/renewed"))
            .setting("/data/name", to: "expiration")
        let event = try World.connector("superwall").event(
            body: body.bytes, receivedAt: Instant.latest, providerEventID: "2")
        #expect(event.name == "connector.unknown")
        #expect(event.providerType == "renewal")
    }
}
