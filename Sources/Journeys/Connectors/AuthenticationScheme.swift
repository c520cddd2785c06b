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
    /// Nothing is checked; only where the caller vouches for the listener.
    case none

    /// Fewest bytes of a secret that anyone could not simply try out.
    ///
    /// For `standard-webhooks` it counts the decoded key, whose specification asks for 24.
    var leastSecretBytes: Int {
        switch self {
        case .authorization, .bearer, .basic: 8
        case .revenueCatHMAC: 16
        case .standardWebhooks: 24
        case .none: 0
        }
    }

    /// Whether two entries of this scheme and `other` would read the same header differently.
    func sharesHeader(with other: AuthenticationScheme) -> Bool {
        self == other || (usesAuthorizationHeader && other.usesAuthorizationHeader)
    }

    private var usesAuthorizationHeader: Bool {
        switch self {
        case .authorization, .bearer, .basic: true
        case .revenueCatHMAC, .standardWebhooks, .none: false
        }
    }
}
