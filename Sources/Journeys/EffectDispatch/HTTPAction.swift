internal import Configuration
internal import Crypto
internal import HTTPClient
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import Settings
internal import TimeZones
internal import WorkflowDefinitions

/// An `http` action's request for one account, and the reading of its answer.
struct HTTPAction {
    let account: AccountSettings
    let invocation: InvocationID
    let request: JSONObject
    let timeout: Duration

    // MARK: The call

    /// - Throws: the failure to record when the request cannot be made at all.
    func makeCall(now: Instant) throws(AttemptFailure) -> HTTPCall {
        let body = self.body
        var headers: [(String, String)] = []
        // First, so that a workflow or an account may name another type.
        if request["json"] != nil { headers.append(("Content-Type", "application/json")) }
        headers += try ownHeaders()
        headers.append(("Idempotency-Key", invocation.text))
        headers.append(("webhook-id", invocation.text))
        let seconds = now.milliseconds / 1_000
        headers.append(("webhook-timestamp", String(seconds)))
        if let secret = account.signingSecret {
            let key =
                StandardWebhooksSignature.key(fromSecret: secret.revealed)
                ?? Array(secret.revealed.utf8)
            headers.append(
                (
                    "webhook-signature",
                    StandardWebhooksSignature.sign(
                        id: invocation.text, timestampSeconds: seconds, body: body ?? [], key: key)
                ))
        }
        return HTTPCall(
            method: request["method"]?.string ?? "POST", url: try url(),
            headers: Self.lastWins(headers), body: body, timeout: timeout,
            connectTimeout: min(timeout, .seconds(10)),
            destination: DestinationPolicy(
                allowsPrivate: account.allowsPrivate, allowedHosts: account.allowedHosts))
    }

    private func url() throws(AttemptFailure) -> String {
        if let url = request["url"]?.string {
            let isSecure = account.baseURL?.lowercased().hasPrefix("https://") ?? false
            if isSecure, !url.lowercased().hasPrefix("https://") {
                throw AttemptFailure(
                    error: "insecure_url",
                    detail: .string(
                        "the account \(account.name) is for https, and its secrets go nowhere else")
                )
            }
            return url
        }
        if let url = account.wholeURL { return url }
        guard let base = account.baseURL else {
            throw AttemptFailure(
                error: "no_base_url",
                detail: .string(
                    "the action gives a path and the account \(account.name) has no base_url"))
        }
        let path = try Self.checked(request["path"]?.string ?? "")
        let trimmed = base.hasSuffix("/") ? String(base.dropLast()) : base
        return trimmed + (path.hasPrefix("/") || path.isEmpty ? path : "/" + path)
    }

    /// The path with what no URL may hold percent-encoded. One that climbs is refused: no value of an
    /// event leads out of the account's `base_url`.
    private static func checked(_ path: String) throws(AttemptFailure) -> String {
        var encoded: [UInt8] = []
        for byte in path.utf8 {
            if byte > 0x20, byte < 0x7f, !"\"<>\\^`{|}".utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += ("%" + Hex.encode([byte]).uppercased()).utf8
            }
        }
        let text = String(decoding: encoded, as: UTF8.self)
        let segments = text.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        for segment in segments {
            let plain = segment.lowercased().split(
                separator: "%2e", omittingEmptySubsequences: false
            )
            .joined(separator: ".")
            if plain == "." || plain == ".." {
                throw AttemptFailure(
                    error: "bad_path",
                    detail: .string("the path \(text.prefix(200)) has a dot segment; leave it out"))
            }
        }
        return text
    }

    private var body: [UInt8]? {
        if let json = request["json"] { return json.bytes }
        return request["body"]?.string.map { Array($0.utf8) }
    }

    /// The workflow's headers, then the account's, which the workflow cannot overrule.
    private func ownHeaders() throws(AttemptFailure) -> [(String, String)] {
        var headers: [(String, String)] = []
        for (name, value) in request["headers"]?.object ?? JSONObject() {
            guard let text = value.string ?? value.number?.literal else {
                throw AttemptFailure(
                    error: "bad_header",
                    detail: .string("the header \(name) is \(value.kind), not text"))
            }
            headers.append((name, text))
        }
        return headers + account.headers.map { ($0.name, $0.value.revealed) }
    }

    private static func lastWins(_ headers: [(String, String)]) -> [HTTPHeaderField] {
        var kept: [HTTPHeaderField] = []
        for (name, value) in headers {
            kept.removeAll { $0.name.lowercased() == name.lowercased() }
            kept.append(HTTPHeaderField(name: name, value: value))
        }
        return kept
    }
}

extension AttemptFailure: Error {}
