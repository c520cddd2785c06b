import HTTPClient
import HTTPServer
import JSON
import Telemetry
import TestSupport
import Testing
import TimeZones

/// The HTTP contract, on a worker with a real database.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ArrivalTests {
    private static func stored(_ world: World) async throws -> Int {
        try await world.count(
            """
            (select count(*) from journey.deliveries) + (select count(*) from journey.delivery_ids)
            + (select count(*) from journey.inbox) + (select count(*) from journey.events)
            """)
    }

    // S16.1
    @Test func `ten deliveries of one event at once are one event, one run, one effect`()
        async throws
    {
        try await World.with(workflows: [Definitions.tell()]) { world in
            let receiver = try Receiver(loop: world.loop)
            let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
            try await world.withWorker(accounts: accounts) { worker in
                let body = try Webhook.revenueCat("trial-started", id: "d1", person: "person-1")
                let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
                    for _ in 0..<10 { group.addTask { try await worker.door.post(body) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.map(\.status) == Array(repeating: 200, count: 10))
                // Where two statements meet, the second does not see the first one's delivery yet: it
                // is stored once more and found to be a repeat by the worker.
                #expect(answers.count { $0.word == "accepted" } == 1)
                #expect(answers.count { $0.word == "duplicate" } == 9)
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 1)
                try await world.untilQuiet()
                #expect(try await world.count("select count(*) from journey.events") == 1)
                let states = try await world.texts("select state as value from journey.deliveries")
                #expect(states.count { $0 == "processed" } == 1)
                #expect(states.count { $0 == "duplicate" } == states.count - 1)
                #expect(try await world.effects() == ["tell succeeded"])
            }
            #expect(receiver.arrivals.values.count == 1)
            await receiver.stop()
        }
    }

    // S16.2
    @Test func `the same id with another body is answered duplicate and becomes a conflict`()
        async throws
    {
        try await World.with(workflows: [Definitions.waits()]) { world in
            try await world.withWorker { worker in
                let first = try Webhook.revenueCat("trial-started", id: "c1", person: "person-1")
                let other = try Webhook.revenueCat("refunded", id: "c1", person: "person-1")
                // Other bytes, the same event.
                let spaced = Array(" ".utf8) + first.bytes
                #expect(try await worker.door.post(first).word == "accepted")
                try await world.until("select count(*) from journey.inbox", is: 0)
                for body in [other.bytes, spaced] {
                    let answer = try await worker.door.post(body)
                    #expect(answer.status == 200)
                    #expect(answer.word == "duplicate")
                }
                try await world.until("select count(*) from journey.inbox", is: 0)
                #expect(
                    try await world.texts(
                        "select state as value from journey.deliveries order by received_at, id"
                    )
                    .sorted() == ["conflict", "duplicate", "processed"])
                #expect(try await world.count("select count(*) from journey.delivery_bodies") == 3)
                #expect(try await world.count("select count(*) from journey.events") == 1)
                #expect(try await world.runs() == ["waits waiting"])
            }
        }
    }

    @Test func `what is not authenticated is 401, alike for every cause, and is not stored`()
        async throws
    {
        try await World.with { world in
            try await world.withWorker { worker in
                let body = try Webhook.fixture("revenuecat/trial-started")
                let right = Secrets.authorization
                var bodies: Set<[UInt8]> = []
                for authorization in [[], [right + "x"], [""], [right, right], ["Basic eDp5"]] {
                    let answer = try await worker.door.post(
                        body.bytes, authorization: authorization)
                    #expect(answer.status == 401)
                    bodies.insert(answer.body)
                }
                let signed = try Webhook.fixture("superwall/subscription-started")
                let now = systemClock().milliseconds
                for (secret, time) in [
                    ("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", now),
                    (Secrets.superwall, now - 301_000), (Secrets.superwall, now + 302_000),
                ] {
                    let answer = try await worker.door.postSigned(signed, secret: secret, at: time)
                    #expect(answer.status == 401)
                    bodies.insert(answer.body)
                }
                #expect(bodies.count == 1)
                #expect(try await Self.stored(world) == 0)
                #expect(try await worker.door.postSigned(signed).status == 200)
            }
        }
    }

    @Test func `a body that is no JSON object is 400 and is not stored`() async throws {
        try await World.with { world in
            try await world.withWorker { worker in
                for body in [
                    "", "[]", "[{}]", "null", "{", "{\"a\":1,}", "{}{}", "\u{FEFF}{}", "text",
                ] {
                    let answer = try await worker.door.post(Array(body.utf8))
                    #expect(answer.status == 400, "\(body)")
                    #expect(answer.json["error"]?["code"] == "not_an_object")
                }
                let latin: [UInt8] = [0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]
                #expect(try await worker.door.post(latin).status == 400)
                #expect(try await Self.stored(world) == 0)
            }
        }
    }

    @Test func `hostile objects are stored byte for byte and block nobody`() async throws {
        try await World.with(workflows: [Definitions.waits()]) { world in
            try await world.withWorker { worker in
                let event = #""type": "INITIAL_PURCHASE", "period_type": "TRIAL", "#
                let bodies = [
                    #"{"event": {"id": "h1", \#(event)"app_user_id": "person-\u0000-1"}}"#,
                    #"{"event": {"id": "h2", \#(event)"app_user_id": "person-\ud800"}}"#,
                    #"{"event": {"id": "h3", "id": "h3b", "app_user_id": "person-3"}}"#,
                    #"{"event": {"id": "h4", "app_user_id": "person-4", "price": 1e999999}}"#,
                    #"{"event": {"id": "h5", "event_timestamp_ms": 9e30, "app_user_id": "person-5"}}"#,
                    #"{"event": {"id": "h6\u0000", "type": 7, "app_user_id": ["person-6"]}}"#,
                    "{\"a\":" + String(repeating: "[", count: 20_000)
                        + String(repeating: "]", count: 20_000) + "}",
                    #"{"event": null}"#, "{}",
                ]
                for body in bodies {
                    let answer = try await worker.door.post(Array(body.utf8))
                    #expect(
                        answer.word == "accepted",
                        "\(body.prefix(60)) \(world.log.lines.filter { $0.contains("warning") || $0.contains("error") })"
                    )
                }
                let good = try Webhook.revenueCat("trial-started", id: "h9", person: "person-9")
                #expect(try await worker.door.post(good).word == "accepted")
                try await world.until(
                    "select count(*) from journey.runs where status = 'waiting'", is: 1)
                try await world.until("select count(*) from journey.inbox", is: 0)
                let total = bodies.count + 1
                #expect(try await world.count("select count(*) from journey.deliveries") == total)
                #expect(try await world.count("select count(*) from journey.set_aside") == 0)
                let kept = try await world.texts(
                    "select encode(body, 'base64') as value from journey.delivery_bodies")
                #expect(Set(kept).count == total)
                let sizes = try await world.texts(
                    "select octet_length(body)::text as value from journey.delivery_bodies")
                for body in bodies { #expect(sizes.contains("\(body.utf8.count)")) }
            }
        }
    }

    @Test func `an oversized body is 413, a slow one 408, an unknown path 404`() async throws {
        var limits = HTTPLimits()
        limits.headTimeout = .milliseconds(200)
        limits.bodyTimeout = .milliseconds(200)
        let bounds = limits
        try await World.with { world in
            try await world.withWorker(limits: bounds) { worker in
                let large = Array(repeating: UInt8(ascii: " "), count: 65_537)
                #expect(try await worker.door.post(large).status == 413)
                let head = "POST /v1/webhooks/revenuecat HTTP/1.1\r\nHost: x\r\n"
                for text in [head, head + "Content-Length: 10\r\n\r\n{"] {
                    let answer = await RawExchange.run(text, port: worker.door.port, on: world.loop)
                    #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
                }
                let both = head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"
                let answer = await RawExchange.run(both, port: worker.door.port, on: world.loop)
                #expect(answer.hasPrefix("HTTP/1.1 400 "))
                for path in ["/v1/webhooks/stripe", "/", "/metrics"] {
                    #expect(try await worker.door.post([], path: path).status == 404)
                }
                let wrong = try await worker.door.post([], method: "GET")
                #expect(wrong.status == 405)
                #expect(wrong.header("Allow") == "POST")
                #expect(wrong.header("X-Request-Id") != nil)
                #expect(try await Self.stored(world) == 0)
                let refusals = try await world.get(worker.admin + "/metrics").text
                #expect(
                    refusals.contains("journey_http_refusals_total{cause=\"body_too_large\"} 1"))
                #expect(refusals.contains("cause=\"head_timeout\""))
            }
        }
    }
}
