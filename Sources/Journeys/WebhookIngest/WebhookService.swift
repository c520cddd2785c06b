package import Connectors
internal import Crypto
internal import FailPoints
package import HTTPServer
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import Locks
package import Telemetry
package import TimeZones

/// The webhook endpoint: authenticates the raw bytes, stores the delivery durably, answers.
///
/// `POST /v1/webhooks/{connector}` and nothing else; what a delivery means is the worker's to find out.
package final class WebhookService: Sendable {
    private let connectors: Guarded<[String: Connector]>
    private let commit: GroupCommit
    private let clock: @Sendable () -> Instant
    private let log: Log
    private let throttle = LogThrottle()
    private let metrics: IngestMetrics
    private let onStored: @Sendable () -> Void
    private let arrivals = Guarded<[String: Instant]>([:])

    /// - Parameters:
    ///   - clock: compared with the time in a signature's header.
    ///   - onStored: called after a commit, to wake the worker.
    package init(
        connectors: [String: Connector], commit: GroupCommit, log: Log, metrics: Metrics,
        clock: @escaping @Sendable () -> Instant, onStored: @escaping @Sendable () -> Void
    ) {
        self.connectors = Guarded(connectors)
        self.commit = commit
        self.log = log
        self.metrics = IngestMetrics(metrics)
        self.clock = clock
        self.onStored = onStored
    }

    /// Puts other connectors in place; requests under way keep the old ones.
    package func reload(_ connectors: [String: Connector]) {
        let old = publishedKeys
        for keys in connectors.values.flatMap(\.publishedKeys) {
            for other in old { keys.adopt(other) }
        }
        self.connectors.withLock { $0 = connectors }
    }

    /// The key sets that the connectors in use need, for ``KeyRefresher``.
    package var publishedKeys: [PublishedKeys] {
        connectors.withLock { $0.values.flatMap(\.publishedKeys) }
    }

    /// Whether a path is this service's; every other one is somebody else's.
    package static func serves(_ head: HTTPHead) -> Bool {
        head.pathSegments?.prefix(2) == ["v1", "webhooks"]
    }

    /// When each connector's newest delivery was stored, of those since the last call.
    package func takeArrivals() -> [String: Instant] {
        arrivals.withLock { arrivals in
            defer { arrivals = [:] }
            return arrivals
        }
    }

    /// Answers from the head alone what needs no body: 404 and 405.
    package func decideEarly(_ head: HTTPHead) -> HTTPResponse? {
        switch receiver(of: head) {
        case .success: nil
        case .failure(let refusal): refusal.response
        }
    }

    private struct Refusal: Error {
        let response: HTTPResponse
    }

    private func receiver(of head: HTTPHead) -> Result<Connector, Refusal> {
        guard let connector = connector(of: head) else {
            metrics.count(connector: "unknown", result: "not_found")
            let response = HTTPResponse.problem(
                404, "not_found",
                "There is no such connector; configure it or mend the path "
                    + "/v1/webhooks/{connector}.")
            return .failure(Refusal(response: response))
        }
        guard head.method == "POST" else {
            metrics.count(connector: connector.name, result: "method_not_allowed")
            var response = HTTPResponse.problem(
                405, "method_not_allowed", "Webhooks are sent with POST.")
            response.headers.append(HTTPField("Allow", "POST"))
            return .failure(Refusal(response: response))
        }
        return .success(connector)
    }

    /// Answers a whole request. It is 2xx only after the commit.
    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let connector: Connector
        switch receiver(of: request.head) {
        case .success(let found): connector = found
        case .failure(let refusal): return refusal.response
        }
        let started = ContinuousClock.now
        let (response, result) = await take(request, by: connector)
        metrics.count(connector: connector.name, result: result)
        metrics.observe(ContinuousClock.now - started)
        return response
    }

    private func connector(of head: HTTPHead) -> Connector? {
        guard let segments = head.pathSegments, segments.count == 3, segments[0] == "v1",
            segments[1] == "webhooks"
        else { return nil }
        return connectors.withLock { $0[segments[2]] }
    }

    private func take(
        _ request: HTTPRequest, by connector: Connector
    ) async -> (HTTPResponse, result: String) {
        let headers = request.headers.all.map { (name: $0.name, value: $0.value) }
        switch connector.authenticate(headers: headers, body: request.body, now: clock()) {
        case .accepted: break
        case .refused(let refusal):
            logRefusal(refusal, request, connector)
            if refusal.isTemporary {
                return (
                    .notStored("The sender cannot be checked yet; send it again."), "unavailable"
                )
            }
            return (
                .problem(401, "unauthorized", "The delivery could not be authenticated."),
                "unauthorized"
            )
        }
        let envelope: Envelope?
        switch DeliveredBody(request.body) {
        case .refused(let sentence):
            log.throttled(
                by: throttle, key: "400 \(connector.name)", .warning,
                "a delivery that was authenticated is no JSON object and was refused",
                [
                    "connector": .text(connector.name), "reason": .text(sentence),
                    "request": .text(request.requestID),
                ])
            return (
                .problem(
                    400, "not_an_object",
                    "The body must be one JSON object in UTF-8: \(sentence)."), "malformed"
            )
        case .tooDeep: envelope = nil
        case .object(let body, _): envelope = connector.envelope(of: body)
        }
        return await store(request, by: connector, envelope)
    }

    private func store(
        _ request: HTTPRequest, by connector: Connector, _ envelope: Envelope?
    ) async -> (HTTPResponse, result: String) {
        let kept = connector.keptHeaders(
            of: request.headers.all.map { (name: $0.name, value: $0.value) })
        let arrival = ArrivedDelivery(
            connector: connector.name,
            providerEventID: Connector.deduplicationID(envelope, body: request.body),
            content: .body(request.body, digest: SHA256.digest(request.body)),
            environment: envelope?.environment ?? connector.unknownEnvironment,
            app: connector.app, person: envelope?.person ?? .init(id: nil),
            occurredAt: envelope?.occurredAt,
            signatureHeaders: kept.isEmpty
                ? nil : JSONObject(kept.map { ($0.name, .string($0.value)) }))
        do throws(GroupCommit.Refusal) {
            let receipt = try await commit.commit(arrival)
            failPoint("ingest.stored")
            let now = clock()
            arrivals.withLock { $0[connector.name] = now }
            onStored()
            return (.accepted(receipt), receipt.result.rawValue)
        } catch {
            let reason =
                switch error {
                case .full: "more deliveries are waiting than memory allows"
                case .unconfirmed(let sentence): sentence
                }
            log.throttled(
                by: throttle, key: "unconfirmed", .error,
                "a delivery was answered 503: it could not be stored; the provider sends it again",
                ["connector": .text(connector.name), "reason": .text(reason)])
            return (
                .notStored("The delivery was not stored; send it again."), "unavailable"
            )
        }
    }

    /// Bad signatures are expected on an open port: once a minute a cause, and never as an error.
    private func logRefusal(
        _ refusal: AuthenticationRefusal, _ request: HTTPRequest, _ connector: Connector
    ) {
        log.throttled(
            by: throttle, key: "401 \(connector.name) \(refusal)", .warning,
            "a delivery was refused: \(refusal)",
            [
                "connector": .text(connector.name), "peer": .text(request.peerAddress),
                "request": .text(request.requestID),
            ])
    }
}

extension HTTPResponse {
    /// `{"error": {"code", "message"}}`.
    static func problem(_ status: Int, _ code: String, _ message: String) -> HTTPResponse {
        let body: JSONValue = ["error": ["code": .string(code), "message": .string(message)]]
        return .json(status, body.bytes)
    }

    fileprivate static func notStored(_ sentence: String) -> HTTPResponse {
        var response = problem(503, "not_stored", sentence)
        response.headers.append(HTTPField("Retry-After", "5"))
        return response
    }

    fileprivate static func accepted(_ receipt: DeliveryReceipt) -> HTTPResponse {
        let body: JSONValue = [
            "status": .string(receipt.result.rawValue), "delivery": .integer(receipt.delivery),
        ]
        return .json(200, body.bytes)
    }
}
