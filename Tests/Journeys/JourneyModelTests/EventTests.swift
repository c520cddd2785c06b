import JSON
import JourneyModel
import Testing
import TimeZones

@Suite struct EventTests {
    private func makeEvent(_ number: Int) -> Event {
        Event(
            id: Event.makeID(connector: "shop", providerEventID: "\(number)"), connector: "shop",
            providerEventID: "\(number)", providerType: number % 2 == 0 ? nil : "RENEWAL",
            name: "subscription.renewed",
            trust: [.provider, .source, .client, .engine][number % 4],
            person: Event.Person(
                id: number % 3 == 0 ? nil : "ada", aliases: number % 5 == 0 ? [] : ["a", "b"],
                isAnonymous: number % 7 == 0), providerApp: number % 2 == 0 ? "app" : nil,
            occurredAt: Instant(milliseconds: Int64(number) * 1_000_003),
            isClamped: number % 3 == 1,
            receivedAt: Instant(milliseconds: Int64(number) * 2_000_003),
            environment: "production",
            properties: JSONObject([("price", ["amount": "9.99", "currency": "USD"]), ("n", nil)]),
            notes: number % 4 == 0 ? ["replaced 1 character"] : [], depth: number % 9,
            mappingVersion: "3")
    }

    @Test func `an event is read back from its stored form, through text`() throws {
        for number in 0..<420 {
            let event = makeEvent(number)
            let bytes = JSONValue.object(event.json).bytes
            let read = try Event(json: try #require(try JSONParser.parse(bytes).object))
            #expect(read == event)
        }
    }

    @Test func `the provider's object is not stored with the event`() throws {
        var event = makeEvent(1)
        event.raw = ["secret": true]
        #expect(event.json["raw"] == nil)
        #expect(try Event(json: event.json).raw.isNull)
    }

    @Test func `a stored form without a member is refused by its name`() {
        for member in [
            "id", "connector", "provider_event_id", "event", "trust", "customer", "occurred_at",
            "received_at", "environment", "properties",
        ] {
            var json = makeEvent(1).json
            json[member] = nil
            #expect(throws: StoredFormError(subject: "event", member: member)) {
                try Event(json: json)
            }
        }
        var json = makeEvent(1).json
        json["trust"] = "hearsay"
        #expect(throws: StoredFormError(subject: "event", member: "trust")) {
            try Event(json: json)
        }
        #expect(
            StoredFormError(subject: "event", member: "id").description
                == "the stored event has no readable \"id\"; was it written by a newer version?")
    }

    @Test func `an event answers to its outcome and to its provider's type, byte for byte`() {
        let event = makeEvent(1)
        #expect(event.answers(to: "subscription.renewed"))
        #expect(event.answers(to: "provider:shop:RENEWAL"))
        #expect(!event.answers(to: "provider:other:RENEWAL"))
        #expect(!event.answers(to: "provider:shop:renewal"))
        #expect(!event.answers(to: "subscription.recovered"))
        #expect(!makeEvent(2).answers(to: "provider:shop:RENEWAL"))
        var accented = event
        accented.name = "caf\u{e9}"
        #expect(!accented.answers(to: "cafe\u{301}"))
    }

    @Test func `the scope is the properties with meta beside them`() {
        let scope = makeEvent(2).scope
        #expect(scope["price"] == ["amount": "9.99", "currency": "USD"])
        #expect(
            scope["meta"] == [
                "id": .string(makeEvent(2).id.text), "name": "subscription.renewed",
                "provider_type": nil, "connector": "shop", "app": "app", "trust": "client",
                "late": false, "occurred_at": "1970-01-01T00:33:20.006Z",
                "received_at": "1970-01-01T01:06:40.006Z", "environment": "production",
            ])
    }
}
