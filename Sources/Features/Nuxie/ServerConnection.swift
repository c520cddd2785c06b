internal import FeatureModel
internal import JSON

/// Asks the two servers, and says of every failure whether it may be tried again.
struct ServerConnection: Sendable {
    let transport: any Transport
    let apiKey: String
    /// Without a slash at the end.
    let features: String
    /// Where `/event` is; the same host unless said otherwise.
    let events: String
    let timeout: Duration

    init(_ configuration: NuxieConfiguration, transport: any Transport) {
        func bare(_ text: String) -> String {
            var text = text
            while text.hasSuffix("/") { text.removeLast() }
            return text
        }
        self.transport = transport
        apiKey = configuration.apiKey
        features = bare(configuration.apiEndpoint)
        events = bare(configuration.eventEndpoint ?? configuration.apiEndpoint)
        timeout = configuration.requestTimeout
    }

    /// What came of a request.
    enum Outcome: Sendable {
        case answered(JSONValue, etag: String?)
        /// 304.
        case unchanged
        /// It will be refused again.
        case refused(NuxieError)
        /// It may be taken another time.
        case postponed(NuxieError)

        /// The answer, for calls that are not repeated.
        func value() throws(NuxieError) -> JSONValue? {
            switch self {
            case .answered(let json, _): json
            case .unchanged: nil
            case .refused(let error), .postponed(let error): throw error
            }
        }
    }

    func entitled(
        customer: String, feature: String, required: Int, entity: String?
    ) async throws -> Outcome {
        try await post(
            features + "/entitled",
            Wire.entitled(
                customer: customer, feature: feature, required: required, entity: entity))
    }

    func consume(_ command: UsageCommand, signed: String?) async throws -> Outcome {
        try await post(features + "/feature/consume", Wire.consume(command, signed: signed))
    }

    func purchase(customer: String, signed: String) async throws -> Outcome {
        try await post(
            features + "/purchase", Wire.purchase(customer: customer, signed: signed))
    }

    /// - Parameter etag: of the profile that is known.
    func profile(customer: String, etag: String?) async throws -> Outcome {
        try await post(
            features + "/profile", Wire.profile(customer: customer),
            headers: etag.map { ["If-None-Match": $0] } ?? [:])
    }

    func event(_ item: EventItem) async throws -> Outcome {
        try await post(events + "/event", item.wire)
    }

    /// - Throws: `CancellationError`; every other failure is an outcome.
    private func post(
        _ url: String, _ json: JSONObject, headers: [String: String] = [:]
    ) async throws -> Outcome {
        var body = JSONObject([("apiKey", .string(apiKey))])
        for (name, value) in json { body[name] = value }
        let answer: TransportAnswer
        do {
            answer = try await transport.post(
                TransportRequest(
                    url: url, body: JSONValue.object(body).bytes, headers: headers,
                    timeout: timeout))
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            return .postponed(
                NuxieError(
                    .unreachable,
                    "No answer came from the server (\(error)); what was sent may have been taken, so "
                        + "repeat it under the same operation id."))
        }
        return Self.outcome(of: answer)
    }

    static func outcome(of answer: TransportAnswer) -> Outcome {
        if answer.status == 304 { return .unchanged }
        let json = try? JSONParser.parse(answer.body, options: .webhook)
        if answer.status == 200 {
            guard let json, json.object != nil else { return .postponed(malformed) }
            return .answered(json, etag: answer.headers["etag"])
        }
        let code = json?["code"]?.string
        let message = json?["message"]?.string ?? "The server answered \(answer.status)."
        let wait = answer.headers["retry-after"].flatMap(RetryAfter.init(header:))
            .map { Duration.milliseconds($0.milliseconds) }
        func error(_ kind: NuxieError.Code) -> NuxieError {
            NuxieError(kind, message, serverCode: code, retryAfter: wait)
        }
        switch answer.status {
        case 401, 403: return .postponed(error(.unauthorized))
        // A proxy on its way, or a server that is being replaced.
        case 404, 405, 408, 425, 429, 500...599: return .postponed(error(.unavailable))
        case 409: return .refused(error(.operationConflict))
        case 422 where code?.hasPrefix("purchase_") == true || code == "product_not_found":
            return .refused(error(.purchaseRefused))
        case 400..<500: return .refused(error(.refused))
        default: return .postponed(error(.malformedAnswer))
        }
    }

    static let malformed = NuxieError(
        .malformedAnswer,
        "The server's answer is not in a form this SDK knows; see that apiEndpoint is a Nuxie server "
            + "and that the SDK is not older than it.")
}
