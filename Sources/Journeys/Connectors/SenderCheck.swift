internal import Crypto
internal import TimeZones

/// One entry of `authenticate`, ready for use: keys are prepared, static secrets are held as digests.
enum SenderCheck: Sendable {
    case authorization(digests: [[UInt8]])
    case bearer(digests: [[UInt8]])
    case basic(digests: [[UInt8]])
    case timestamped(TimestampedSignature)
    case whole(WholeSignature)
    case standardWebhooks(StandardWebhooks)
    case apple(AppleCheck)
    case push(PushCheck)
    case unchecked

    /// - Parameter definition: says where signed texts stand in a body.
    /// - Throws: why the delivery is not the provider's.
    func check(
        headers: HeaderFields, body: [UInt8], now: Instant, definition: ProviderDefinition
    ) throws(AuthenticationRefusal) {
        switch self {
        case .authorization(let digests):
            let value = try headers.single(authorizationHeader, for: .authorization)
            try require(Array(value.utf8), oneOf: digests, scheme: .authorization)
        case .bearer(let digests):
            let token = try credentials(in: headers, word: "bearer", scheme: .bearer)
            try require(token, oneOf: digests, scheme: .bearer)
        case .basic(let digests):
            let encoded = try credentials(in: headers, word: "basic", scheme: .basic)
            guard let pair = Base64.decode(encoded) else {
                throw AuthenticationRefusal(
                    scheme: .basic, cause: .malformedHeader, header: authorizationHeader)
            }
            try require(pair, oneOf: digests, scheme: .basic)
        case .timestamped(let signature):
            try signature.check(headers: headers, body: body, now: now)
        case .whole(let signature):
            try signature.check(headers: headers, body: body, now: now)
        case .standardWebhooks(let signature):
            try signature.check(headers: headers, body: body, now: now)
        case .apple(let apple): try apple.check(body: body, now: now, steps: definition.decoding)
        case .push(let push):
            let token = try credentials(in: headers, word: "bearer", scheme: .googleOIDC)
            try push.check(token: token, now: now)
        case .unchecked:
            return
        }
    }

    /// What follows the scheme's word and exactly one space.
    private func credentials(
        in headers: HeaderFields, word: String, scheme: AuthenticationScheme
    ) throws(AuthenticationRefusal) -> [UInt8] {
        let value = try headers.single(authorizationHeader, for: scheme)
        let bytes = Array(value.utf8)
        let length = word.utf8.count
        guard bytes.count > length + 1, bytes[length] == UInt8(ascii: " "),
            String(decoding: bytes[..<length], as: UTF8.self).equalsIgnoringCase(word),
            !bytes[(length + 1)...].contains(UInt8(ascii: " "))
        else {
            throw AuthenticationRefusal(
                scheme: scheme, cause: .malformedHeader, header: authorizationHeader)
        }
        return Array(bytes[(length + 1)...])
    }

    /// Compares digests, so that neither the length nor a common beginning of the secret shows in the
    /// time; every secret is compared.
    private func require(
        _ value: [UInt8], oneOf digests: [[UInt8]], scheme: AuthenticationScheme
    ) throws(AuthenticationRefusal) {
        let digest = SHA256.digest(value)
        var matches = false
        for known in digests where constantTimeEquals(digest, known) { matches = true }
        if !matches {
            throw AuthenticationRefusal(
                scheme: scheme, cause: .mismatch, header: authorizationHeader)
        }
    }
}

let authorizationHeader = "authorization"

/// Seconds since 1970 in a signed header: 1 to 11 digits and nothing else.
func signedSeconds(_ text: some StringProtocol) -> Int64? {
    guard (1...11).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 })
    else { return nil }
    return Int64(text)
}

/// Refuses a signed time outside `now` ± `tolerance`; both edges are taken.
func requireFresh(
    seconds: Int64, now: Instant, tolerance: Duration, scheme: AuthenticationScheme, header: String
) throws(AuthenticationRefusal) {
    // Senders round to whole seconds, so whole seconds are compared.
    let present = now.milliseconds.dividedFloor(by: 1_000)
    let allowed = tolerance.components.seconds
    if seconds < present - allowed {
        throw AuthenticationRefusal(scheme: scheme, cause: .timestampTooOld, header: header)
    }
    if seconds > present + allowed {
        throw AuthenticationRefusal(scheme: scheme, cause: .timestampTooNew, header: header)
    }
}

extension Int64 {
    fileprivate func dividedFloor(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
