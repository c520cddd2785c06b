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
    /// One, or two while a secret is rotated; either is taken. None for ``AuthenticationScheme/none``.
    package var secrets: [SharedSecret]
    /// 1 s to 1 day; for signed schemes only.
    package var tolerance: Duration

    package init(
        scheme: AuthenticationScheme, secrets: [SharedSecret],
        tolerance: Duration = Authentication.usualTolerance
    ) {
        self.scheme = scheme
        self.secrets = secrets
        self.tolerance = tolerance
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
    }

    package let scheme: AuthenticationScheme
    package let cause: Cause
    /// The header that decided, in lower case.
    package let header: String

    package var description: String {
        let what =
            switch cause {
            case .missingHeader: "the header \(header) is missing or empty"
            case .duplicateHeader: "the header \(header) stands more than once"
            case .malformedHeader: "the header \(header) is not of the scheme's form"
            case .timestampTooOld: "the time in \(header) is older than the tolerance"
            case .timestampTooNew: "the time in \(header) is further ahead than the tolerance"
            case .mismatch: "\(header) matches no configured secret"
            }
        return "\(scheme.rawValue): \(what)"
    }
}
