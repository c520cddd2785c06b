/// How a delivery proves who sent it.
package enum AuthenticationScheme: String, Sendable, Hashable, CaseIterable {
    /// The whole `Authorization` value, character for character as typed at the provider.
    case authorization
    /// `Authorization: Bearer <token>`.
    case bearer
    /// `Authorization: Basic <base64 of user:password>`.
    case basic
    /// `X-RevenueCat-Webhook-Signature: t=<s>,v1=<hex>`, HMAC-SHA256 of `t.body`.
    case revenueCatHMAC = "revenuecat-hmac"
    /// Standard Webhooks 1.0 and its Svix spelling, symmetric `v1` and Ed25519 `v1a`.
    case standardWebhooks = "standard-webhooks"
    /// `Stripe-Signature: t=<s>,v1=<hex>`, HMAC-SHA256 of `t.body`.
    case stripe
    /// `Paddle-Signature: ts=<s>;h1=<hex>`, HMAC-SHA256 of `ts:body`.
    case paddle
    /// `X-Signature: <hex>`, HMAC-SHA256 of the body; no time is signed.
    case lemonSqueezy = "lemonsqueezy"
    /// `X-PURCHASELY-REQUEST-SIGNATURE: <hex>`, HMAC-SHA256 of `X-PURCHASELY-TIMESTAMP` and the body.
    case purchasely
    /// The body's own signed texts, with Apple's certificates beside them; there is no secret.
    case appleJWS = "apple-jws"
    /// `Authorization: Bearer <token>`, a token that Google signed for a Pub/Sub push; there is no secret.
    case googleOIDC = "google-oidc"
    /// Nothing is checked; only where the caller vouches for the listener.
    case none

    /// Fewest bytes of a secret that anyone could not simply try out, or that the provider admits.
    ///
    /// For `standard-webhooks` it counts the decoded key, whose specification asks for 24; Lemon Squeezy
    /// lets people choose 6 characters.
    var leastSecretBytes: Int {
        switch self {
        case .authorization, .bearer, .basic, .paddle, .purchasely: 8
        case .lemonSqueezy: 6
        case .revenueCatHMAC, .stripe: 16
        case .standardWebhooks: 24
        case .appleJWS, .googleOIDC, .none: 0
        }
    }

    /// Whether an entry of this scheme lists secrets.
    package var hasSecrets: Bool {
        switch self {
        case .authorization, .bearer, .basic, .revenueCatHMAC, .standardWebhooks, .stripe, .paddle,
            .lemonSqueezy, .purchasely:
            true
        case .appleJWS, .googleOIDC, .none: false
        }
    }

    /// Whether two entries of this scheme and `other` would read the same header differently.
    func sharesHeader(with other: AuthenticationScheme) -> Bool {
        self == other || (usesAuthorizationHeader && other.usesAuthorizationHeader)
    }

    private var usesAuthorizationHeader: Bool {
        switch self {
        case .authorization, .bearer, .basic, .googleOIDC: true
        case .revenueCatHMAC, .standardWebhooks, .stripe, .paddle, .lemonSqueezy, .purchasely,
            .appleJWS, .none:
            false
        }
    }
}
