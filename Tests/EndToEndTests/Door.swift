import Crypto
import HTTPClient
import JSON
import TestMaterial
import TestSupport
import TimeZones

/// The providers' side: posts webhooks to a worker.
struct Door: Sendable {
    let http: HTTPTransport
    let port: UInt16

    /// Posts to RevenueCat's connector with the right authorization, unless told otherwise.
    func post(
        _ body: [UInt8], authorization: [String] = [Secrets.authorization],
        path: String = "/v1/webhooks/revenuecat", method: String = "POST",
        idempotencyKey: String? = nil
    ) async throws(HTTPClientError) -> HTTPAnswer {
        let key = idempotencyKey.map { HTTPHeaderField(name: "Idempotency-Key", value: $0) }
        return try await send(
            body, path: path, method: method,
            headers: authorization.map { HTTPHeaderField(name: "Authorization", value: $0) }
                + [key].compactMap(\.self))
    }

    func post(_ json: JSONValue) async throws(HTTPClientError) -> HTTPAnswer {
        try await post(json.bytes)
    }

    /// Posts to Superwall's connector with a signature.
    func postSigned(
        _ json: JSONValue, secret: String = Secrets.superwall,
        at milliseconds: Int64 = systemClock().milliseconds, id: String = "msg_1"
    ) async throws(HTTPClientError) -> HTTPAnswer {
        try await postSigned(json.bytes, secret: secret, at: milliseconds, id: id)
    }

    func postSigned(
        _ body: [UInt8], secret: String = Secrets.superwall,
        at milliseconds: Int64 = systemClock().milliseconds, id: String = "msg_1",
        path: String = "/v1/webhooks/superwall"
    ) async throws(HTTPClientError) -> HTTPAnswer {
        let seconds = milliseconds / 1_000
        let signature = StandardWebhooksSignature.sign(
            id: id, timestampSeconds: seconds, body: body,
            key: StandardWebhooksSignature.key(fromSecret: secret) ?? [])
        return try await send(
            body, path: path, method: "POST",
            headers: [
                HTTPHeaderField(name: "svix-id", value: id),
                HTTPHeaderField(name: "svix-timestamp", value: "\(seconds)"),
                HTTPHeaderField(name: "svix-signature", value: signature),
            ])
    }

    private func send(
        _ body: [UInt8], path: String, method: String, headers: [HTTPHeaderField]
    ) async throws(HTTPClientError) -> HTTPAnswer {
        try await http.send(
            HTTPCall(
                method: method, url: "http://127.0.0.1:\(port)\(path)",
                headers: headers + [
                    HTTPHeaderField(name: "Content-Type", value: "application/json")
                ], body: method == "GET" ? nil : body, timeout: .seconds(30),
                destination: DestinationPolicy(allowsPrivate: true)))
    }
}

extension HTTPAnswer {
    /// The body as JSON; null when it is none.
    var json: JSONValue { (try? JSONParser.parse(body)) ?? .null }

    /// `status` of a webhook's answer.
    var word: String? { json["status"]?.string }
}

/// Bodies of webhooks, from `Tests/Fixtures/webhooks`.
enum Webhook {
    static let root: String = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    /// A fixture as it stands.
    static func fixture(_ name: String) throws -> JSONValue {
        let path = "\(root)/Tests/Fixtures/webhooks/\(name).json"
        guard let bytes = Conformance.bytes(of: path) else { throw World.Failure(what: path) }
        return try JSONParser.parse(bytes)
    }

    /// One of RevenueCat's fixtures as an event of another id and person, whose subscription is their own.
    static func revenueCat(
        _ name: String, id: String, person: String, environment: String? = nil
    ) throws -> JSONValue {
        var whole = try fixture("revenuecat/" + name).object ?? JSONObject()
        var event = whole["event"]?.object ?? JSONObject()
        event["id"] = .string(id)
        event["app_user_id"] = .string(person)
        event["original_app_user_id"] = .string(person)
        event["aliases"] = [.string(person)]
        event["original_transaction_id"] = .string("t-" + person)
        if let environment { event["environment"] = .string(environment) }
        whole["event"] = .object(event)
        return .object(whole)
    }
}
