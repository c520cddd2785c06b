internal import Crypto
internal import TimeZones

/// RevenueCat's opt-in signature, `t=<seconds>,v1=<64 hex digits>[,v1=…]` over `t.body`.
///
/// The key is the secret's text as it stands: although it looks like `whsec_…`, it is not base64.
struct RevenueCatSignature: Sendable {
    let keys: [HMACSHA256]
    let tolerance: Duration

    private static let header = "x-revenuecat-webhook-signature"
    /// More signatures than any rotation needs; each costs a comparison.
    private static let mostSignatures = 8

    func check(headers: HeaderFields, body: [UInt8], now: Instant) throws(AuthenticationRefusal) {
        let value = try headers.single(Self.header, for: .revenueCatHMAC)
        guard let (time, signatures) = Self.parts(of: value), let seconds = signedSeconds(time)
        else { throw refusal(.malformedHeader) }
        try requireFresh(
            seconds: seconds, now: now, tolerance: tolerance, scheme: .revenueCatHMAC,
            header: Self.header)
        let head = Array("\(time).".utf8)
        for key in keys {
            let code = key.authenticate(parts: [head, body])
            for signature in signatures where constantTimeEquals(signature, code) { return }
        }
        throw refusal(.mismatch)
    }

    private func refusal(_ cause: AuthenticationRefusal.Cause) -> AuthenticationRefusal {
        AuthenticationRefusal(scheme: .revenueCatHMAC, cause: cause, header: Self.header)
    }

    /// The time's text and the codes; nil for anything but `key=value` pairs joined by single commas.
    /// Keys of versions to come are passed over.
    private static func parts(of value: String) -> (time: Substring, signatures: [[UInt8]])? {
        var time: Substring?
        var signatures: [[UInt8]] = []
        for pair in value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let mark = pair.firstIndex(of: "=") else { return nil }
            let content = pair[pair.index(after: mark)...]
            switch pair[..<mark] {
            case "t":
                guard time == nil else { return nil }
                time = content
            case "v1":
                guard let code = lowercaseHex(content), signatures.count < mostSignatures else {
                    return nil
                }
                signatures.append(code)
            case let other:
                let isName = other.utf8.allSatisfy {
                    ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 48 && $0 <= 57)
                }
                guard !other.isEmpty, isName else { return nil }
            }
        }
        guard let time, !signatures.isEmpty else { return nil }
        return (time, signatures)
    }

    private static func lowercaseHex(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count == 64, !text.utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5a })
        else { return nil }
        return Hex.decode(Array(text.utf8))
    }
}
