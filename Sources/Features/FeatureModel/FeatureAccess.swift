/// How a feature is measured.
public enum FeatureType: String, Sendable, Hashable, CaseIterable {
    /// Held or not held.
    case boolean
    /// Has a balance of its own.
    case metered
    /// A wallet whose balance other features may draw on, each at its cost.
    case creditSystem
}

/// Whether a customer may use a feature, and how much of it.
public struct FeatureAccess: Sendable, Hashable {
    /// Whether the amount that was asked for (1 unless said otherwise) may be used now.
    public let allowed: Bool
    /// Whether use is not counted.
    public let unlimited: Bool
    /// The units left; nil for a boolean feature and for unlimited access.
    public let balance: Int?
    /// How the feature is measured; `boolean` for a feature that is not held at all.
    public let type: FeatureType

    /// An answer as given; ``FeatureAccess/init(type:isHeld:unlimited:balance:required:)`` decides one.
    public init(allowed: Bool, unlimited: Bool, balance: Int?, type: FeatureType) {
        self.allowed = allowed
        self.unlimited = unlimited
        self.balance = balance
        self.type = type
    }

    /// The same as ``allowed``.
    public var hasAccess: Bool { allowed }

    /// Whether use is unlimited or at least one unit is left.
    public var hasBalance: Bool { unlimited || (balance ?? 0) > 0 }

    /// What a missing feature gives: no access, of type `boolean`.
    public static let denied = FeatureAccess(
        allowed: false, unlimited: false, balance: nil, type: .boolean)
}

extension FeatureAccess {
    /// Decides: a boolean feature is allowed when it is held; another one when it is unlimited or its
    /// balance covers what is asked for.
    ///
    /// - Parameters:
    ///   - balance: units left; held between 0 and ``Quantity/largest``.
    ///   - required: units asked for.
    package init(
        type: FeatureType, isHeld: Bool, unlimited: Bool, balance: Int64, required: Int64 = 1
    ) {
        switch type {
        case .boolean:
            self.init(allowed: isHeld, unlimited: false, balance: nil, type: .boolean)
        case .metered, .creditSystem:
            let shown = min(max(balance, 0), Quantity.largest)
            self.init(
                allowed: unlimited || shown >= required, unlimited: unlimited,
                balance: unlimited ? nil : Int(shown), type: type)
        }
    }
}
