package import Crypto

/// A secret with the place it came from, so that an error can name the place and not the secret.
package struct SharedSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let value: String
    /// Where it was read, such as `variable SUPERWALL_SECRET`.
    package let origin: String

    package init(_ value: String, origin: String = "the configuration") {
        self.value = value
        self.origin = origin
    }

    package var description: String { "secret from \(origin)" }
    package var debugDescription: String { description }
}

/// One entry of a connector's `authenticate` list.
package struct Authentication: Sendable {
    /// How long before and after its timestamp a signed delivery is taken, unless configured.
    package static let usualTolerance = Duration.seconds(300)

    package var scheme: AuthenticationScheme
    /// One, or two while a secret is rotated; either is taken. None for schemes without secrets.
    package var secrets: [SharedSecret]
    /// 1 s to 1 day; for schemes that sign a time. For `google-oidc` how far clocks may differ.
    package var tolerance: Duration
    /// Whose notifications are taken; for `apple-jws` only, and needed there.
    package var appleApp: AppleApp?
    /// Whose push tokens are taken; for `google-oidc` only, and needed there.
    package var pushSender: PushSender?

    package init(
        scheme: AuthenticationScheme, secrets: [SharedSecret],
        tolerance: Duration = Authentication.usualTolerance, appleApp: AppleApp? = nil,
        pushSender: PushSender? = nil
    ) {
        self.scheme = scheme
        self.secrets = secrets
        self.tolerance = tolerance
        self.appleApp = appleApp
        self.pushSender = pushSender
    }
}

/// Whether a delivery is the provider's.
package enum AuthenticationOutcome: Sendable, Hashable {
    case accepted
    /// The cause is for the log; the sender gets the same answer for every cause.
    case refused(AuthenticationRefusal)
}

/// Why a delivery was not taken. Holds no header value, so it can be logged.
package struct AuthenticationRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was wrong with the header that decided.
    package enum Cause: Sendable, Hashable {
        case missingHeader, duplicateHeader, malformedHeader
        case timestampTooOld, timestampTooNew
        /// The value or signature is well formed and not the right one.
        case mismatch
        /// A signed text is not believed, for this reason.
        case signedText(JWSRefusal)
        /// A signed text is genuine, and says this of itself, which is not what is configured.
        case claim(String)
        /// The keys to check it with could not be had so far: the sender is to try again.
        case keysMissing
    }

    package let scheme: AuthenticationScheme
    package let cause: Cause
    /// The header that decided, in lower case, or the place in the body.
    package let header: String

    /// Whether the delivery may well be genuine and only this side cannot tell yet: answered with 503.
    package var isTemporary: Bool { cause == .keysMissing }

    package var description: String {
        let what =
            switch cause {
            case .missingHeader: "the header \(header) is missing or empty"
            case .duplicateHeader: "the header \(header) stands more than once"
            case .malformedHeader: "the header \(header) is not of the scheme's form"
            case .timestampTooOld: "the time in \(header) is older than the tolerance"
            case .timestampTooNew: "the time in \(header) is further ahead than the tolerance"
            case .mismatch: "\(header) matches no configured secret"
            case .signedText(let refusal): "\(header): \(refusal)"
            case .claim(let claim): "the signed text in \(header) is for something else: \(claim)"
            case .keysMissing: "the issuer's keys could not be fetched so far"
            }
        return "\(scheme.rawValue): \(what)"
    }
}
