import EventIngest
import HTTPServer
import JSON
import JourneyModel
import JourneyStorage
import Testing
import TimeZones

@Suite struct EventsTests {
    @Test func `an event is stored with its own id, time and properties`() async throws {
        let world = EventWorld()
        let answer = try await world.post(
            "/v1/events",
            #"""
            {"event": "checkout.opened", "customer_id": "user-1", "id": "e1",
             "occurred_at": "2026-11-30T09:00:00Z", "properties": {"product_id": "pro", "big": 12345678901234567890}}
            """#)
        #expect(answer.status == 200)
        #expect(answer.body["status"]?.string == "accepted")
        let arrival = try #require(world.arrivals.first)
        #expect(arrival.connector == "backend")
        guard case .event(let event) = arrival.content else {
            Issue.record("a body was stored")
            return
        }
        #expect(event.name == "checkout.opened")
        #expect(event.trust == .source)
        #expect(event.person.id == "user-1")
        #expect(event.occurredAt.description == "2026-11-30T09:00:00.000Z")
        #expect(event.properties["big"]?.number?.literal == "12345678901234567890")
    }

    @Test func `the same id is a duplicate, an event without an id is always another one`()
        async throws
    {
        let world = EventWorld()
        let service = world.service()
        let told = #"{"event": "x", "customer_id": "u", "id": "1"}"#
        _ = try await world.post("/v1/events", told, service: service)
        let again = try await world.post("/v1/events", told, service: service)
        #expect(again.body["status"]?.string == "duplicate")
        let loose = #"{"event": "x", "customer_id": "u"}"#
        _ = try await world.post("/v1/events", loose, service: service)
        _ = try await world.post("/v1/events", loose, service: service)
        #expect(world.arrivals.map(\.providerEventID) == ["1", "made-1", "made-2"])
    }

    @Test func `ids that PostgreSQL cannot hold stay different from each other`() async throws {
        let world = EventWorld()
        let answer = try await world.post(
            "/v1/events",
            #"""
            [{"event": "x", "customer_id": "u\u0000", "id": "a\u0000"},
             {"event": "x", "customer_id": "u\ud800", "id": "a\ud800"}]
            """#)
        #expect(answer.status == 200)
        #expect(Set(world.arrivals.map(\.providerEventID)).count == 2)
        #expect(Set(world.arrivals.map(\.person.id)).count == 2)
    }

    @Test func `items of a list are answered one by one and stored in their order`() async throws {
        let world = EventWorld()
        let answer = try await world.post(
            "/v1/events",
            #"""
            [{"event": "a", "customer_id": "u", "id": "1"},
             {"event": "subscription.renewed", "customer_id": "u", "id": "2"},
             {"event": "b", "customer_id": 42, "id": 3}]
            """#)
        #expect(answer.status == 200)
        let statuses = answer.body["results"]?.array?.map { $0["status"]?.string }
        #expect(statuses == ["accepted", "refused", "accepted"])
        #expect(
            answer.body["results"]?.array?[1]["error"]?["code"]?.string == "reserved_name")
        #expect(world.arrivals.map(\.providerEventID) == ["1", "3"])
        #expect(world.arrivals.last?.person.id == "42")
    }

    @Test(arguments: [
        (#"[1]"#, 200, "refused"), (#"{"customer_id": "u"}"#, 400, "/event"),
        (#"{"event": "x"}"#, 400, "/customer_id"),
        (#"{"event": "x", "customer_id": ""}"#, 400, "/customer_id"),
        (#"{"event": "x", "customer_id": "u", "userId": "v"}"#, 400, "/userId"),
        (#"{"event": "x", "customer_id": "u", "occurred_at": "yesterday"}"#, 400, "/occurred_at"),
        (#"{"event": "x", "customer_id": "u", "properties": []}"#, 400, "/properties"),
        (
            #"{"event": "x", "customer_id": "u", "properties": {"meta": 1}}"#, 400,
            "/properties/meta"
        ),
        (#"{"event": "x", "customer_id": "u", "environment": "PROD"}"#, 400, "/environment"),
        (#"{"event": "connector.test", "customer_id": "u"}"#, 400, "reserved_name"),
        (#"{"event": "segment.entered", "customer_id": "u"}"#, 400, "reserved_name"),
        (#"{"event": "provider:a:B", "customer_id": "u"}"#, 400, "reserved_name"),
        ("{", 400, "not_json"), ("[]", 400, "too_many_items"),
    ])
    func `a refusal says where and why`(body: String, status: Int, word: String) async throws {
        let world = EventWorld()
        let answer = try await world.post("/v1/events", body)
        #expect(answer.status == status)
        #expect(answer.body.text.contains(word), "\(answer.body.text)")
        #expect(world.arrivals.isEmpty)
    }

    @Test func `purchase started is the one outcome a back end may tell, and an app may not`()
        async throws
    {
        let world = EventWorld()
        let told = try await world.post(
            "/v1/events", #"{"event": "purchase.started", "customer_id": "u"}"#)
        #expect(told.status == 200)
        let app = try await world.post(
            "/event",
            #"{"apiKey": "pk_live_1", "event": "purchase.started", "distinct_id": "u"}"#)
        #expect(app.status == 400)
    }

    @Test func `without the token of a back end nothing is taken`() async throws {
        let world = EventWorld()
        let body = #"{"event": "x", "customer_id": "u"}"#
        for token in [nil, "wrong", "pk_live_1", ""] {
            let answer = try await world.post("/v1/events", body, token: token)
            #expect(answer.status == 401)
        }
        #expect(try await world.post("/v1/events", body, token: "token-2").status == 200)
        #expect(world.arrivals.count == 1)
    }

    @Test func `what the database did not confirm is answered with 503`() async throws {
        let world = EventWorld()
        world.breakDown()
        for body in [
            #"{"event": "x", "customer_id": "u"}"#, #"[{"event": "x", "customer_id": "u"}]"#,
        ] {
            #expect(try await world.post("/v1/events", body).status == 503)
        }
    }

    @Test func `other methods are refused with those that are allowed`() async throws {
        let answer = try await EventWorld().send("GET", "/v1/events", [])
        #expect(answer.status == 405)
        #expect(try await EventWorld().send("GET", "/v1/nothing", []).status == 404)
    }

    @Test func `the document of the paths is JSON and names each`() async throws {
        let answer = try await EventWorld().send("GET", "/openapi.json", [], token: nil)
        #expect(answer.status == 200)
        #expect(
            answer.body["paths"]?.object?.keys.sorted() == [
                "/batch", "/event", "/openapi.json", "/v1/customers/{id}", "/v1/events", "/v1/runs",
                "/v1/runs/{id}", "/v1/webhooks/{connector}",
            ])
    }
}
