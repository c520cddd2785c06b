import Connectors
import JSON
import JourneyModel
import Testing
import TimeZones

struct SamenessTests {
    private func event(
        _ body: JSONValue, receivedAt: Instant = World.receivedAt
    ) throws -> Event {
        try World.connector("revenuecat").event(
            body: body.bytes, receivedAt: receivedAt, providerEventID: "s")
    }

    private func trial() throws -> JSONValue {
        try JSONParser.parse(try World.webhook("revenuecat/trial-started"))
    }

    // S16.2
    @Test func `a repeat with other bytes and the same meaning is the same event`() throws {
        let first = try event(try trial())
        var members = try #require(try trial()["event"]?.object?.members)
        members.reverse()
        let repeated = JSONValue.object(
            JSONObject([("api_version", "1.1"), ("event", .object(JSONObject(members)))])
        )
        .setting("/event/price", to: .number(try #require(JSONNumber(literal: "0.00"))))
        .setting("/event/new_field", to: ["a": 1])
        let second = try event(repeated, receivedAt: World.receivedAt + .seconds(600))
        #expect(second.raw != first.raw)
        #expect(Connector.sameEvent(first, second))
    }

    private static let changes: [(String, JSONValue)] = [
        ("/event/type", "RENEWAL"), ("/event/period_type", "NORMAL"),
        ("/event/event_timestamp_ms", 1_770_000_000_001), ("/event/app_user_id", "user-1"),
        ("/event/aliases", ["user-9"]), ("/event/price", 1), ("/event/product_id", "other"),
        ("/event/environment", "SANDBOX"), ("/event/app_id", "app2"),
        ("/event/event_timestamp_ms", "soon"),
    ]

    @Test(arguments: changes)
    func `a repeat with another meaning is another event`(
        pointer: String, value: JSONValue
    ) throws {
        let first = try event(try trial())
        let second = try event(try trial().setting(pointer, to: value))
        #expect(!Connector.sameEvent(first, second))
        #expect(!Connector.sameEvent(second, first))
    }

    @Test func `a clamped time is compared as the provider stated it`() throws {
        let ahead = World.receivedAt.milliseconds + 90_000_000
        let body = try trial().setting("/event/event_timestamp_ms", to: .integer(ahead))
        let first = try event(body)
        let later = try event(body, receivedAt: World.receivedAt + .seconds(7_200))
        #expect(first.isClamped)
        #expect(!later.isClamped)
        #expect(Connector.sameEvent(first, later))
        let other = try event(
            try trial().setting("/event/event_timestamp_ms", to: .integer(ahead + 1)))
        #expect(!Connector.sameEvent(first, other))
    }

    @Test func `an event without a time is the same when it comes again`() throws {
        let body = try trial().setting("/event/event_timestamp_ms", to: nil)
        let first = try event(body)
        let later = try event(body, receivedAt: World.receivedAt + .seconds(7_200))
        #expect(Connector.sameEvent(first, later))
    }

    @Test func `what was not read is compared by its raw object`() throws {
        let first = try event(["event": ["type": "NEW_TYPE", "x": 1]])
        #expect(first.name == "connector.unknown")
        #expect(Connector.sameEvent(first, try event(["event": ["x": 1, "type": "NEW_TYPE"]])))
        #expect(!Connector.sameEvent(first, try event(["event": ["type": "NEW_TYPE", "x": 2]])))
        let unreadable = try event(["event": ["x": 1]])
        #expect(unreadable.name == "connector.unreadable")
        #expect(!Connector.sameEvent(unreadable, try event(["event": ["x": 2]])))
    }
}
