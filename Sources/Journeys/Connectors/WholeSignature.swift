internal import Crypto
internal import TimeZones

/// A header that holds nothing but one hexadecimal HMAC-SHA256 code. The key is the secret's text.
struct WholeSignature: Sendable {
    struct Form: Sendable {
        let scheme: AuthenticationScheme
        /// In lower case.
        let header: String
        /// The header whose text is signed before the body, in lower case; nil when no time is signed.
        let timeHeader: String?

        /// Over the body alone: a repeat verifies for ever, and only its digest tells it from a new one.
        static let lemonSqueezy = Form(
            scheme: .lemonSqueezy, header: "x-signature", timeHeader: nil)
        static let purchasely = Form(
            scheme: .purchasely, header: "x-purchasely-request-signature",
            timeHeader: "x-purchasely-timestamp")
    }

    let form: Form
    let keys: [HMACSHA256]
    /// Nil where no time is signed.
    let tolerance: Duration?

    func check(headers: HeaderFields, body: [UInt8], now: Instant) throws(AuthenticationRefusal) {
        guard let signature = lowercaseHex(try headers.single(form.header, for: form.scheme)) else {
            throw AuthenticationRefusal(
                scheme: form.scheme, cause: .malformedHeader, header: form.header)
        }
        var head: [UInt8] = []
        if let timeHeader = form.timeHeader {
            let time = try headers.single(timeHeader, for: form.scheme)
            guard let seconds = signedSeconds(time), let tolerance else {
                throw AuthenticationRefusal(
                    scheme: form.scheme, cause: .malformedHeader, header: timeHeader)
            }
            try requireFresh(
                seconds: seconds, now: now, tolerance: tolerance, scheme: form.scheme,
                header: timeHeader)
            head = Array(time.utf8)
        }
        var matches = false
        for key in keys where key.isValid(signature, parts: [head, body]) { matches = true }
        if !matches {
            throw AuthenticationRefusal(scheme: form.scheme, cause: .mismatch, header: form.header)
        }
    }
}
