internal import Crypto
internal import JSON
internal import TimeZones

/// Whose push tokens a connector takes.
package struct PushSender: Sendable {
    /// As set in the push subscription, usually the endpoint's own URL.
    package var audience: String
    /// The service account that pushes.
    package var email: String
    package var keys: PublishedKeys

    package init(audience: String, email: String, keys: PublishedKeys) {
        self.audience = audience
        self.email = email
        self.keys = keys
    }
}

/// `google-oidc`: the token was signed by Google, for this audience, to this service account, and holds now.
struct PushCheck: Sendable {
    let sender: PushSender
    let leeway: Duration

    private static let issuers = ["https://accounts.google.com", "accounts.google.com"]

    func check(token: [UInt8], now: Instant) throws(AuthenticationRefusal) {
        guard let keys = sender.keys.current else { throw refusal(.keysMissing) }
        let jws: CompactJWS
        do throws(JWSRefusal) {
            jws = try CompactJWS(parsing: token)
        } catch {
            throw refusal(.signedText(error))
        }
        guard jws.algorithm == SignatureKey.Algorithm.rs256.rawValue else {
            throw refusal(.signedText(.algorithm))
        }
        switch keys.verdict(on: jws) {
        case .verified(let claims): try judge(claims, now)
        case .refused(let reason):
            if reason == .unknownKey { sender.keys.noteUnknownKey() }
            throw refusal(.signedText(reason))
        }
    }

    private func judge(_ claims: JSONValue, _ now: Instant) throws(AuthenticationRefusal) {
        guard let issuer = claims["iss"]?.string, Self.issuers.contains(issuer) else {
            throw refusal(.claim("its issuer is not Google"))
        }
        guard claims["aud"]?.string?.hasSameBytes(as: sender.audience) == true else {
            throw refusal(.claim("its audience is not the configured one"))
        }
        guard claims["email"]?.string?.hasSameBytes(as: sender.email) == true,
            claims["email_verified"]?.bool == true
        else { throw refusal(.claim("its e-mail address is not the configured one")) }
        let present = now.milliseconds / 1_000
        let allowed = leeway.components.seconds
        guard let end = claims["exp"]?.integer, end > present - allowed else {
            throw refusal(.timestampTooOld)
        }
        for name in ["iat", "nbf"] {
            if let start = claims[name]?.integer, start > present + allowed {
                throw refusal(.timestampTooNew)
            }
        }
    }

    private func refusal(_ cause: AuthenticationRefusal.Cause) -> AuthenticationRefusal {
        AuthenticationRefusal(scheme: .googleOIDC, cause: cause, header: authorizationHeader)
    }
}
