import Connectors
import JSON
import JourneyModel
import Testing
import TimeZones

/// What a definition can say, over a fictional provider.
struct DefinitionLanguageTests {
    private let base: JSONValue = [
        "provider": "acme", "title": "Acme", "version": 1, "object": "", "type": "/type",
        "authenticate": ["schemes": ["bearer"], "usual": "bearer"],
        "time": [["at": "/at", "as": ["s", "rfc3339"]]], "customer": ["ids": [["at": "/user"]]],
        "properties": [:], "rules": [["when": ["/type": "paid"], "outcome": "purchase.completed"]],
    ]

    private func event(
        _ changes: [(String, JSONValue)], _ body: String
    ) throws -> Event {
        let definition = try ProviderDefinition(
            parsing: changes.reduce(base) { $0.setting($1.0, to: $1.1) }.bytes)
        let connector = try Connector(
            name: "acme", provider: definition,
            authentication: [Authentication(scheme: .none, secrets: [])],
            allowsUnauthenticated: true)
        return connector.event(
            body: Array(body.utf8), receivedAt: World.receivedAt, providerEventID: "1")
    }

    @Test(arguments: [
        ("999", "USD", "9.99"), ("-999", "USD", "-9.99"), ("\"999\"", "usd", "9.99"),
        ("999", "JPY", "999"), ("1000", "BHD", "1"), ("1005", "BHD", "1.005"), ("5", "EUR", "0.05"),
        ("-5", "EUR", "-0.05"), ("0", "EUR", "0"), ("12345", "CLF", "1.2345"),
        ("1.5", "EUR", "0.015"),
        ("999", "ISK", "9.99"), ("1e3", "EUR", "10"),
        ("\"79228162514264337593543950335\"", "USD", "792281625142643375935439503.35"),
    ])
    func `amounts in the smallest unit are moved by the currency's decimal places`(
        amount: String, currency: String, expected: String
    ) throws {
        let event = try event(
            [
                (
                    "/properties/price",
                    [
                        "at": ["/none", "/amount"], "as": "money-minor",
                        "currency": ["/no", "/code"],
                    ]
                ), ("/exponents", ["ISK": 2]),
            ], "{\"type\": \"paid\", \"amount\": \(amount), \"code\": \"\(currency)\"}")
        #expect(
            event.properties["price"]
                == ["amount": .string(expected), "currency": .string(currency.uppercased())])
    }

    @Test func `thousandths, millionths and decimals are amounts too`() throws {
        for (kind, amount) in [
            ("money-thousandths", "4.5"), ("money-millionths", "0.0045"), ("money", "4500"),
        ] {
            let event = try event(
                [("/properties/price", ["at": "/a", "as": .string(kind), "currency": "EUR"])],
                "{\"type\": \"paid\", \"a\": 4500}")
            #expect(event.properties["price"]?["amount"]?.string == amount, "\(kind)")
        }
        let unknown = try event(
            [("/properties/price", ["at": "/a", "as": "money-minor", "currency": "/c"])],
            "{\"type\": \"paid\", \"a\": 4500, \"c\": \"points\"}")
        #expect(unknown.properties["price"] == nil)
        #expect(unknown.notes.contains { $0.contains("POINTS, which is no currency") })
    }

    @Test(arguments: [
        ("1770000000", 1_770_000_000_000), ("\"1770000000\"", 1_770_000_000_000),
        ("1770000000.999", 1_770_000_000_999), ("\"2026-02-02T02:40:00Z\"", 1_770_000_000_000),
        ("\"2026-02-02T02:40:00.123456789Z\"", 1_770_000_000_123),
        ("\"2026-02-02T02:40:00.000000+0000\"", 1_770_000_000_000),
        ("\"2026-02-02T04:40:00+0200\"", 1_770_000_000_000),
    ])
    func `a time is read by the first unit that can`(text: String, milliseconds: Int) throws {
        let event = try event([], "{\"type\": \"paid\", \"at\": \(text)}")
        #expect(event.occurredAt.milliseconds == Int64(milliseconds))
    }

    @Test func `microseconds and nanoseconds are cut to milliseconds`() throws {
        for (unit, text) in [("us", "1770000000123456"), ("ns", "\"1770000000123456789\"")] {
            let event = try event(
                [("/time", [["at": "/at", "as": .string(unit)]])],
                "{\"type\": \"paid\", \"at\": \(text)}")
            #expect(event.occurredAt.milliseconds == 1_770_000_000_123)
        }
        #expect(
            try event([], "{\"type\": \"paid\", \"at\": \"+0000\"}").name == "connector.unreadable")
    }

    @Test func `JSON inside texts is opened in the order of the steps`() throws {
        let inner = "{\\\"deep\\\": \\\"eyJpZCI6ICJ1LTEifQ==\\\", \\\"kind\\\": \\\"paid\\\"}"
        let event = try event(
            [
                (
                    "/decode",
                    [["at": "/data", "as": "json"], ["at": "/data/deep", "as": "base64-json"]]
                ),
                ("/type", ["/data/kind"]), ("/customer", ["ids": [["at": "/data/deep/id"]]]),
                ("/rules", [["when": ["/data/kind": "paid"], "outcome": "purchase.completed"]]),
            ], "{\"data\": \"\(inner)\"}")
        #expect(event.name == "purchase.completed")
        #expect(event.person.id == "u-1")
        #expect(event.raw["data"]?["deep"]?["id"] == "u-1")
    }

    @Test func `a text that cannot be opened stays and is noted`() throws {
        for text in ["\"%%%\"", "\"e30\"", "\"bm8=\"", "7", "null"] {
            let event = try event(
                [("/decode", [["at": "/data", "as": "base64-json"]])],
                "{\"type\": \"paid\", \"data\": \(text)}")
            #expect(event.name == "purchase.completed")
            let isNoted = event.notes.contains { $0.contains("/data could not be decoded") }
            #expect(isNoted == ["\"%%%\"", "\"bm8=\""].contains(text), "\(text)")
        }
    }

    @Test func `a form is filled by pointers, and absent where one finds nothing`() throws {
        let changes: [(String, JSONValue)] = [
            (
                "/type",
                [["format": "order.{/status}:{/n}"], ["format": "other", "when": ["/o": true]]]
            )
        ]
        #expect(
            try event(changes, "{\"status\": \"paid\", \"n\": 7}").providerType == "order.paid:7")
        #expect(try event(changes, "{\"status\": \"paid\", \"o\": true}").providerType == "other")
        #expect(try event(changes, "{\"status\": \"\"}").properties["reason"] == "no_type")
    }

    @Test func `conditions know absence, lists, bounds and their opposites`() throws {
        func outcome(_ condition: JSONValue, _ value: String) throws -> Bool {
            let event = try event(
                [("/rules", [["when": ["/v": condition], "outcome": "purchase.completed"]])],
                "{\"type\": \"x\", \"v\": \(value)}")
            return event.name == "purchase.completed"
        }
        #expect(try outcome(["gt": 0], "0.1"))
        #expect(try !outcome(["gt": 0], "0"))
        #expect(try !outcome(["gt": 0], "\"1\""))
        #expect(try outcome(["not": "a"], "\"b\""))
        #expect(try outcome(["not": ["a", 1]], "null"))
        #expect(try !outcome(["not": ["a", 1]], "1.0"))
        #expect(try outcome(["exists": true], "{}"))
        #expect(try !outcome(["exists": true], "\" \""))
    }

    @Test func `words come from a table, and a closed table lets no others through`() throws {
        let open: JSONValue = ["at": "/s", "as": "word", "values": ["APPLE": "app_store"]]
        func store(_ field: JSONValue, _ word: String) throws -> String? {
            try event([("/properties/store", field)], "{\"type\": \"x\", \"s\": \"\(word)\"}")
                .properties["store"]?.string
        }
        #expect(try store(open, "APPLE") == "app_store")
        #expect(try store(open, "Other") == "other")
        let closed = open.setting("/only", to: true)
        #expect(try store(closed, "Other") == nil)
        #expect(try store(closed, "APPLE") == "app_store")
        let whether: JSONValue = ["at": "/s", "as": "boolean", "true": ["SHARED"]]
        let flags = try ["SHARED", "OWNED"].map { word in
            try event([("/properties/f", whether)], "{\"type\": \"x\", \"s\": \"\(word)\"}")
                .properties["f"]?.bool
        }
        #expect(flags == [true, false])
        let constant: JSONValue = ["as": "constant", "value": 5, "when": ["/s": "a"]]
        #expect(
            try event([("/properties/c", constant)], "{\"type\":\"x\",\"s\":\"a\"}").properties["c"]
                == 5)
        #expect(try event([("/properties/c", constant)], "{\"type\":\"x\"}").properties["c"] == nil)
    }

    @Test func `a body may name its outcome, but never what the product says of deliveries`() throws
    {
        let rules: (String, JSONValue) = ("/rules", [["when": [:], "outcome": ["at": "/type"]]])
        for (type, outcome) in [
            ("subscription.renewed", "subscription.renewed"), ("connector.test", "connector.test"),
            ("connector.unreadable", "connector.unknown"), ("order.shipped", "connector.unknown"),
        ] {
            #expect(try event([rules], "{\"type\": \"\(type)\"}").name == outcome)
        }
    }

    @Test func `a body without a type is a handshake only where a rule says so`() throws {
        let adapty = try World.connector("adapty")
        let event = adapty.event(
            body: Array("{}".utf8), receivedAt: World.receivedAt, providerEventID: "1")
        #expect(event.name == "connector.handshake")
        #expect(try self.event([], "{}").name == "connector.unreadable")
    }

    @Test func `attributes ride on the event, each with the time it was set`() throws {
        let body = """
            {"event": {"id": "1", "type": "TEST", "subscriber_attributes": {
              "$email": {"value": "a@example.com", "updated_at_ms": 1770000000000},
              "$phoneNumber": {"value": "", "updated_at_ms": 1770000000001},
              "$fcmTokens": {"value": "one, two", "updated_at_ms": "x"},
              "$idfa": {"value": "private"}, "colour": {"value": "red"}, "level": {"value": 3},
              "list": {"value": [1]}}}}
            """
        let event = try World.connector("revenuecat").event(
            body: Array(body.utf8), receivedAt: World.receivedAt, providerEventID: "1")
        #expect(
            event.properties["attributes"] == [
                "email": "a@example.com", "phone": nil, "push_tokens": ["one", "two"],
                "colour": "red", "level": 3,
            ])
        #expect(
            event.properties["attribute_times"] == [
                "email": "2026-02-02T02:40:00.000Z", "phone": "2026-02-02T02:40:00.001Z",
            ])
        #expect(event.notes.contains { $0.hasPrefix("1 attributes past 50") })
    }

    @Test func `of a hundred attributes fifty are read and the others counted`() throws {
        let many = (0..<100).map { "\"a\($0)\": \($0)" }.joined(separator: ", ")
        let event = try event(
            [("/attributes", ["*": ["at": "/attributes"]])],
            "{\"type\": \"x\", \"attributes\": {\(many)}}")
        #expect(event.properties["attributes"]?.object?.count == 50)
        #expect(event.notes.contains { $0.hasPrefix("50 attributes past 50") })
    }

    @Test func `a definition laid over another adds rules in front and keeps the rest`() throws {
        let text = """
            {"extends": "adapty", "provider": "adapty", "version": 7,
             "properties": {"reason": null, "shop": {"as": "constant", "value": "blue"}},
             "rules": [{"when": {"/event_type": "our_trial"}, "outcome": "trial.started"}]}
            """
        let definition = try ProviderDefinition(parsing: Array(text.utf8))
        #expect(definition.title == "Adapty")
        #expect(definition.mappingVersion.hasPrefix("7:"))
        let connector = try Connector(
            name: "a", provider: definition,
            authentication: [Authentication(scheme: .none, secrets: [])],
            allowsUnauthenticated: true)
        for (type, outcome) in [
            ("our_trial", "trial.started"), ("trial_converted", "trial.converted"),
        ] {
            let body =
                "{\"event_type\": \"\(type)\", \"event_properties\": {\"cancellation_reason\": \"x\"}}"
            let event = connector.event(
                body: Array(body.utf8), receivedAt: World.receivedAt, providerEventID: "1")
            #expect(event.name == outcome)
            #expect(event.properties["shop"] == "blue")
            #expect(event.properties["reason"] == nil)
        }
    }
}
