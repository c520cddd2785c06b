package import TimeZones

// Checking a stored delivery again: a secret was mended, or somebody doubts what was taken.
extension Connector {
    /// Bytes of headers kept with a delivery.
    private static let mostHeaderBytes = 8_192

    /// The headers that signatures over the body stand in, which may be kept: never one that holds a
    /// static credential or a token.
    package func keptHeaders(
        of headers: [(name: String, value: String)]
    ) -> [(name: String, value: String)] {
        let names = Set(schemes.flatMap(\.signatureHeaders))
        if names.isEmpty { return [] }
        var kept: [(name: String, value: String)] = []
        var bytes = 0
        for header in headers {
            let name = header.name.loweredASCII
            guard names.contains(name) else { continue }
            bytes += name.utf8.count + header.value.utf8.count
            if bytes > Self.mostHeaderBytes { break }
            kept.append((name, header.value))
        }
        return kept
    }

    /// Judges a stored delivery as of the time it came.
    ///
    /// - Parameter headers: as ``keptHeaders(of:)`` gave them; nil where none were kept.
    /// - Returns: nil when nothing can be said: static credentials and tokens are not kept.
    package func authenticateAgain(
        headers: [(name: String, value: String)]?, body: [UInt8], at instant: Instant
    ) -> AuthenticationOutcome? {
        var isJudged = false
        let fields = HeaderFields(fields: headers ?? [])
        for (scheme, check) in zip(schemes, checks) {
            if scheme != .appleJWS {
                guard !scheme.signatureHeaders.isEmpty else { continue }
                guard headers != nil else { continue }
            }
            isJudged = true
            do throws(AuthenticationRefusal) {
                try check.check(headers: fields, body: body, now: instant, definition: provider)
            } catch {
                return .refused(error)
            }
        }
        return isJudged ? .accepted : nil
    }
}

extension AuthenticationScheme {
    /// Headers that hold a signature over the body, or belong to one; in lower case.
    fileprivate var signatureHeaders: [String] {
        switch self {
        case .revenueCatHMAC: ["x-revenuecat-webhook-signature"]
        case .standardWebhooks:
            [
                "webhook-id", "webhook-timestamp", "webhook-signature", "svix-id", "svix-timestamp",
                "svix-signature",
            ]
        case .stripe: ["stripe-signature"]
        case .paddle: ["paddle-signature"]
        case .lemonSqueezy: ["x-signature"]
        case .purchasely: ["x-purchasely-timestamp", "x-purchasely-request-signature"]
        case .authorization, .bearer, .basic, .appleJWS, .googleOIDC, .none: []
        }
    }
}
