public import FeatureModel

/// Access and state of one update, which belong together.
public struct FeatureSnapshot: Sendable, Hashable {
    /// How much the access is worth.
    public enum State: String, Sendable, Hashable {
        /// Loading: the server has not told this customer's access yet. It is no denial.
        case unknown
        /// A purchase is being synchronized; access may already be shown from it.
        case reconciling
        /// What the server told. May be empty.
        case ready
    }

    /// How much ``all`` is worth.
    public let state: State
    /// Cached access by feature key.
    public let all: [String: FeatureAccess]
    /// Raised with every change of the customer; answers of an earlier one are never shown under it.
    public let identityGeneration: Int
    /// Raised with every update, over all generations.
    public let revision: Int

    /// Whether the feature allows access; false while nothing is known of it.
    public func isAllowed(_ featureId: String) -> Bool { all[featureId]?.allowed ?? false }

    /// Whether access is unlimited or has a positive balance.
    public func hasBalance(_ featureId: String) -> Bool { all[featureId]?.hasBalance ?? false }

    /// The metered balance, when available.
    public func balance(_ featureId: String) -> Int? { all[featureId]?.balance }

    /// The full access, when available.
    public func feature(_ featureId: String) -> FeatureAccess? { all[featureId] }

    static let nothing = FeatureSnapshot(
        state: .unknown, all: [:], identityGeneration: 0, revision: 0)
}

/// How a question about access is answered.
public enum FeatureCheckPolicy: Sendable, Hashable {
    /// From fresh cached access; by the server where there is none.
    case cacheFirst
    /// By the server, always.
    case remote
}
