internal import FeatureModel
internal import HTTPServer
internal import JSON

/// An answer that is no answer: `{message, code, details?}` with a status.
struct WireFailure: Error, Hashable {
    let status: Int
    let code: String
    /// The fact, the place and the next step.
    let message: String
    var details: JSONObject?
    /// When to come back.
    var retryAfter: RetryAfter?
    var allow: String?

    var response: HTTPResponse { response(of: JSONObject()) }

    /// The same in the form that the public SDK reads of `/purchase`.
    var purchaseResponse: HTTPResponse {
        response(of: JSONObject([("success", false), ("error", .string(message))]))
    }

    private func response(of members: JSONObject) -> HTTPResponse {
        var json = members
        json["message"] = .string(message)
        json["code"] = .string(code)
        if let details { json["details"] = .object(details) }
        var response = HTTPResponse.json(status, JSONValue.object(json).bytes)
        if let retryAfter {
            // Never 0: a client that takes it at its word would come back at once.
            let seconds = RetryAfter(milliseconds: max(1_000, retryAfter.milliseconds))
            response.headers.append(HTTPField("Retry-After", seconds.header))
        }
        if let allow { response.headers.append(HTTPField("Allow", allow)) }
        return response
    }

    /// A member of the body that is missing or wrong.
    static func invalid(_ member: String, _ sentence: String) -> WireFailure {
        var details = JSONObject()
        details["member"] = .string(member)
        return WireFailure(
            status: 400, code: "invalid_request", message: sentence, details: details)
    }

    static let notJSON = WireFailure(
        status: 400, code: "invalid_request",
        message: "The body is not one JSON object; send one with Content-Type application/json.")

    static let unknownKey = WireFailure(
        status: 401, code: "invalid_api_key",
        message: "The member apiKey is missing or is no key of this server; see keys in its "
            + "configuration.")

    static let notFound = WireFailure(
        status: 404, code: "not_found",
        message: "There are POST /entitled, /feature/consume, /purchase and /profile here.")

    static let notPOST = WireFailure(
        status: 405, code: "method_not_allowed", message: "Only POST is answered here.",
        allow: "POST")

    static let conflict = WireFailure(
        status: 409, code: "operation_conflict",
        message: "The operationId was used for another command of this customer; give each "
            + "operation an id of its own.")

    static func limited(_ wait: RetryAfter) -> WireFailure {
        WireFailure(
            status: 429, code: "rate_limited",
            message: "The key makes more requests than it may; wait as Retry-After says.",
            retryAfter: wait)
    }

    static let busy = WireFailure(
        status: 503, code: "unavailable",
        message: "The server has too much to do; try again with the same operationId.",
        retryAfter: RetryAfter(milliseconds: 1_000))

    static let unavailable = WireFailure(
        status: 503, code: "unavailable",
        message: "The database is out of reach; try again with the same operationId.",
        retryAfter: RetryAfter(milliseconds: 2_000))

    static let broken = WireFailure(
        status: 500, code: "internal",
        message: "The server failed; its log says why. Try again with the same operationId.")

    static func refused(_ refusal: PurchaseRefusal) -> WireFailure {
        WireFailure(status: 422, code: refusal.code, message: refusal.description)
    }
}
