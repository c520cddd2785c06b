import EventIngest
import JSON
import JourneyModel
import Testing

@testable import HTTPServer

/// `POST /v1/runs` and `DELETE /v1/runs/{id}`.
@Suite struct RunsTests {
    private let world = EventWorld()

    private func start(
        _ body: String, key: String? = "k1"
    ) async throws -> (status: Int, body: JSONValue) {
        try await world.post(
            "/v1/runs", body, headers: key.map { [HTTPField("Idempotency-Key", $0)] } ?? [])
    }

    @Test func `a wish is taken in with the caller's key as its cause`() async throws {
        let answer = try await start(
            #"{"workflow": "offer", "customer_id": 42, "key": "cart-1", "environment": "sandbox"}"#)
        #expect(answer.status == 202)
        #expect(answer.body["status"]?.string == "accepted")
        #expect(
            world.wishes == [
                RunWish(
                    workflow: WorkflowID("offer"), customer: "42", environment: "sandbox", app: nil,
                    key: "cart-1", cause: "k1", supersedes: false, source: "backend")
            ])
    }

    @Test func `without an idempotency key nothing is started`() async throws {
        let answer = try await start(#"{"workflow": "offer", "customer_id": "u"}"#, key: nil)
        #expect(answer.status == 400)
        #expect(answer.body["error"]?["code"]?.string == "no_idempotency_key")
        #expect(world.wishes.isEmpty)
    }

    private static let obstacles: [(String, Int, String?, String?)] = [
        ("before", 200, nil, "r-before"), ("live", 409, "live_run", "r-live"),
        ("stranger", 404, "unknown_customer", nil), ("nonesuch", 404, "unknown_workflow", nil),
        ("by-event", 409, "not_an_api_workflow", nil),
    ]

    @Test(arguments: obstacles)
    func `what is in the way is said`(
        workflow: String, status: Int, code: String?, run: String?
    ) async throws {
        let answer = try await start(#"{"workflow": "\#(workflow)", "customer_id": "u"}"#)
        #expect(answer.status == status)
        #expect(answer.body["error"]?["code"]?.string == code)
        #expect(answer.body["run"]?.string == run)
    }

    @Test func `a live run is ended for the new one when that is asked for`() async throws {
        let answer = try await start(
            #"{"workflow": "live", "customer_id": "u", "supersede": true}"#)
        #expect(answer.status == 202)
    }

    @Test(arguments: [
        (#"{"customer_id": "u"}"#, "/workflow"), (#"{"workflow": "offer"}"#, "/customer_id"),
        (#"{"workflow": "offer", "customer_id": "u", "supersede": "yes"}"#, "/supersede"),
        (#"{"workflow": "offer", "customer_id": "u", "properties": {}}"#, "/properties"),
        (#"{"workflow": "offer", "customer_id": "u", "environment": "A B"}"#, "/environment"),
        (#"[]"#, ""),
    ])
    func `a wish that cannot be read names its place`(body: String, pointer: String) async throws {
        let answer = try await start(body)
        #expect(answer.status == 400)
        #expect(answer.body["error"]?["pointer"]?.string == pointer)
        #expect(world.wishes.isEmpty)
    }

    @Test func `a store that is down is answered 503`() async throws {
        world.breakDown()
        let answer = try await start(#"{"workflow": "offer", "customer_id": "u"}"#)
        #expect(answer.status == 503)
    }

    @Test(arguments: [("r-live", 202, "accepted"), ("r-done", 200, "ended")])
    func `a run is cancelled, or has ended already`(
        run: String, status: Int, word: String
    ) async throws {
        let answer = try await world.send("DELETE", "/v1/runs/\(run)", [])
        #expect(answer.status == status)
        #expect(answer.body["status"]?.string == word)
        #expect(
            world.cancellations == [
                RunCancellation(
                    run: RunID(run), environment: "production", app: nil, source: "backend")
            ])
    }

    @Test func `a run that is not the source's is not found`() async throws {
        #expect(try await world.send("DELETE", "/v1/runs/other", []).status == 404)
        #expect(try await world.send("DELETE", "/v1/runs/r-live", [], token: nil).status == 401)
        #expect(try await world.send("GET", "/v1/runs/r-live", []).status == 405)
    }
}
