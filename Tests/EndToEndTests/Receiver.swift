import Crypto
import HTTPServer
import JSON
import Locks
import Reactor
import TestSupport
import Testing
import TimeZones

/// Where actions go: it keeps every request and answers as a script says.
final class Receiver: Sendable {
    /// Answers the request of this number, from 1.
    typealias Script = @Sendable (Int) async -> HTTPResponse

    let arrivals: TestSignal<HTTPRequest>
    let port: UInt16
    private let listener: HTTPListener

    /// - Parameter port: 0 for any; another for a receiver that comes back.
    init(
        loop: EventLoop, port: UInt16 = 0, arrivals: TestSignal<HTTPRequest> = TestSignal(),
        script: @escaping Script = { _ in .json(200, Receiver.answer) }
    ) throws {
        self.arrivals = arrivals
        let box = Counted()
        listener = HTTPListener(loop: loop, address: "127.0.0.1:\(port)") { request in
            let number = box.next()
            arrivals.send(request)
            return await script(number)
        }
        self.port = try listener.start()
    }

    static let answer = Array(#"{"note":"answer-of-the-receiver"}"#.utf8)

    /// Closes every connection, answered or not.
    func stop() async { await listener.drain(within: .zero) }

    /// A port on which nobody listens, for a receiver that is down.
    static func freePort(_ loop: EventLoop) async throws -> UInt16 {
        let receiver = try Receiver(loop: loop)
        await receiver.stop()
        return receiver.port
    }

    private final class Counted: Sendable {
        private let count = Guarded(0)
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }
}

extension HTTPRequest {
    /// The key that must not change between attempts.
    var key: String? { headers["Idempotency-Key"] }

    /// Whether it is what a worker sends: key, account headers, and a signature that holds.
    func expectSigned(sourceLocation: SourceLocation = #_sourceLocation) {
        let key = key ?? ""
        #expect(key.utf8.count == 64, sourceLocation: sourceLocation)
        #expect(headers["webhook-id"] == key, sourceLocation: sourceLocation)
        #expect(headers["Authorization"] == Secrets.token, sourceLocation: sourceLocation)
        let seconds = headers["webhook-timestamp"].flatMap { Int64($0) } ?? 0
        #expect(
            abs(seconds - systemClock().milliseconds / 1_000) < 60, sourceLocation: sourceLocation)
        let expected = StandardWebhooksSignature.sign(
            id: key, timestampSeconds: seconds, body: body,
            key: StandardWebhooksSignature.key(fromSecret: Secrets.signing) ?? [])
        #expect(headers["webhook-signature"] == expected, sourceLocation: sourceLocation)
    }

    var json: JSONValue { (try? JSONParser.parse(body)) ?? .null }
}

/// Definitions for the stories.
enum Definitions {
    /// Tells the receiver of each started trial; `missed` is what a failure leads to.
    static func tell(
        id: String = "tell", retry: JSONValue = ["attempts": 3, "backoff": "PT1S", "max": "PT1S"],
        extra: JSONObject = JSONObject()
    ) -> JSONValue {
        var tell = JSONObject([
            ("type", "action"), ("tool", "http"), ("account", "crm"), ("attempt_timeout", "PT5S"),
            ("retry", retry), ("next", "end"), ("on_failed", "missed"),
            (
                "with",
                [
                    "path": "/tell",
                    "json": ["run": ["ref": "/run/id"], "product": ["ref": "/event/product_id"]],
                ]
            ),
        ])
        for (key, value) in extra { tell[key] = value }
        return [
            "dsl": 1, "id": .string(id), "kind": "automation",
            "entry": [
                "trigger": ["event": "trial.started"], "reentry": "every_time",
                "when_live": "start_another",
            ],
            "start": "tell",
            "steps": [
                "tell": .object(tell),
                "missed": [
                    "type": "action", "tool": "log", "with": ["text": "missed"], "next": "end",
                ],
            ],
        ]
    }

    /// A journey that tells, and ends when the purchase is refunded.
    static let tellUnlessRefunded: JSONValue = [
        "dsl": 1, "id": "tell-journey", "kind": "journey",
        "entry": ["trigger": ["event": "trial.started"]],
        "exits": [["event": "subscription.refunded", "reason": "refunded"]],
        "start": "tell",
        "steps": [
            "tell": [
                "type": "action", "tool": "http", "account": "crm",
                "with": ["path": "/tell", "json": ["run": ["ref": "/run/id"]]],
                "retry": ["attempts": 3, "backoff": "PT1H", "max": "PT1H"], "next": "end",
            ]
        ],
    ]

    /// An automation that writes one line for each event of a name.
    static func tellsLog(id: String, event: String) -> JSONValue {
        [
            "dsl": 1, "id": .string(id), "kind": "automation",
            "entry": ["trigger": ["event": .string(event)], "reentry": "every_time"],
            "start": "tell",
            "steps": [
                "tell": ["type": "action", "tool": "log", "with": ["text": "told"], "next": "end"]
            ],
        ]
    }

    /// A journey that waits for the conversion and then is done.
    static func waits(id: String = "waits") -> JSONValue {
        [
            "dsl": 1, "id": .string(id), "kind": "journey",
            "entry": ["trigger": ["event": "trial.started"]],
            "start": "wait",
            "steps": [
                "wait": [
                    "type": "wait_until", "timeout": "P20D", "on_timeout": "end",
                    "branches": [["id": "converted", "event": "trial.converted", "next": "end"]],
                ]
            ],
        ]
    }
}
