internal import Crypto
internal import TimeZones

/// Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`, or the same three as
/// `svix-…`; signed is `id.timestamp.body`.
struct StandardWebhooks: Sendable {
    let symmetricKeys: [HMACSHA256]
    let publicKeys: [Ed25519PublicKey]
    let tolerance: Duration

    /// More signatures than any rotation needs; an Ed25519 check costs about 0.1 ms.
    private static let mostSignatures = 16

    func check(headers: HeaderFields, body: [UInt8], now: Instant) throws(AuthenticationRefusal) {
        // One family decides as a whole, so that a header added on the way cannot complete another.
        let family = headers.holdsName(withPrefix: "svix-") ? "svix-" : "webhook-"
        let id = try headers.single(family + "id", for: .standardWebhooks)
        let time = try headers.single(family + "timestamp", for: .standardWebhooks)
        let list = try headers.single(family + "signature", for: .standardWebhooks)
        guard let seconds = signedSeconds(time) else {
            throw refusal(.malformedHeader, family + "timestamp")
        }
        try requireFresh(
            seconds: seconds, now: now, tolerance: tolerance, scheme: .standardWebhooks,
            header: family + "timestamp")
        let signatures = list.split(separator: " ")
        guard signatures.count <= Self.mostSignatures else {
            throw refusal(.malformedHeader, family + "signature")
        }
        let head = Array("\(id).\(time).".utf8)
        guard holds(signatures, head: head, body: body) else {
            throw refusal(.mismatch, family + "signature")
        }
    }

    private func refusal(
        _ cause: AuthenticationRefusal.Cause, _ header: String
    ) -> AuthenticationRefusal {
        AuthenticationRefusal(scheme: .standardWebhooks, cause: cause, header: header)
    }

    /// Whether one signature of the list is right; a malformed one, or one of an unknown version, is
    /// passed over, since a sender lists what other receivers read.
    private func holds(_ signatures: [Substring], head: [UInt8], body: [UInt8]) -> Bool {
        let codes = symmetricKeys.map { $0.authenticate(parts: [head, body]) }
        for signature in signatures {
            guard let comma = signature.firstIndex(of: ",") else { continue }
            let encoded = Array(signature[signature.index(after: comma)...].utf8)
            guard let value = Base64.decode(encoded) else { continue }
            switch signature[..<comma] {
            case "v1":
                for code in codes where constantTimeEquals(value, code) { return true }
            case "v1a":
                guard value.count == 64 else { continue }
                for key in publicKeys where key.isValid(signature: value, message: head + body) {
                    return true
                }
            default: continue
            }
        }
        return false
    }
}
