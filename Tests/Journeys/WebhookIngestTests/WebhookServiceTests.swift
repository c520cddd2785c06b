import Connectors
import HTTPServer
import JSON
import JourneyModel
import JourneyStorage
import Locks
import Reactor
import Telemetry
import TestSupport
import Testing
import WebhookIngest

/// The statuses of the HTTP contract, over a store that answers as told.
@Suite struct WebhookServiceTests {
    /// Runs `body` with a service; what it logs and how often it woke the worker are returned too.
    private static func withService(
        _ store: FakeStore = FakeStore(),
        _ body: @escaping @Sendable (WebhookService) async throws -> Void
    ) async throws -> (log: [String], wakes: Int) {
        let lines = LogLines()
        let wakes = Guarded(0)
        let connector = try IngestWorld.connector()
        try await withEventLoop { loop in
            let service = WebhookService(
                connectors: [connector.name: connector],
                commit: GroupCommit(loop: loop) { try await store.store($0) },
                log: Log(
                    level: .trace, customers: .plain, clock: { IngestWorld.now }, sink: lines.sink),
                metrics: Metrics(), clock: { IngestWorld.now },
                onStored: { wakes.withLock { $0 += 1 } })
            try await body(service)
        }
        return (lines.lines, wakes.withLock { $0 })
    }

    private static func code(_ response: HTTPResponse) -> String? {
        (try? JSONParser.parse(response.body))?["error"]?["code"]?.string
    }

    @Test(arguments: [DeliveryReceipt.Result.accepted, .duplicate])
    func `what is stored is answered 200 with the receipt`(
        result: DeliveryReceipt.Result
    ) async throws {
        let store = FakeStore { $0.map { _ in DeliveryReceipt(delivery: 42, result: result) } }
        let seen = try await Self.withService(store) { service in
            let response = await service.answer(IngestWorld.request())
            #expect(response.status == 200)
            let body = try JSONParser.parse(response.body)
            #expect(body == ["status": .string(result.rawValue), "delivery": 42])
            #expect(
                response.headers.contains { $0.value == "application/json" })
        }
        #expect(seen.wakes == 1)
        let arrival = store.groups.first?.first
        #expect(arrival?.providerEventID == "e1")
        #expect(arrival?.environment == "production")
        #expect(arrival?.person.id == "u")
    }

    @Test func `without an event id the body's digest stands for it`() async throws {
        let store = FakeStore()
        _ = try await Self.withService(store) { service in
            #expect(await service.answer(IngestWorld.request("{}")).status == 200)
        }
        let id = store.groups.first?.first?.providerEventID
        #expect(id == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
    }

    @Test func `every cause of 401 gets the same answer, and nothing is stored`() async throws {
        let store = FakeStore()
        let seen = try await Self.withService(store) { service in
            var answers: Set<HTTPResponse> = []
            let right = IngestWorld.secret
            for authorization in [
                [], [""], ["Bearer wrong"], [right, right], [right + "x"], ["Bearer"],
                [right.lowercased()],
            ] {
                answers.insert(
                    await service.answer(IngestWorld.request(authorization: authorization)))
            }
            // The bytes decide before the body is read.
            answers.insert(
                await service.answer(IngestWorld.request("not JSON", authorization: ["no"])))
            #expect(answers.count == 1)
            #expect(answers.first?.status == 401)
        }
        #expect(store.groups.isEmpty)
        #expect(seen.wakes == 0)
        #expect(seen.log.count == 3, "one line a cause and minute")
        for line in seen.log {
            #expect(!line.contains(IngestWorld.secret))
            #expect(!line.contains("wrong"))
        }
    }

    @Test(arguments: [
        "", "[]", "null", "3", "\"text\"", "{", "{}x", "{\"a\":1,}", "\u{FEFF}{}", "[{}]",
    ])
    func `a body that is not one JSON object is 400`(body: String) async throws {
        let store = FakeStore()
        _ = try await Self.withService(store) { service in
            let response = await service.answer(IngestWorld.request(body))
            #expect(response.status == 400)
            #expect(Self.code(response) == "not_an_object")
        }
        #expect(store.groups.isEmpty)
    }

    @Test func `bytes that are no UTF-8 are 400`() async throws {
        _ = try await Self.withService { service in
            var request = IngestWorld.request()
            request.body = [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]
            #expect(await service.answer(request).status == 400)
        }
    }

    @Test(arguments: [
        #"{"event": "no object"}"#, #"{"event": {"id": "a\u0000b"}}"#,
        #"{"event": {"id": "\ud800"}}"#, #"{"event": {"id": 1}, "event": {"id": 2}}"#,
        #"{"event": {"event_timestamp_ms": 9e300}}"#,
        #"{"event": {"event_timestamp_ms": -99999999999999999999999}}"#,
        #"{"event": {"id": {}, "app_user_id": []}}"#,
        "{\"a\":" + String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
            + "}",
    ])
    func `whatever else an object holds, it is stored`(body: String) async throws {
        let store = FakeStore()
        _ = try await Self.withService(store) { service in
            #expect(await service.answer(IngestWorld.request(body)).status == 200)
        }
        guard case .body(let bytes, let digest)? = store.groups.first?.first?.content else {
            Issue.record("nothing was stored")
            return
        }
        #expect(bytes == Array(body.utf8))
        #expect(digest.count == 32)
    }

    @Test(arguments: [
        "/v1/webhooks/unknown", "/v1/webhooks/", "/v1/webhooks", "/", "/v1/webhooks/revenuecat/x",
        "/v1/webhooks/%ZZ", "/V1/webhooks/revenuecat", "/v1//webhooks/revenuecat",
    ])
    func `an unknown path is 404 from the head alone`(target: String) async throws {
        let store = FakeStore()
        _ = try await Self.withService(store) { service in
            let request = IngestWorld.request(target: target)
            #expect(service.decideEarly(request.head)?.status == 404)
            #expect(await service.answer(request).status == 404)
        }
        #expect(store.groups.isEmpty)
    }

    @Test(arguments: ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "post"])
    func `another method is 405 and names the right one`(method: String) async throws {
        _ = try await Self.withService { service in
            let early = service.decideEarly(IngestWorld.request(method: method).head)
            #expect(early?.status == 405)
            #expect(early?.headers.contains { $0.isNamed("Allow") && $0.value == "POST" } == true)
        }
    }

    @Test(arguments: [IngestWorld.gone, IngestWorld.refusal("22021"), IngestWorld.refusal("53300")])
    func `without the store's confirmation it is 503 with Retry-After, never 2xx`(
        error: any Error
    ) async throws {
        let store = FakeStore { _ in throw error }
        let seen = try await Self.withService(store) { service in
            for _ in 0..<3 {
                let response = await service.answer(IngestWorld.request())
                #expect(response.status == 503)
                #expect(Self.code(response) == "not_stored")
                #expect(
                    response.headers.contains { $0.isNamed("Retry-After") && Int($0.value) != nil })
            }
        }
        #expect(seen.wakes == 0)
        #expect(seen.log.count == 1)
    }

    @Test func `other connectors are put in place at once`() async throws {
        let other = try IngestWorld.connector("renamed")
        _ = try await Self.withService { service in
            service.reload([other.name: other])
            let old = await service.answer(IngestWorld.request())
            let new = await service.answer(IngestWorld.request(target: "/v1/webhooks/renamed"))
            #expect(old.status == 404)
            #expect(new.status == 200)
        }
    }
}
