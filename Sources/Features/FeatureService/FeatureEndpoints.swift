internal import Crypto
package import FeatureLedger
internal import FeatureModel
package import HTTPServer
internal import JSON
internal import Locks
internal import Postgres
package import Telemetry

/// Answers apps: `/entitled`, `/feature/consume`, `/purchase` and `/profile`.
package final class FeatureEndpoints: Sendable {
    private let ledger: LedgerStore
    private let keys: KeyRing
    private let judge: PurchaseJudge
    private let mostInFlight: Int
    private let metrics: FeatureMetrics
    private let log: Log
    private let nowMilliseconds: @Sendable () -> Int64
    private let inFlight = Guarded(0)

    /// - Parameters:
    ///   - nowMilliseconds: since 1970; only for signatures that do not say when they were made.
    package init(
        ledger: LedgerStore, keys: [String: KeySettings], judge: PurchaseJudge, mostInFlight: Int,
        metrics: FeatureMetrics, log: Log, nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.ledger = ledger
        self.keys = KeyRing(keys)
        self.judge = judge
        self.mostInFlight = mostInFlight
        self.metrics = metrics
        self.log = log
        self.nowMilliseconds = nowMilliseconds
    }

    private enum Endpoint: String, CaseIterable {
        case entitled = "/entitled"
        case consume = "/feature/consume"
        case purchase = "/purchase"
        case profile = "/profile"
    }

    /// Refuses by the head alone what no body can mend.
    package func decideEarly(_ head: HTTPHead) -> HTTPResponse? {
        let failure: WireFailure? =
            if Endpoint(rawValue: head.path) == nil {
                .notFound
            } else if head.method != "POST" {
                .notPOST
            } else {
                nil
            }
        guard let failure else { return nil }
        metrics.requests.add(labels: ["other", String(failure.status)])
        return failure.response
    }

    /// Counts a request that the HTTP server itself refused.
    package func note(_ refusal: HTTPRefusal) {
        metrics.httpRefusals.add(labels: [refusal.rawValue])
    }

    /// Answers one request.
    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard let endpoint = Endpoint(rawValue: request.path) else {
            return WireFailure.notFound.response
        }
        let start = ContinuousClock.now
        let response = await answerCounted(request, at: endpoint, start)
        metrics.requests.add(labels: [endpoint.rawValue, String(response.status)])
        metrics.latency.observe(.now - start, labels: [endpoint.rawValue])
        return response
    }

    private func answerCounted(
        _ request: HTTPRequest, at endpoint: Endpoint, _ now: ContinuousClock.Instant
    ) async -> HTTPResponse {
        do {
            if request.method != "POST" { throw WireFailure.notPOST }
            guard enter() else { throw WireFailure.busy }
            defer { inFlight.withLock { $0 -= 1 } }
            let wire = try WireRequest(request.body)
            guard let client = keys.client(wire.apiKey) else { throw WireFailure.unknownKey }
            if let wait = client.bucket.take(at: now) {
                metrics.limited.add(labels: [client.name])
                throw WireFailure.limited(wait)
            }
            switch endpoint {
            case .entitled: return try await entitled(wire, client)
            case .consume: return try await consume(wire, client)
            case .purchase: return try await purchase(wire, client)
            case .profile:
                return try await profile(wire, client, known: request.headers["If-None-Match"])
            }
        } catch {
            let failure = failure(for: error, at: endpoint, request.requestID)
            // The public SDK reads `success` and `error` of this one.
            return endpoint == .purchase ? failure.purchaseResponse : failure.response
        }
    }

    private func enter() -> Bool {
        inFlight.withLock { count in
            if count >= mostInFlight { return false }
            count += 1
            return true
        }
    }

    private func failure(
        for error: any Error, at endpoint: Endpoint, _ requestID: String
    ) -> WireFailure {
        switch error {
        case let failure as WireFailure: return failure
        case let refusal as PurchaseRefusal:
            metrics.purchases.add(labels: [refusal.code])
            return .refused(refusal)
        case let error as PostgresError:
            let mayPass =
                error.isConnectionFailure || error.isRetryable || error.outcomeUnknown
                || [.timedOut, .exhausted, .closed, .cancelled].contains(error.kind)
                || error.sqlState?.hasPrefix("57P") == true || error.sqlState == "53300"
            log.log(
                mayPass ? .warning : .error, "a request failed at the database",
                [
                    "endpoint": .text(endpoint.rawValue), "request": .text(requestID),
                    "reason": .text("\(error)"),
                ])
            return mayPass ? (error.kind == .exhausted ? .busy : .unavailable) : .broken
        default:
            log.error(
                "a request failed",
                [
                    "endpoint": .text(endpoint.rawValue), "request": .text(requestID),
                    "reason": .text("\(error)"),
                ])
            return .broken
        }
    }

    // MARK: Endpoints

    private func entitled(
        _ wire: WireRequest, _ client: KeyRing.Client
    ) async throws -> HTTPResponse {
        let customer = try wire.customer()
        let feature = try wire.feature()
        let required = try wire.quantity("requiredBalance") ?? .one
        let entity = try wire.entity()
        let view = try await ledger.view(of: customer, in: client.environment)
        let answer = view.account.access(
            to: feature, required: required, entity: entity, in: view.catalogue, at: view.now)
        return .json(
            200,
            answer.wire(
                customer: customer, feature: feature, required: required, entity: entity
            ).bytes)
    }

    private func consume(
        _ wire: WireRequest, _ client: KeyRing.Client
    ) async throws -> HTTPResponse {
        let command = try wire.command()
        let metadata = try wire.metadata()
        let purchase = try wire.backingPurchase().map { try verified($0, client) }
        if purchase != nil, command.mode == .setUsage {
            throw WireFailure.invalid(
                "purchase",
                "A cumulative total is never backed by a purchase; send it to /purchase.")
        }
        let outcome = try await ledger.consume(
            command, purchase: purchase, metadata: metadata, in: client.environment)
        if purchase != nil { metrics.purchases.add(labels: ["taken"]) }
        switch outcome {
        case .conflict: throw WireFailure.conflict
        case .decided(let receipt, let isReplay):
            metrics.consumptions.add(labels: [receipt.code.rawValue, isReplay ? "yes" : "no"])
            return .json(200, receipt.wire(isReplay: isReplay).bytes)
        }
    }

    private func purchase(
        _ wire: WireRequest, _ client: KeyRing.Client
    ) async throws -> HTTPResponse {
        let customer = try wire.customer()
        let purchase = try verified(try wire.purchase(), client)
        let view = try await ledger.record(purchase, for: customer, in: client.environment)
        metrics.purchases.add(labels: ["taken"])
        let profile = Profile(
            of: view.account, customer: customer, in: view.catalogue, at: view.now)
        let product = view.catalogue.product(appStore: purchase.transaction.productID)
        return .json(
            200, profile.purchaseWire(purchase.transaction.id, product: product?.key).bytes)
    }

    private func profile(
        _ wire: WireRequest, _ client: KeyRing.Client, known: String?
    ) async throws -> HTTPResponse {
        let customer = try wire.customer()
        let view = try await ledger.view(of: customer, in: client.environment)
        let body = Profile(
            of: view.account, customer: customer, in: view.catalogue, at: view.now
        ).wire.bytes
        let tag = "\"" + String(SHA256.hex(body).prefix(32)) + "\""
        var response = HTTPResponse.json(200, body)
        if let known, Self.matches(known, tag) { response = HTTPResponse(status: 304) }
        response.headers.append(HTTPField("ETag", tag))
        response.headers.append(HTTPField("Cache-Control", "private, no-cache"))
        return response
    }

    /// Whether `If-None-Match` names the tag; a proxy may have made it a weak one.
    private static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").contains { part in
            let word = part.drop { $0 == " " }
            let bare = word.hasPrefix("W/") ? word.dropFirst(2) : word
            return bare.prefix { $0 != " " } == tag || word == "*"
        }
    }

    private func verified(
        _ signed: String, _ client: KeyRing.Client
    ) throws(PurchaseRefusal) -> VerifiedPurchase {
        try judge.judge(
            signed, for: client.environment, nowMilliseconds: nowMilliseconds())
    }
}
