internal import HTTPClient
internal import JSON
internal import JourneyEngine
internal import TimeZones
internal import WorkflowDefinitions

/// What the answer to an attempt means, or its absence.
enum AnswerReader {
    /// A result past this is kept without its body.
    static let resultLimit = 16_384
    /// Bytes of an answer's body that an error shows.
    static let excerptLimit = 4_096

    /// - Parameters:
    ///   - now: what a `Retry-After` with a date is told against where the answer has no date of its own.
    ///   - result: reads the result of an answer of class 2xx.
    static func outcome(
        of answer: HTTPAnswer, now: Instant, result: (HTTPAnswer) -> JSONValue
    ) -> AttemptOutcome {
        if (200..<300).contains(answer.status) { return .succeeded(result(answer)) }
        let detail: JSONValue = [
            "status": .integer(answer.status), "body": .string(excerpt(answer.body)),
        ]
        let cause: RetryPolicy.Cause? =
            switch answer.status {
            case 429: .tooManyRequests
            case 500...599: .serverError
            default: nil
            }
        return .failed(
            AttemptFailure(
                error: "http_\(answer.status)", detail: detail, retryCause: cause,
                retryAfter: answer.header("Retry-After").flatMap {
                    RetryAfter.wait($0, answeredAt: answer.header("Date"), now: now)
                }))
    }

    /// `{status, headers, json | text}`, within ``resultLimit``.
    static func wholeResult(of answer: HTTPAnswer) -> JSONValue {
        var headers = JSONObject()
        for header in answer.headers { headers[header.name.lowercased()] = .string(header.value) }
        var result = JSONObject([
            ("status", .integer(answer.status)), ("headers", .object(headers)),
        ])
        let isJSON = answer.header("Content-Type")?.lowercased().contains("json") ?? false
        if isJSON, let json = try? JSONParser.parse(answer.body, options: .webhook) {
            result["json"] = json
        } else {
            result["text"] = .string(storable(answer.body))
        }
        if JSONValue.object(result).bytes.count <= resultLimit { return .object(result) }
        return ["status": .integer(answer.status), "truncated": true]
    }

    /// `{status}`.
    static func status(of answer: HTTPAnswer) -> JSONValue { ["status": .integer(answer.status)] }

    static func outcome(of error: HTTPClientError) -> AttemptOutcome {
        let detail = JSONValue.string(error.description)
        switch error.kind {
        case .invalidCall: return .failed(AttemptFailure(error: "invalid_request", detail: detail))
        case .destinationRefused:
            return .failed(AttemptFailure(error: "destination_refused", detail: detail))
        case .timedOut:
            let failure = AttemptFailure(error: "timeout", detail: detail, retryCause: .timeout)
            return error.requestMayHaveBeenSent ? .ambiguous(failure) : .failed(failure)
        case .tls, .unresolvedHost, .connectFailed, .brokenConnection:
            let failure = AttemptFailure(error: "network", detail: detail, retryCause: .network)
            return error.requestMayHaveBeenSent ? .ambiguous(failure) : .failed(failure)
        case .tooManyCalls, .cancelled:
            var failure = AttemptFailure(error: "interrupted", detail: detail, retryCause: .network)
            failure.isOwnDoing = true
            return error.requestMayHaveBeenSent ? .ambiguous(failure) : .notMade(failure)
        }
    }

    static func excerpt(_ body: [UInt8]) -> String { storable(Array(body.prefix(excerptLimit))) }

    /// Text that PostgreSQL can hold, whatever the bytes.
    private static func storable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
    }
}
