import HTTPClient
import JSON
import Testing

/// What the app itself sends reaches journeys as a provider's webhooks do.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AppEventTests {
    private static let sources = JSONObject([
        (
            "sources",
            [
                "backend": ["token": "a-token-of-the-back-end"],
                "app": ["public_key": "pk_live_1234"],
            ]
        )
    ])
    private static let token = ["Bearer a-token-of-the-back-end"]

    /// Waits for a checkout to be finished; the app opens it.
    private static let checkout: JSONValue = [
        "dsl": 1, "id": "checkout", "kind": "journey",
        "entry": ["trigger": ["event": "purchase.started"], "reentry": "every_time"],
        "goal": ["event": "purchase.completed"], "start": "wait",
        "steps": [
            "wait": [
                "type": "wait_until", "timeout": "P1D", "on_timeout": "end",
                "branches": [["id": "failed", "event": "purchase.failed", "next": "end"]],
            ]
        ],
    ]

    @Test func `the app's events start and move runs, and are kept once`() async throws {
        try await World.with(workflows: [Self.checkout]) { world in
            try await world.withWorker(changes: Self.sources) { worker in
                let event: JSONValue = [
                    "event": "purchase.started", "customer_id": "user-1", "id": "open-1",
                ]
                for word in ["accepted", "duplicate"] {
                    let answer = try await worker.door.post(
                        event.bytes, authorization: Self.token, path: "/v1/events")
                    #expect(answer.status == 200)
                    #expect(answer.word == word)
                }
                try await world.until(
                    "select count(*) from journey.runs where status = 'waiting'", is: 1)
                // The SDK tells the checkout: the run ends, and the provider's own word may still come.
                let paid: JSONValue = [
                    "apiKey": "pk_live_1234", "event": "$purchase_completed",
                    "distinct_id": "user-1", "idempotency_key": "k1",
                ]
                let answer = try await worker.door.post(
                    paid.bytes, authorization: [], path: "/event")
                #expect(answer.status == 200)
                try await world.until(
                    "select count(*) from journey.runs where reason = 'client_outcome'", is: 1)
                #expect(try await world.count("select count(*) from journey.events") == 2)
            }
        }
    }

    /// Started by request alone; one run a key.
    private static let offer: JSONValue = [
        "dsl": 1, "id": "offer", "kind": "journey",
        "entry": ["trigger": ["api": true], "reentry": "every_time"], "start": "wait",
        "steps": ["wait": ["type": "delay", "for": "P1D", "next": "end"]],
    ]

    @Test func `a back end starts a run once a key, and cancels it`() async throws {
        try await World.with(workflows: [Self.offer, Self.checkout]) { world in
            try await world.withWorker(changes: Self.sources) { worker in
                func start(
                    _ key: String, workflow: String = "offer"
                ) async throws -> HTTPAnswer {
                    let wish: JSONValue = [
                        "workflow": .string(workflow), "customer_id": "user-1",
                    ]
                    return try await worker.door.post(
                        wish.bytes, authorization: Self.token, path: "/v1/runs",
                        idempotencyKey: key)
                }
                #expect(try await start("k1").status == 404, "nobody is known yet")
                let update: JSONValue = ["attributes": ["plan": "pro"]]
                _ = try await worker.door.post(
                    update.bytes, authorization: Self.token, path: "/v1/customers/user-1")
                try await world.until("select count(*) from journey.events", is: 1)

                #expect(try await start("k1").status == 202)
                let live = "select count(*) from journey.runs where status = 'waiting'"
                try await world.until(live, is: 1)
                let run = try await world.texts("select id as value from journey.runs")[0]
                let again = try await start("k1")
                #expect(again.status == 200)
                #expect(again.json["run"]?.string == run)
                let second = try await start("k2")
                #expect(second.status == 409)
                #expect(second.json["run"]?.string == run)
                #expect(try await start("k3", workflow: "checkout").status == 409)
                #expect(try await start("k4", workflow: "nonesuch").status == 404)

                let path = "/v1/runs/\(run)"
                let cancelled = try await worker.door.post(
                    [], authorization: Self.token, path: path, method: "DELETE")
                #expect(cancelled.status == 202, "\(path) \(cancelled.json.text)")
                try await world.until(live, is: 0)
                let ended = try await worker.door.post(
                    [], authorization: Self.token, path: path, method: "DELETE")
                #expect(ended.status == 200)
                #expect(ended.json["ended_as"]?.string == "cancelled")
                // A sandbox of the same name is another customer, and has no such run.
                let elsewhere = try await worker.door.post(
                    [], authorization: Self.token, path: path + "?environment=sandbox",
                    method: "DELETE")
                #expect(elsewhere.status == 404)
                #expect(
                    try await world.texts(
                        "select distinct who as value from journey.audit where verb in ('start', 'cancel')"
                    )
                        == ["source backend"])
            }
        }
    }

    @Test func `a thousand items of one request are stored in their order`() async throws {
        try await World.with(workflows: []) { world in
            try await world.withWorker(changes: Self.sources) { worker in
                let items = (0..<1_000).map { number -> JSONValue in
                    ["event": "tick", "customer_id": "user-1", "id": .string("\(number)")]
                }
                let answer = try await worker.door.post(
                    JSONValue.array(items).bytes, authorization: Self.token, path: "/v1/events")
                #expect(answer.status == 200)
                #expect(answer.json["results"]?.array?.count == 1_000)
                try await world.until("select count(*) from journey.events", is: 1_000)
                let order = try await world.texts(
                    "select event->>'provider_event_id' as value from journey.events order by ordinal"
                )
                #expect(order == (0..<1_000).map { String($0) })
            }
        }
    }

    @Test func `a customer is updated and read back`() async throws {
        try await World.with(workflows: []) { world in
            try await world.withWorker(changes: Self.sources) { worker in
                let update: JSONValue = [
                    "attributes": ["email": "a@example.com", "plan": "pro"],
                    "aliases": ["legacy-1"],
                ]
                let stored = try await worker.door.post(
                    update.bytes, authorization: Self.token, path: "/v1/customers/user-1")
                #expect(stored.word == "accepted")
                try await world.until("select count(*) from journey.events", is: 1)
                let unset: JSONValue = ["unset": ["plan"]]
                _ = try await worker.door.post(
                    unset.bytes, authorization: Self.token, path: "/v1/customers/user-1")
                try await world.until("select count(*) from journey.events", is: 2)
                let answer = try await worker.door.post(
                    [], authorization: Self.token, path: "/v1/customers/legacy-1", method: "GET")
                #expect(answer.status == 200)
                #expect(answer.json["attributes"] == ["email": "a@example.com"])
                #expect(answer.json["ids"]?.array?.count == 2)
                let nobody = try await worker.door.post(
                    [], authorization: Self.token, path: "/v1/customers/nobody", method: "GET")
                #expect(nobody.status == 404)
            }
        }
    }
}
