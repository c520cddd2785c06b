import Connectors
import JSON
import JourneyModel
import Testing

struct IdentityTests {
    private func person(
        _ event: JSONValue, identity: String? = nil
    ) throws -> Event.Person {
        try World.connector("revenuecat", identity: identity)
            .envelope(of: ["event": event]).person
    }

    @Test func `an anonymous id is never preferred to an identified one`() throws {
        let person = try person([
            "app_user_id": "$RCAnonymousID:1", "aliases": ["$RCAnonymousID:2", "user-1042"],
        ])
        #expect(
            person
                == Event.Person(
                    id: "user-1042", aliases: ["$RCAnonymousID:1", "$RCAnonymousID:2"]))
    }

    @Test func `only anonymous ids make an anonymous person`() throws {
        let person = try person(["app_user_id": "$RCAnonymousID:1"])
        #expect(person == Event.Person(id: "$RCAnonymousID:1", isAnonymous: true))
    }

    @Test func `a combining mark after the prefix makes no identified person`() throws {
        #expect(try person(["app_user_id": "$RCAnonymousID:\u{301}1"]).isAnonymous)
    }

    @Test func `empty and blank texts, null and objects are no ids`() throws {
        let person = try person([
            "app_user_id": "", "original_app_user_id": " ", "aliases": [nil, ["a": 1], true, ""],
        ])
        #expect(person == Event.Person(id: nil))
    }

    @Test func `numbers are ids by their digits`() throws {
        let digits = String(repeating: "9", count: 300)
        let body = try JSONParser.parse("{\"event\": {\"id\": 42, \"app_user_id\": \(digits)}}")
        let envelope = try World.connector("revenuecat").envelope(of: body)
        #expect(envelope.eventID == "42")
        #expect(envelope.person.id == digits)
    }

    @Test func `an id that no index could hold is no id`() throws {
        let long = String(repeating: "x", count: 513)
        #expect(try person(["app_user_id": .string(long), "aliases": ["user-1"]]).id == "user-1")
    }

    @Test func `an event id that no index could hold is told by its digest`() throws {
        let connector = try World.connector("revenuecat")
        let long = String(repeating: "x", count: 5_000)
        let id = try #require(connector.envelope(of: ["event": ["id": .string(long)]]).eventID)
        #expect(id.hasPrefix("sha256-"))
        #expect(id.count == 71)
        #expect(connector.envelope(of: ["event": ["id": .string(long + "y")]]).eventID != id)
    }

    // S16.1
    @Test func `without an event id the body's digest stands for it`() throws {
        let body: JSONValue = ["event": ["id": "", "type": "TEST"]]
        let envelope = try World.connector("revenuecat").envelope(of: body)
        #expect(envelope.eventID == nil)
        #expect(
            Connector.deduplicationID(envelope, body: Array("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func `the app's own identity wins and the provider's ids are kept`() throws {
        let body = try JSONParser.parse(try World.webhook("superwall/renewed"))
            .setting("/data/originalAppUserId", to: "$SuperwallAlias:1")
        let connector = try World.connector("superwall", identity: "/data/userAttributes/appUserId")
        #expect(
            connector.envelope(of: body).person
                == Event.Person(id: "user-2077", aliases: ["$SuperwallAlias:1"]))
        let absent = body.setting("/data/userAttributes", to: nil)
        #expect(connector.envelope(of: absent).person.isAnonymous)
    }

    @Test func `of thousands of aliases 50 ids are read and the others counted`() throws {
        let many = (0..<5_000).map { JSONValue.string("user-\($0)") }
        let person = try person(["aliases": .array(many)])
        #expect(person.id == "user-0")
        #expect(person.aliases.count == 49)
        let long = JSONValue.string(String(repeating: "x", count: 513))
        let body: JSONValue = [
            "event": ["id": "1", "type": "TEST", "aliases": .array(many + [long, "user-1"])]
        ]
        let event = try World.connector("revenuecat").event(
            body: body.bytes, receivedAt: World.receivedAt, providerEventID: "1")
        #expect(event.notes.contains { $0.hasPrefix("4951 customer ids past 50") })
    }

    @Test func `ids that differ by what PostgreSQL cannot hold stay different`() throws {
        let spellings = [
            "a\\u0000b", "a\\ud800b", "a\\udfffb", "a\\ufffdb", "a\u{fffd}0000b",
            "a\u{fffd}fffd0000b",
            "a\u{fffd}d800b", "a\\ufffd\\u0030000b", "a\\ud800\\ud800b", "a\\ud8000\\u0000b",
        ]
        var ids: [String] = []
        for spelling in spellings {
            let body = "{\"event\": {\"app_user_id\": \"\(spelling)\"}}"
            guard case .object(let value, _) = DeliveredBody(Array(body.utf8)) else {
                Issue.record("\(spelling)")
                continue
            }
            ids.append(
                try #require(try World.connector("revenuecat").envelope(of: value).person.id))
        }
        // The fifth and the eighth are two spellings of one text.
        #expect(ids[4] == ids[7])
        #expect(Set(ids).count == spellings.count - 1)
        #expect(ids[3] == "a\u{fffd}b")
        #expect(ids.allSatisfy { !$0.utf8.contains(0) })
    }

    @Test func `ids that a definition calls made up are aliases and never an identified id`() throws
    {
        let connector = try World.connector("qonversion")
        let known: JSONValue = [
            "user_id": "QON_1", "custom_user_id": "", "identity_id": "user-7",
        ]
        #expect(
            connector.envelope(of: known).person == Event.Person(id: "user-7", aliases: ["QON_1"]))
        let unknown: JSONValue = ["user_id": "QON_1", "custom_user_id": ""]
        #expect(
            connector.envelope(of: unknown).person == Event.Person(id: "QON_1", isAnonymous: true))
    }

    @Test func `an environment that is missing or unknown is the configured one`() throws {
        let connector = try World.connector("revenuecat", unknownEnvironment: "staging")
        func environment(_ value: JSONValue?) -> String {
            connector.envelope(
                of: JSONValue.object(JSONObject()).setting("/event/environment", to: value)
            )
            .environment
        }
        #expect(environment(nil) == "staging")
        #expect(environment("") == "staging")
        #expect(environment("QA") == "staging")
        #expect(environment(true) == "staging")
        #expect(environment("PRODUCTION") == "production")
        #expect(environment("SANDBOX") == "sandbox")
        let coins: JSONValue = ["event": ["purchase_environment": "PRODUCTION"]]
        #expect(connector.envelope(of: coins).environment == "production")
    }
}
