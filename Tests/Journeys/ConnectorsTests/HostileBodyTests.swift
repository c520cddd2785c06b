import Connectors
import JSON
import JourneyModel
import TestMaterial
import Testing
import TimeZones

struct HostileBodyTests {
    private func event(_ text: String) throws -> Event { try event(Array(text.utf8)) }

    private func event(_ body: [UInt8]) throws -> Event {
        try World.connector("revenuecat").event(
            body: body, receivedAt: World.receivedAt, providerEventID: "h")
    }

    private func renewal(_ members: String) throws -> Event {
        try event(
            "{\"event\": {\"id\": \"h\", \"type\": \"RENEWAL\", "
                + "\"event_timestamp_ms\": 1770000000000\(members)}}")
    }

    private static let unreadable: [(String, Connector.Unreadable)] = [
        ("", .notOneJSONObject), ("this is not json", .notOneJSONObject),
        ("[1,2,3]", .notOneJSONObject), ("null", .notOneJSONObject), ("{} {}", .notOneJSONObject),
        ("{\"event\": NaN}", .notOneJSONObject), ("{}", .noObject),
        ("{\"event\": null}", .noObject),
        ("{\"event\": [1]}", .noObject), ("{\"event\": {\"id\": \"x\"}}", .noType),
        ("{\"event\": {\"type\": \"\"}}", .noType), ("{\"event\": {\"type\": {}}}", .noType),
        ("{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": -1}}", .impossibleTime),
        ("{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": \"soon\"}}", .impossibleTime),
        ("{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": true}}", .impossibleTime),
        ("{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": 1e400}}", .impossibleTime),
        (
            "{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": 253402300800000}}",
            .impossibleTime
        ),
    ]

    @Test(arguments: unreadable)
    func `what no mapping can read is told with its reason`(
        text: String, reason: Connector.Unreadable
    ) throws {
        let event = try event(text)
        #expect(event.name == "connector.unreadable")
        #expect(event.properties["reason"] == .string(reason.rawValue))
        #expect(event.notes.count == 1)
        #expect(event.occurredAt == World.receivedAt)
        #expect(event.environment == "sandbox")
        #expect(event.providerEventID == "h")
    }

    @Test func `an unreadable event still tells its customer, environment and raw object`() throws {
        let event = try event(
            "{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": -1, "
                + "\"app_user_id\": \"user-1042\", \"environment\": \"PRODUCTION\"}}")
        #expect(event.person.id == "user-1042")
        #expect(event.environment == "production")
        #expect(event.providerType == "TEST")
        #expect(event.raw["event_timestamp_ms"] == -1)
    }

    @Test func `the edges of possible time are read`() throws {
        for (text, stated) in [("0", 0), ("253402300799999", 253_402_300_799_999), ("\"5\"", 5)] {
            let body = "{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": \(text)}}"
            let value = try JSONParser.parse(body)
            let envelope = try World.connector("revenuecat").envelope(of: value)
            #expect(envelope.occurredAt?.milliseconds == Int64(stated))
            #expect(try event(body).name == "connector.test")
        }
    }

    // S5.2 S5.1
    @Test func `a time over a day ahead is clamped and marked, a day is not`() throws {
        let edge = World.receivedAt.milliseconds + 86_400_000
        let body = { (time: Int64) in
            "{\"event\": {\"type\": \"TEST\", \"event_timestamp_ms\": \(time)}}"
        }
        let taken = try event(body(edge))
        #expect(!taken.isClamped)
        #expect(taken.occurredAt.milliseconds == edge)
        let clamped = try event(body(edge + 1))
        #expect(clamped.isClamped)
        #expect(clamped.occurredAt == World.receivedAt)
        #expect(clamped.notes == ["occurred_at was clamped from 2026-03-31T00:00:00.001Z"])
    }

    @Test func `an event without a time is told as of its receipt and marked`() throws {
        let event = try event("{\"event\": {\"id\": 42, \"type\": \"TEST\"}}")
        #expect(event.name == "connector.test")
        #expect(event.isClamped)
        #expect(event.occurredAt == World.receivedAt)
        #expect(event.notes.count == 1)
    }

    @Test func `NUL characters and halves of surrogate pairs are replaced and noted`() throws {
        let event = try renewal(
            ", \"product_id\": \"a\\u0000b\", \"x\": \"\\ud83d\", \"\\udc00k\": 1, \"y\": \"\\ud83d\\ude00\""
        )
        #expect(event.properties["product_id"] == "a\u{fffd}0000b")
        #expect(event.raw["x"] == "\u{fffd}d83d")
        #expect(event.raw["y"] == "😀")
        #expect(event.notes == ["3 characters were replaced by U+FFFD"])
        #expect(!event.raw.text.utf8.contains(0))
    }

    @Test func `of a key that stands twice the last counts`() throws {
        let event = try renewal(", \"type\": \"TEST\", \"store\": \"A\", \"store\": \"B\"")
        #expect(event.name == "connector.test")
        #expect(event.properties["store"] == "b")
        #expect(event.raw.object?.keys.filter { $0 == "store" }.count == 1)
    }

    @Test func `numbers of 300 digits survive and impossible ones become text`() throws {
        let digits = String(repeating: "7", count: 300)
        let event = try renewal(
            ", \"price\": \(digits).5, \"a\": 1e131072, \"b\": -1e-99999999999999999999, \"c\": 1E+1000"
        )
        #expect(event.properties["price_usd"]?["amount"]?.string == digits + ".5")
        #expect(event.raw["price"]?.number?.literal == digits + ".5")
        #expect(event.raw["a"] == "1e131072")
        #expect(event.raw["b"] == "-1e-99999999999999999999")
        #expect(event.raw["c"]?.number != nil)
        #expect(event.notes == ["2 numbers past PostgreSQL's range are kept as text"])
    }

    @Test func `prices stay decimal text in their shortest spelling`() throws {
        let spellings = [
            ("5.00", "5"), ("0.0", "0"), ("-0.0", "0"), ("-7.990", "-7.99"), ("79.401", "79.401"),
            ("1e2", "100"), ("1.5e-3", "0.0015"), ("0.1", "0.1"), ("100", "100"),
        ]
        for (literal, amount) in spellings {
            let event = try renewal(", \"price\": \(literal)")
            #expect(event.properties["price_usd"]?["amount"]?.string == amount, "\(literal)")
        }
    }

    @Test func `a property of a wrong kind is left out and noted`() throws {
        let event = try renewal(
            ", \"store\": {}, \"is_family_share\": \"yes\", \"expiration_at_ms\": -5, "
                + "\"price\": \"much\", \"price_in_purchased_currency\": 1, \"currency\": null")
        #expect(event.name == "subscription.renewed")
        #expect(event.properties.isEmpty)
        #expect(event.notes.count == 5)
    }

    @Test func `empty texts and nulls are absent properties`() throws {
        let event = try renewal(
            ", \"store\": \"\", \"product_id\": null, \"transaction_id\": \" \", \"price\": null")
        #expect(event.properties.isEmpty)
        #expect(event.notes.isEmpty)
    }

    @Test func `a transaction id may be a number`() throws {
        let event = try renewal(", \"transaction_id\": 310000000000102")
        #expect(event.properties["transaction_id"] == "310000000000102")
    }

    @Test func `invalid UTF-8 is refused by the request and told by the event`() throws {
        let body = Array("{\"event\": {\"type\": \"".utf8) + [0xff, 0xc0] + Array("\"}}".utf8)
        guard case .refused = DeliveredBody(body) else {
            Issue.record("was read")
            return
        }
        #expect(try event(body).properties["reason"] == "not_one_json_object")
        guard case .refused = DeliveredBody([0xef, 0xbb, 0xbf] + Array("{}".utf8)) else {
            Issue.record("a byte order mark was read")
            return
        }
    }

    @Test func `a body nested past the bound is kept, and a list so nested is refused`() throws {
        let deep = String(repeating: "{\"a\":", count: 5_000)
        guard case .tooDeep = DeliveredBody(Array(deep.utf8)) else {
            Issue.record("was read")
            return
        }
        #expect(try event(deep).properties["reason"] == "too_deep")
        let list = Array(String(repeating: "[", count: 5_000).utf8)
        guard case .refused = DeliveredBody(list) else {
            Issue.record("was kept")
            return
        }
    }

    @Test(arguments: [UInt64(1), 2, 3, 20_260_302])
    func `mutated bodies never trap and always give a storable event`(seed: UInt64) throws {
        print("seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        var connectors: [String: Connector] = [:]
        for provider in ProviderDefinition.shipped {
            connectors[provider.name] = try World.connector(provider.name)
        }
        let foreign = try ProviderDefinition.shipped.map { try World.connector($0.name) }
        let bodies = try World.webhooks.map { ($0, try World.webhook($0)) }
        for _ in 0..<1_500 {
            guard let (name, original) = bodies.randomElement(using: &generator),
                let connector = connectors[String(name.prefix { $0 != "/" })]
            else { continue }
            var body = original
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                mutate(&body, &generator)
            }
            // Any provider's mapping must live with any other's body.
            if let other = foreign.randomElement(using: &generator) {
                let told = other.event(
                    body: body, receivedAt: World.receivedAt, providerEventID: "m")
                #expect(Vocabulary.outcome(named: told.name) != nil, "seed=\(seed)")
            }
            let event = connector.event(
                body: body, receivedAt: World.receivedAt, providerEventID: "m")
            #expect(Vocabulary.outcome(named: event.name) != nil, "seed=\(seed)")
            #expect(event.occurredAt >= Instant(milliseconds: 0), "seed=\(seed)")
            #expect(event.occurredAt <= Instant.latest, "seed=\(seed)")
            #expect(Connector.sameEvent(event, event), "seed=\(seed)")
            if case .object(let value, _) = DeliveredBody(body) {
                #expect(connector.envelope(of: value).person == event.person, "seed=\(seed)")
            }
        }
    }

    private func mutate(_ body: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !body.isEmpty else { return }
        let place = Int.random(in: 0..<body.count, using: &generator)
        let words = [
            "null", "[]", "{}", "-1", "1e999999", "\"\"", "true", "\\u0000", "99999999999999999999",
        ]
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: body[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: body.remove(at: place)
        case 2: body.insert(UInt8.random(in: 0x20...0x7e, using: &generator), at: place)
        case 3: body.removeSubrange(place..<min(body.count, place + 40))
        case _:
            // A value in place of another, which keeps most bodies readable.
            guard let colon = body[place...].firstIndex(of: UInt8(ascii: ":")),
                let end = body[colon...].firstIndex(where: { $0 == UInt8(ascii: ",") }),
                let word = words.randomElement(using: &generator)
            else { return }
            body.replaceSubrange((colon + 1)..<end, with: Array(word.utf8))
        }
    }
}
