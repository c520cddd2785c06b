package import HTTPServer
internal import JSON
internal import JourneyModel
package import JourneyStorage
internal import Locks
package import Telemetry
package import TimeZones

/// The app's own requests: events, customers and runs by a back end's token, and the public SDK's events
/// by a public key.
package final class EventService: Sendable {
    /// What the service does not do itself.
    package struct Doors: Sendable {
        /// Stores one arrival durably, together with whatever others are on their way.
        package var store: @Sendable (ArrivedDelivery) async throws -> DeliveryReceipt
        /// Stores arrivals of one request durably and in their order, at most
        /// ``DeliveryStore/batchLimit``.
        package var storeInOrder: @Sendable ([ArrivedDelivery]) async throws -> [DeliveryReceipt]
        /// A customer's record; nil when there is none.
        package var customer:
            @Sendable (_ id: String, _ environment: String, _ app: String?) async throws ->
                CustomerView?
        /// Asks for a run, durably.
        package var start: @Sendable (RunWish) async throws -> RunWish.Answer
        /// Asks for a run's end, durably.
        package var cancel: @Sendable (RunCancellation) async throws -> RunCancellation.Answer
        /// Called after a commit, to wake the worker.
        package var onStored: @Sendable () -> Void

        package init(
            store: @escaping @Sendable (ArrivedDelivery) async throws -> DeliveryReceipt,
            storeInOrder:
                @escaping @Sendable ([ArrivedDelivery]) async throws ->
                [DeliveryReceipt],
            customer: @escaping @Sendable (String, String, String?) async throws -> CustomerView?,
            start: @escaping @Sendable (RunWish) async throws -> RunWish.Answer,
            cancel: @escaping @Sendable (RunCancellation) async throws -> RunCancellation.Answer,
            onStored: @escaping @Sendable () -> Void
        ) {
            self.store = store
            self.storeInOrder = storeInOrder
            self.customer = customer
            self.start = start
            self.cancel = cancel
            self.onStored = onStored
        }
    }

    let doors: Doors
    let clock: @Sendable () -> Instant
    let makeID: @Sendable () -> String
    /// Bytes of a body once it is opened.
    let largestBody: Int
    let metrics: EventIngestMetrics
    private let sources: Guarded<[String: Source]>
    private let log: Log
    private let throttle = LogThrottle()

    /// Items one request may hold.
    package static let mostItems = 1_000

    /// - Parameters:
    ///   - makeID: gives an event without an id one of its own.
    ///   - largestBody: bytes of a body once it is opened.
    package init(
        sources: [String: Source], doors: Doors, largestBody: Int, log: Log, metrics: Metrics,
        clock: @escaping @Sendable () -> Instant, makeID: @escaping @Sendable () -> String
    ) {
        self.sources = Guarded(sources)
        self.doors = doors
        self.largestBody = largestBody
        self.log = log
        self.metrics = EventIngestMetrics(metrics)
        self.clock = clock
        self.makeID = makeID
    }

    /// Puts other sources in place.
    package func reload(_ sources: [String: Source]) { self.sources.withLock { $0 = sources } }

    /// Answers from the head alone what needs no body: 405, and 401 for want of a token.
    package func decideEarly(_ head: HTTPHead) -> HTTPResponse? {
        guard let route = Route(head.pathSegments) else { return .noSuchPath }
        if let refusal = refusal(of: head, to: route) { return refusal }
        return route.needsToken && sender(of: head.headers) == nil ? .unauthorized : nil
    }

    private func refusal(of head: HTTPHead, to route: Route) -> HTTPResponse? {
        guard route.methods.contains(head.method) else {
            var response = HTTPResponse.problem(
                405, "method_not_allowed",
                "\(head.path) is used with \(route.methods.joined(separator: " or ")).")
            response.headers.append(
                HTTPField("Allow", route.methods.joined(separator: ", ")))
            return response
        }
        return nil
    }

    /// Answers a whole request; it is 2xx only after the commit of all it confirms.
    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard let route = Route(request.head.pathSegments) else { return .noSuchPath }
        if let refusal = refusal(of: request.head, to: route) { return refusal }
        do {
            switch route {
            case .document: return .json(200, openAPIDocument)
            case .events: return try await takeEvents(request, from: try token(request))
            case .customer(let id):
                let source = try token(request)
                return request.head.method == "GET"
                    ? try await show(id, request, to: source)
                    : try await update(id, request, from: source)
            case .runs: return try await startRun(request, from: try token(request))
            case .run(let id): return try await cancelRun(id, request, from: try token(request))
            case .clientEvent: return try await takeClientEvent(request)
            case .clientBatch: return try await takeClientBatch(request)
            }
        } catch let refusal as RequestRefusal {
            return refusal.response
        } catch {
            log.throttled(
                by: throttle, key: "unconfirmed", .error,
                "a request of the app's own was answered 503: it could not be stored",
                ["reason": .text("\(error)"), "request": .text(request.requestID)])
            return .notStored
        }
    }

    // MARK: Who sends

    private func token(_ request: HTTPRequest) throws(RequestRefusal) -> Source {
        guard let source = sender(of: request.headers) else {
            throw RequestRefusal(.unauthorized)
        }
        return source
    }

    private func sender(of headers: HTTPFields) -> Source? {
        let values = headers.values(of: "Authorization")
        guard values.count == 1, let value = values.first else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = String(parts[1])
        return sources.withLock { $0 }.source(of: token, trust: .source)
    }

    /// The app whose public key stands in the body.
    func client(_ key: String?) throws(RequestRefusal) -> Source {
        guard let key,
            let source = sources.withLock({ $0 }).source(of: key, trust: .client)
        else {
            throw RequestRefusal(
                .json(
                    401,
                    JSONValue.object(
                        JSONObject([
                            ("message", "The apiKey is not known here."),
                            ("code", "invalid_api_key"),
                        ])
                    ).bytes))
        }
        return source
    }
}

