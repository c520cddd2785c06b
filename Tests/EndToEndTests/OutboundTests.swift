import Crypto
import HTTPClient
import HTTPServer
import JSON
import JourneyModel
import JourneyStorage
import TestSupport
import Testing

/// What happens to runs is told to the system that `outbound` names.
@Suite(.serialized, .timeLimit(.minutes(1))) struct OutboundTests {
    private static let journey: JSONValue = [
        "dsl": 1, "id": "checkout", "kind": "journey",
        "entry": ["trigger": ["event": "purchase.started"], "reentry": "every_time"],
        "exits": [["if": ["eq": [["ref": "/customer/gone"], true]], "reason": "gone"]],
        "start": "wait",
        "steps": ["wait": ["type": "delay", "for": "P1D", "next": "end"]],
    ]

    private static func changes(_ port: UInt16) -> JSONObject {
        JSONObject([
            ("sources", ["backend": ["token": "a-token-of-the-back-end"]]),
            (
                "outbound",
                [
                    "url": .string("http://127.0.0.1:\(port)/runs?from=worker"),
                    "allow_private": true, "secret": .string(Secrets.signing),
                    "headers": ["Authorization": .string(Secrets.token)],
                ]
            ),
        ])
    }

    private static func begin(_ worker: Worker) async throws {
        try await post(
            ["event": "purchase.started", "customer_id": "user-1", "id": "1"], "/v1/events", worker)
    }

    private static func post(_ body: JSONValue, _ path: String, _ worker: Worker) async throws {
        let answer = try await worker.door.post(
            body.bytes, authorization: ["Bearer a-token-of-the-back-end"], path: path)
        #expect(answer.status == 200)
    }

    @Test
    func `run events are posted signed, once each, and repeated with their ids after a failure`()
        async throws
    {
        try await World.with(workflows: [Self.journey]) { world in
            // The first post is answered 500.
            let receiver = try Receiver(loop: world.loop) { number in
                .json(number == 1 ? 500 : 200, Receiver.answer)
            }
            try await world.withWorker(changes: Self.changes(receiver.port)) { worker in
                try await Self.begin(worker)
                try await world.until(
                    "select count(*) from journey.effects where attempts = 1", is: 1)
                try await Self.post(
                    ["attributes": ["gone": true]], "/v1/customers/user-1", worker)
                try await world.until(
                    "select count(*) from journey.effects where step = 'journey.exited' and status = 'succeeded'",
                    is: 1)
                // What failed is due again soon; the test does not wait for it.
                try await world.change("update journey.effect_queue set due_at = now()")
                try await world.untilQuiet()
            }
            let posts = receiver.arrivals.values
            try #require(posts.count == 3)
            for post in posts { post.expectSigned() }
            #expect(posts.allSatisfy { $0.path == "/runs" && $0.query == "from=worker" })
            let types = posts.map { $0.json["type"]?.string ?? "" }
            // Entered, refused; exited; and entered again, the same to the byte.
            #expect(types == ["journey.entered", "journey.exited", "journey.entered"])
            #expect(posts[0].key == posts[2].key)
            #expect(posts[0].body == posts[2].body)
            #expect(posts[0].key != posts[1].key)
            let exited = posts[1].json
            #expect(exited["data"]?["customer"] == ["id": "user-1", "ids": ["user-1"]])
            #expect(exited["data"]?["environment"] == "production")
            #expect(exited["data"]?["run"]?["reason"] == "gone")
            #expect(exited["timestamp"]?.string?.hasSuffix("Z") == true)
            // No run waits for them: nothing comes back as an input.
            #expect(
                try await world.count("select count(*) from journey.counts where name = 'stale'")
                    == 0)
            #expect(try await world.runs() == ["checkout exited gone"])
            await receiver.stop()
        }
    }

    @Test func `what the receiver refuses for good is listed as dead and told again by hand`()
        async throws
    {
        try await World.with(workflows: [Self.journey]) { world in
            let receiver = try Receiver(loop: world.loop) { number in
                .json(number == 1 ? 404 : 200, Receiver.answer)
            }
            try await world.withWorker(changes: Self.changes(receiver.port)) { worker in
                try await Self.begin(worker)
                try await world.until(
                    "select count(*) from journey.effects where status = 'failed'", is: 1)
                let look = LookStore(pool: world.pool)
                let dead = try await look.dead(DeadFilter())
                #expect(dead.map(\.step.text) == ["journey.entered"])
                #expect(dead.map(\.isRepairable) == [true])
                let (_, count) = try await CommandStore(pool: world.pool).tellAgain(
                    dead.map(\.invocation),
                    CommandStore.Request(
                        who: "test", verb: "retry", reason: "test", detail: JSONObject()))
                #expect(count == 1)
                try await world.untilQuiet()
                #expect(try await look.dead(DeadFilter()).isEmpty)
            }
            #expect(Set(receiver.arrivals.values.map { $0.key }).count == 1)
            await receiver.stop()
        }
    }
}
