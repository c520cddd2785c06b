import EventIngest
import HTTPServer
import JSON
import JourneyModel
import JourneyStorage
import Testing

@Suite struct CustomerUpdateTests {
    @Test func `attributes and aliases become one event of the customer's`() async throws {
        let world = EventWorld()
        let answer = try await world.post(
            "/v1/customers/user-1",
            #"""
            {"attributes": {"email": "a@example.com", "plan": {"seats": 3}}, "unset": ["phone"],
             "aliases": ["legacy-7"]}
            """#, headers: [HTTPField("Idempotency-Key", "k1")])
        #expect(answer.status == 200)
        let arrival = try #require(world.arrivals.first)
        #expect(arrival.providerEventID == "k1")
        #expect(arrival.person == Event.Person(id: "user-1", aliases: ["legacy-7"]))
        guard case .event(let event) = arrival.content else {
            Issue.record("a body was stored")
            return
        }
        #expect(event.name == "customer.updated")
        #expect(
            event.properties["attributes"]
                == [
                    "email": "a@example.com", "plan": ["seats": 3], "phone": nil,
                ])
    }

    @Test(arguments: [
        (#"{}"#, "Nothing is to be changed"), (#"{"attributes": {"email": 7}}"#, "is a string"),
        (#"{"attributes": {"unsubscribed": "email"}}"#, "list of strings"),
        (#"{"attributes": {"a b": 1}}"#, "letters, digits"),
        (#"{"attributes": {"a": 1}, "unset": ["a"]}"#, "set and unset at once"),
        (#"{"aliases": [""]}"#, "non-empty strings"), (#"{"name": 1}"#, "no member"),
        (#"[]"#, "send a JSON object"),
    ])
    func `what cannot be set is refused`(body: String, word: String) async throws {
        let world = EventWorld()
        let answer = try await world.post("/v1/customers/u", body)
        #expect(answer.status == 400)
        #expect(answer.body.text.contains(word), "\(answer.body.text)")
        #expect(world.arrivals.isEmpty)
    }

    @Test func `a customer that nobody has heard of is not found`() async throws {
        #expect(try await EventWorld().send("GET", "/v1/customers/u", []).status == 404)
    }
}