/// The paths of the app's own requests.
enum Route: Equatable {
    case events
    case customer(String)
    case runs
    case run(String)
    case clientEvent
    case clientBatch
    case document

    init?(_ segments: [String]?) {
        switch segments ?? [] {
        case ["v1", "events"]: self = .events
        case ["v1", "runs"]: self = .runs
        case ["event"]: self = .clientEvent
        case ["batch"]: self = .clientBatch
        case ["openapi.json"]: self = .document
        case let path where path.count == 3 && path[0] == "v1" && path[1] == "customers":
            self = .customer(path[2])
        case let path where path.count == 3 && path[0] == "v1" && path[1] == "runs":
            self = .run(path[2])
        default: return nil
        }
    }

    var methods: [String] {
        switch self {
        case .events, .runs, .clientEvent, .clientBatch: ["POST"]
        case .run: ["DELETE"]
        case .customer: ["GET", "POST"]
        case .document: ["GET"]
        }
    }

    var needsToken: Bool {
        switch self {
        case .events, .customer, .runs, .run: true
        case .clientEvent, .clientBatch, .document: false
        }
    }
}

/// A request that is answered with a refusal.
struct RequestRefusal: Error {
    let response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
}

extension HTTPResponse {
    /// `{"error": {"code", "message"}}`.
    static func problem(_ status: Int, _ code: String, _ message: String) -> HTTPResponse {
        let body: JSONValue = ["error": ["code": .string(code), "message": .string(message)]]
        return .json(status, body.bytes)
    }

    static var noSuchPath: HTTPResponse {
        .problem(404, "not_found", "There is no such path; /openapi.json tells those there are.")
    }

    static var unauthorized: HTTPResponse {
        var response = problem(
            401, "unauthorized", "Send the token of a source as Authorization: Bearer.")
        response.headers.append(HTTPField("WWW-Authenticate", "Bearer"))
        return response
    }

    static var notStored: HTTPResponse {
        var response = problem(
            503, "not_stored",
            "Not all of it was stored; send it again. Items with an id are kept once.")
        response.headers.append(HTTPField("Retry-After", "5"))
        return response
    }
}
