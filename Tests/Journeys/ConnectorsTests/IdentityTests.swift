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

    @Test func `a list of thousands of aliases is cut`() throws {
        let many = (0..<5_000).map { JSONValue.string("user-\($0)") }
        let person = try person(["aliases": .array(many)])
        #expect(person.id == "user-0")
        #expect(person.aliases.count == 255)
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
