internal import Crypto
internal import TimeZones

/// A header that holds a time and hexadecimal HMAC-SHA256 codes over that time and the body.
///
/// The key is the secret's text as it stands: although RevenueCat's and Stripe's look like `whsec_…`,
/// they are not base64.
struct TimestampedSignature: Sendable {
    /// What one provider's header looks like.
    struct Form: Sendable {
        let scheme: AuthenticationScheme
        /// In lower case.
        let header: String
        let timeKey: String
        let codeKey: String
        /// Between the pairs of the header.
        let separator: Character
        /// Between time and body in what is signed.
        let joint: String

        /// `t=<s>,v1=<hex>[,v1=…]` over `t.body`.
        static let revenueCat = Form(
            scheme: .revenueCatHMAC, header: "x-revenuecat-webhook-signature", timeKey: "t",
            codeKey: "v1", separator: ",", joint: ".")
        /// `t=<s>,v1=<hex>[,v1=…][,v0=…]` over `t.body`.
        static let stripe = Form(
            scheme: .stripe, header: "stripe-signature", timeKey: "t", codeKey: "v1",
            separator: ",", joint: ".")
        /// `ts=<s>;h1=<hex>[;h1=…]` over `ts:body`.
        static let paddle = Form(
            scheme: .paddle, header: "paddle-signature", timeKey: "ts", codeKey: "h1",
            separator: ";", joint: ":")
    }

    let form: Form
    let keys: [HMACSHA256]
    let tolerance: Duration

    /// More signatures than any rotation needs; each costs a comparison.
    private static let mostSignatures = 8

    func check(headers: HeaderFields, body: [UInt8], now: Instant) throws(AuthenticationRefusal) {
        let value = try headers.single(form.header, for: form.scheme)
        guard let (time, signatures) = parts(of: value), let seconds = signedSeconds(time)
        else { throw refusal(.malformedHeader) }
        try requireFresh(
            seconds: seconds, now: now, tolerance: tolerance, scheme: form.scheme,
            header: form.header)
        let head = Array("\(time)\(form.joint)".utf8)
        var matches = false
        for key in keys {
            let code = key.authenticate(parts: [head, body])
            for signature in signatures where constantTimeEquals(signature, code) {
                matches = true
            }
        }
        if !matches { throw refusal(.mismatch) }
    }

    private func refusal(_ cause: AuthenticationRefusal.Cause) -> AuthenticationRefusal {
        AuthenticationRefusal(scheme: form.scheme, cause: cause, header: form.header)
    }

    /// The time's text and the codes; nil for anything but `key=value` pairs joined by the separator.
    /// Keys of versions to come are passed over, and so is a code that is none beside others.
    private func parts(of value: String) -> (time: Substring, signatures: [[UInt8]])? {
        var time: Substring?
        var signatures: [[UInt8]] = []
        var count = 0
        for pair in value.split(separator: form.separator, omittingEmptySubsequences: false) {
            guard let mark = pair.firstIndex(of: "=") else { return nil }
            let content = pair[pair.index(after: mark)...]
            switch String(pair[..<mark]) {
            case form.timeKey:
                guard time == nil else { return nil }
                time = content
            case form.codeKey:
                count += 1
                guard count <= Self.mostSignatures else { return nil }
                if let code = lowercaseHex(content) { signatures.append(code) }
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
}

/// The 32 bytes of an HMAC-SHA256 written as 64 digits in lower case, as every provider writes it.
func lowercaseHex(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.count == 64, !text.utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5a })
    else { return nil }
    return Hex.decode(Array(text.utf8))
}
