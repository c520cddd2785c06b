import EventIngest
import HTTPServer
import JSON
import JourneyModel
import JourneyStorage
import Testing

@Suite struct ClientTests {
    private func event(_ world: EventWorld, at place: Int = 0) throws -> Event {
        guard case .event(let event) = world.arrivals[place].content else {
            throw NoEvent()
        }
        return event
    }

    private struct NoEvent: Error {}

    @Test func `a checkout that the SDK tells completes as an outcome a client vouches for`()
        async throws
    {
        let world = EventWorld()
        let answer = try await world.post(
            "/event",
            #"""
            {"apiKey": "pk_live_1", "event": "$purchase_completed", "distinct_id": "u",
             "idempotency_key": "0198f0a4-7e11-7000-8000-000000000001",
             "timestamp": "2026-11-30T09:59:00.000Z", "properties": {"product_id": "pro"}}
            """#, token: nil)
        #expect(answer.status == 200)
        let told = try event(world)
        #expect(told.name == "purchase.completed")
        #expect(told.trust == .client)
        #expect(told.providerType == "$purchase_completed")
        #expect(told.properties["product_id"]?.string == "pro")
        #expect(world.arrivals[0].app == "shop")
    }

    @Test func `a batch answers for what was refused and keeps the rest`() async throws {
        let world = EventWorld()
        let answer = try await world.post(
            "/batch",
            #"""
            {"apiKey": "pk_live_1", "batch": [
              {"event": "button_clicked", "distinct_id": "u", "idempotency_key": "1"},
              {"event": "subscription.renewed", "distinct_id": "u", "idempotency_key": "2"},
              {"event": "$identify", "distinct_id": "u", "anon_distinct_id": "anon-9", "idempotency_key": "3"},
              {"event": "$feature_used", "distinct_id": "u", "value": 5, "entity_id": "p1", "idempotency_key": "4"}]}
            """#, token: nil)
        #expect(answer.status == 200)
        #expect(answer.body["processed"]?.integer == 3)
        #expect(answer.body["failed"]?.integer == 1)
        #expect(answer.body["errors"]?.array?.first?["index"]?.integer == 1)
        #expect(world.arrivals.map(\.providerEventID) == ["1", "3", "4"])
        #expect(try event(world, at: 1).person.aliases == ["anon-9"])
        #expect(try event(world, at: 2).properties["value"]?.integer == 5)
    }

    @Test func `a key that is no app's is refused, a back end's token too`() async throws {
        let world = EventWorld()
        for key in ["pk_live_2", "token-1", ""] {
            let answer = try await world.post(
                "/event", #"{"apiKey": "\#(key)", "event": "x", "distinct_id": "u"}"#, token: nil)
            #expect(answer.status == 401)
        }
        #expect(world.arrivals.isEmpty)
    }

    @Test func `a gzip body is opened within its bound`() async throws {
        let world = EventWorld()
        let gzip = [HTTPField("Content-Encoding", "gzip")]
        // {"apiKey":"pk_live_1","event":"x","distinct_id":"u"}
        let body: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 74, 44, 200, 244, 78, 173, 84, 178, 82, 42,
            200, 142, 207, 201, 44, 75, 141, 55, 84, 210, 81, 74, 45, 75, 205, 43, 1, 138, 85, 0,
            217, 41, 153, 197, 37, 153, 121, 201, 37, 241, 153, 41, 64, 145, 82, 165, 90, 0, 142,
            217, 162, 152, 52, 0, 0, 0,
        ]
        let answer = try await world.send("POST", "/event", body, token: nil, headers: gzip)
        #expect(answer.status == 200, "\(answer.body.text)")
        let small = try await world.send(
            "POST", "/event", body, token: nil, service: world.service(largestBody: 20),
            headers: gzip)
        #expect(small.status == 413)
        for broken in [Array(body.dropLast(3)), body + [0], [31, 139], Array("{}".utf8)] {
            let refused = try await world.send(
                "POST", "/event", broken, token: nil, headers: gzip)
            #expect(refused.status == 400)
        }
        let other = try await world.send(
            "POST", "/event", body, token: nil, headers: [HTTPField("Content-Encoding", "br")])
        #expect(other.status == 400)
    }
}
