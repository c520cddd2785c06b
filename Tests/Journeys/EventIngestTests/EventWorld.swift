import EventIngest
import JSON
import JourneyModel
import JourneyStorage
import Locks
import Telemetry
import TimeZones

@testable import HTTPServer

/// A service over a store in memory that knows ids it has seen.
struct EventWorld: Sendable {
    private struct Stored {
        var arrivals: [ArrivedDelivery] = []
        var ids: [String: Int64] = [:]
        var isDown = false
        var wishes: [RunWish] = []
        var cancellations: [RunCancellation] = []
        var madeIDs = 0
    }

    private let stored = Guarded(Stored())
    let now = Instant("2026-11-30T10:00:00Z") ?? Instant(milliseconds: 0)

    var arrivals: [ArrivedDelivery] { stored.withLock { $0.arrivals } }

    func breakDown() { stored.withLock { $0.isDown = true } }

    private struct Down: Error {}

    private func store(_ arrival: ArrivedDelivery) throws -> DeliveryReceipt {
        try stored.withLock { stored in
            if stored.isDown { throw Down() }
            let id = arrival.connector + " " + arrival.providerEventID
            if let known = stored.ids[id] {
                return DeliveryReceipt(delivery: known, result: .duplicate)
            }
            stored.arrivals.append(arrival)
            let number = Int64(stored.arrivals.count)
            stored.ids[id] = number
            return DeliveryReceipt(delivery: number, result: .accepted)
        }
    }

    var wishes: [RunWish] { stored.withLock { $0.wishes } }

    var cancellations: [RunCancellation] { stored.withLock { $0.cancellations } }

    /// The workflow's name says what becomes of the wish.
    private func start(_ wish: RunWish) throws -> RunWish.Answer {
        try stored.withLock { stored in
            if stored.isDown { throw Down() }
            stored.wishes.append(wish)
            return switch wish.workflow.text {
            case "before": .startedBefore(RunID("r-before"))
            case "live": wish.supersedes ? .accepted : .slotTaken(RunID("r-live"))
            case "stranger": .unknownCustomer
            case "by-event": .isNotStartedByRequest
            case "offer": .accepted
            default: .unknownWorkflow
            }
        }
    }

    private func cancel(_ cancellation: RunCancellation) throws -> RunCancellation.Answer {
        stored.withLock { stored in
            stored.cancellations.append(cancellation)
            return switch cancellation.run.text {
            case "r-live": .accepted
            case "r-done": .ended("completed")
            default: .unknownRun
            }
        }
    }

    func service(largestBody: Int = 1_048_576) -> EventService {
        let now = now
        return EventService(
            sources: [
                "backend": Source(
                    name: "backend", trust: .source, keys: ["token-1", "token-2"],
                    environment: "production", app: nil),
                "app": Source(
                    name: "app", trust: .client, keys: ["pk_live_1"], environment: "production",
                    app: "shop"),
            ],
            doors: EventService.Doors(
                store: { try store($0) }, storeInOrder: { try $0.map { try store($0) } },
                customer: { _, _, _ in nil }, start: { try start($0) },
                cancel: { try cancel($0) }, onStored: {}),
            largestBody: largestBody, log: .silent, metrics: Metrics(), clock: { now },
            makeID: {
                stored.withLock {
                    $0.madeIDs += 1
                    return "made-\($0.madeIDs)"
                }
            })
    }

    func post(
        _ path: String, _ body: String, token: String? = "token-1", service: EventService? = nil,
        headers: [HTTPField] = []
    ) async throws -> (status: Int, body: JSONValue) {
        try await send(
            "POST", path, Array(body.utf8), token: token, service: service, headers: headers)
    }

    func send(
        _ method: String, _ path: String, _ body: [UInt8], token: String? = "token-1",
        service: EventService? = nil, headers: [HTTPField] = []
    ) async throws -> (status: Int, body: JSONValue) {
        var fields = HTTPFields(headers)
        if let token { fields.append(HTTPField("Authorization", "Bearer \(token)")) }
        let head = HTTPHead(
            method: method, target: path, path: path, query: nil, headers: fields,
            isVersion11: true, keepsAlive: true, expectsContinue: false, hasBody: !body.isEmpty)
        let request = HTTPRequest(
            head: head, body: body, peerAddress: "127.0.0.1", requestID: "r1", isSecure: false)
        let response = await (service ?? self.service()).answer(request)
        return (response.status, try JSONParser.parse(response.body))
    }
}
