import Connectors
import JSON
import JourneyModel
import Testing
import TimeZones

struct ProviderDefinitionTests {
    private let minimal: JSONValue = [
        "provider": "acme", "title": "Acme", "version": 3, "object": "/data", "id": "/id",
        "type": ["/type", "/kind"],
        "authenticate": ["schemes": ["bearer"], "usual": "bearer"],
        "time": [["at": "/at", "as": "rfc3339"], ["at": "/s", "as": "s"]],
        "environment": ["at": "/mode", "values": ["live": "production"]],
        "customer": ["ids": [["at": "/user"]]],
        "properties": ["price": ["at": "/amount", "as": "money", "currency": "USD"]],
        "rules": [
            ["when": ["/type": ["paid", "bought", 7, true]], "outcome": "purchase.completed"]
        ],
    ]

    private func parse(_ value: JSONValue) throws -> ProviderDefinition {
        try ProviderDefinition(parsing: value.bytes)
    }

    @Test func `every shipped definition can be read and printed`() throws {
        #expect(
            ProviderDefinition.shipped.map(\.name) == [
                "revenuecat", "superwall", "stripe", "apple", "google", "adapty", "paddle",
                "lemonsqueezy", "chargebee", "qonversion", "purchasely", "standard-webhooks",
                "json",
            ])
        for definition in ProviderDefinition.shipped {
            #expect(try parse(definition.source) == definition)
            #expect(definition.outcomes.allSatisfy { Vocabulary.outcome(named: $0) != nil })
        }
        #expect(ProviderDefinition.shipped(named: "acme") == nil)
    }

    @Test func `the mapping's version changes with every change of the definition`() throws {
        let first = try parse(minimal)
        #expect(first.mappingVersion.hasPrefix("3:"))
        #expect(first.mappingVersion.count == 14)
        let second = try parse(minimal.setting("/title", to: "Acme Corporation"))
        #expect(first.mappingVersion != second.mappingVersion)
    }

    @Test func `a definition of one's own maps times, words and lists`() throws {
        let connector = try Connector(
            name: "acme", provider: try parse(minimal),
            authentication: [Authentication(scheme: .bearer, secrets: [SharedSecret("abcdefgh")])])
        for type in ["\"paid\"", "\"bought\"", "7", "7.0"] {
            let text =
                "{\"kind\": \"x\", \"type\": \(type), \"at\": \"2026-03-01T10:00:00+02:00\", "
                + "\"data\": {}, \"mode\": \"live\", \"user\": 12, \"amount\": \"1e1\"}"
            let event = connector.event(
                body: Array(text.utf8), receivedAt: World.receivedAt, providerEventID: "1")
            #expect(event.name == "purchase.completed", "\(type)")
            #expect(event.occurredAt.description == "2026-03-01T08:00:00.000Z")
            #expect(event.person.id == "12")
            #expect(event.environment == "production")
            #expect(event.properties["price"] == ["amount": "10", "currency": "USD"])
        }
        let seconds = "{\"kind\": \"x\", \"s\": \"1770000000.25\", \"data\": {}}"
        let event = connector.event(
            body: Array(seconds.utf8), receivedAt: World.receivedAt, providerEventID: "1")
        #expect(event.occurredAt.milliseconds == 1_770_000_000_250)
        #expect(event.name == "connector.unknown")
        #expect(event.providerType == "x")
    }

    private static let wrong: [(String, JSONValue?, String)] = [
        ("/colour", "red", "/colour"), ("/provider", "Acme!", "/provider"),
        ("/provider", nil, "/provider"), ("/title", 1, "/title"), ("/version", 0, "/version"),
        ("/version", "1", "/version"), ("/object", "data", "/object"), ("/id", [], "/id"),
        ("/type", ["/a", "b"], "/type/1"), ("/time", [], "/time"),
        ("/time", [["at": "/a", "as": "days"]], "/time/0/as"),
        ("/authenticate/schemes", ["magic"], "/authenticate/schemes/0"),
        ("/authenticate/usual", "basic", "/authenticate/usual"),
        ("/environment/values", nil, "/environment/values"),
        ("/environment/values", ["live": 1], "/environment/values/live"),
        ("/customer/ids", [["from": "/a"]], "/customer/ids/0/from"),
        ("/customer/anonymous_prefixes", [""], "/customer/anonymous_prefixes/0"),
        ("/properties/price/as", "decimal", "/properties/price/as"),
        ("/properties/price/currency", nil, "/properties/price/currency"),
        ("/properties/price/currency", "euro", "/properties/price/currency"),
        ("/properties/raw", ["at": "/a", "as": "text"], "/properties/raw"),
        ("/properties/s", ["at": "/s", "as": "text", "values": [:]], "/properties/s/values"),
        ("/properties/s", ["at": "/s", "as": "word", "only": 1], "/properties/s/only"),
        ("/properties/s", ["at": "/s", "as": ["text", "s"]], "/properties/s/as"),
        ("/properties/s", ["as": "constant"], "/properties/s/value"),
        ("/properties/s", ["at": ["format": "{a}"], "as": "text"], "/properties/s/at/format"),
        ("/properties/s", ["at": ["format": "a{/b"], "as": "text"], "/properties/s/at/format"),
        (
            "/properties/s", ["at": ["format": "a{/b}", "at": "/c"], "as": "text"],
            "/properties/s/at/at"
        ),
        ("/decode", [["at": "/a", "as": "rot13"]], "/decode/0/as"),
        ("/decode", [["at": "a", "as": "jws"]], "/decode/0/at"),
        ("/exponents", ["EUR": 9], "/exponents/EUR"),
        ("/exponents", ["euro": 2], "/exponents/euro"),
        ("/attributes", [1], "/attributes"),
        ("/attributes", ["email": ["at": "/a", "as": "mail"]], "/attributes/email/as"),
        ("/attributes", ["*": ["names": [:]]], "/attributes/*/at"),
        ("/attributes", ["*": ["at": "/a", "names": ["x": 1]]], "/attributes/*/names/x"),
        ("/extends", "nobody", "/extends"), ("/extends", 1, "/extends"),
        ("/rules", [["when": [:], "outcome": ["at": "x"]]], "/rules/0/outcome/at"),
        (
            "/rules", [["when": ["/a": ["not": []]], "outcome": "connector.test"]],
            "/rules/0/when/~1a"
        ),
        (
            "/properties/store", ["at": "/s", "as": "text", "currency": "USD"],
            "/properties/store/currency"
        ),
        ("/rules", [], "/rules"), ("/rules", [["when": [:]]], "/rules/0/outcome"),
        ("/rules", [["outcome": "connector.test"]], "/rules/0/when"),
        ("/rules", [["when": [:], "outcome": "trial.begun"]], "/rules/0/outcome"),
        ("/rules", [["when": ["type": "a"], "outcome": "connector.test"]], "/rules/0/when/type"),
        ("/rules", [["when": ["/a": nil], "outcome": "connector.test"]], "/rules/0/when/~1a"),
        (
            "/rules", [["when": ["/a": ["exists": 1]], "outcome": "connector.test"]],
            "/rules/0/when/~1a"
        ),
        (
            "/rules", [["when": ["/a": ["lt": "5"]], "outcome": "connector.test"]],
            "/rules/0/when/~1a"
        ),
        (
            "/rules", [["when": ["/a": [["b"]]], "outcome": "connector.test"]],
            "/rules/0/when/~1a/0"
        ),
    ]

    @Test(arguments: wrong)
    func `a wrong definition is refused at its place`(
        pointer: String, value: JSONValue?, place: String
    ) throws {
        let error = #expect(throws: ProviderDefinitionError.self) {
            _ = try parse(minimal.setting(pointer, to: value))
        }
        let places = error?.problems.map(\.pointer.description) ?? []
        #expect(places.contains(place), "\(error?.description ?? "")")
    }

    @Test func `everything wrong is told at once`() throws {
        let error = #expect(throws: ProviderDefinitionError.self) {
            _ = try ProviderDefinition(parsing: Array("{\"provider\": \"acme\"}".utf8))
        }
        #expect(error?.problems.count ?? 0 > 8)
        #expect(throws: ProviderDefinitionError.self) {
            _ = try ProviderDefinition(parsing: Array("{\"provider\": ".utf8))
        }
        #expect(throws: ProviderDefinitionError.self) {
            _ = try ProviderDefinition(parsing: Array("[]".utf8))
        }
    }
}
