import Connectors
import HTTPServer
import JSON
import JourneyModel
import JourneyStorage
import Locks
import Postgres
import Reactor
import Telemetry
import TimeZones
import WebhookIngest

/// A store that answers as told, connectors, and a service over them.
final class FakeStore: Sendable {
    typealias Answer = @Sendable ([ArrivedDelivery]) throws -> [DeliveryReceipt]

    private struct State {
        var answer: Answer
        var groups: [[ArrivedDelivery]] = []
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Guarded<State>

    init(_ answer: @escaping Answer = FakeStore.accepting) {
        state = Guarded(State(answer: answer))
    }

    static let accepting: Answer = { group in
        group.indices.map { DeliveryReceipt(delivery: Int64($0 + 1), result: .accepted) }
    }

    var groups: [[ArrivedDelivery]] { state.withLock { $0.groups } }

    /// While held, statements wait.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHeld = false
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func store(_ group: [ArrivedDelivery]) async throws -> [DeliveryReceipt] {
        await withCheckedContinuation { continuation in
            let mayGo = state.withLock { state in
                state.groups.append(group)
                if state.isHeld { state.held.append(continuation) }
                return !state.isHeld
            }
            if mayGo { continuation.resume() }
        }
        let answer = state.withLock { $0.answer }
        return try answer(group)
    }
}

enum IngestWorld {
    static let secret = "Bearer a-secret-of-the-dashboard"
    static let now = Instant(milliseconds: 1_775_000_000_000)

    static func connector(_ name: String = "revenuecat") throws -> Connector {
        guard let provider = ProviderDefinition.shipped(named: "revenuecat") else {
            throw Missing()
        }
        return try Connector(
            name: name, provider: provider,
            authentication: [
                Authentication(
                    scheme: .authorization, secrets: [SharedSecret(secret, origin: "a test")])
            ])
    }

    static func arrival(_ id: String, body: [UInt8] = [0x7b, 0x7d]) -> ArrivedDelivery {
        ArrivedDelivery(
            connector: "revenuecat", providerEventID: id, content: .body(body, digest: []),
            environment: "production", person: Event.Person(id: "p"))
    }

    static func request(
        _ body: String =
            #"{"event": {"id": "e1", "app_user_id": "u", "environment": "PRODUCTION"}}"#,
        target: String = "/v1/webhooks/revenuecat", method: String = "POST",
        authorization: [String] = [secret]
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, target: target,
            headers: HTTPFields(authorization.map { HTTPField("Authorization", $0) }),
            body: Array(body.utf8))
    }

    static func refusal(_ sqlState: String) -> PostgresError {
        PostgresError(kind: .server, message: "refused", sqlState: sqlState)
    }

    static let gone = PostgresError(
        kind: .connectionLost, message: "gone", outcomeUnknown: true)

    struct Missing: Error {}
}
