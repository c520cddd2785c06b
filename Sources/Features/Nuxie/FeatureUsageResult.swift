public import FeatureModel

/// What became of a use.
public struct FeatureUsageResult: Sendable, Hashable {
    /// How much was used so far, where it is known.
    public struct Usage: Sendable, Hashable {
        /// Units used so far.
        public let current: Int
        /// The most that may be used.
        public let limit: Int?
        /// Units left.
        public let remaining: Int?

        /// A usage as given.
        public init(current: Int, limit: Int? = nil, remaining: Int? = nil) {
            self.current = current
            self.limit = limit
            self.remaining = remaining
        }
    }

    /// Whether the use was accepted. Only then may the app proceed.
    public let success: Bool
    /// The feature that was asked for.
    public let featureId: String
    /// The amount that was submitted.
    public let amountUsed: Int
    /// Why it was denied.
    public let message: String?
    /// Known for cumulative totals.
    public let usage: Usage?
    /// Access after the use, as the server told it: `allowed` speaks of the next use.
    public let authoritativeAccess: FeatureAccess?

    /// A result as given.
    public init(
        success: Bool, featureId: String, amountUsed: Int, message: String? = nil,
        usage: Usage? = nil, authoritativeAccess: FeatureAccess? = nil
    ) {
        self.success = success
        self.featureId = featureId
        self.amountUsed = amountUsed
        self.message = message
        self.usage = usage
        self.authoritativeAccess = authoritativeAccess
    }
}

/// The receipt of a consumption: the decision that the server saved under the operation id.
public struct FeatureConsumptionResult: Sendable, Hashable {
    /// The customer who was charged.
    public let customerId: String
    /// The feature that was asked for.
    public let featureId: String
    /// The submitted action.
    public let operationId: String
    /// The submitted amount.
    public let quantity: Int
    /// Whether consumption was accepted. It authorizes the action, whatever is left afterwards.
    public let accepted: Bool
    /// `consumed`, or why not: `insufficient`, `feature_not_found`, `not_metered`, …
    public let code: String
    /// Units left after the operation, when counted.
    public let balance: Int?
    /// Whether use is not counted.
    public let unlimited: Bool
    /// Whether one more unit could be used after the operation.
    public let active: Bool
    /// When it was decided, in milliseconds since 1970.
    public let occurredAtMs: Int64?
    /// Whether the decision had been recorded for this operation id before.
    public let idempotentReplay: Bool
    /// The entity whose allowance was asked for.
    public let entityId: String?
    /// How ``balance`` is measured: a use may be charged to a wallet.
    public let type: FeatureType
    /// The wallet that was charged, where it was not the feature's own allowance.
    public let creditFeatureId: String?

    var access: FeatureAccess {
        FeatureAccess(
            allowed: active, unlimited: unlimited, balance: unlimited ? nil : balance, type: type)
    }
}

extension FeatureUsageResult {
    init(_ receipt: FeatureConsumptionResult, isTotal: Bool) {
        var usage: Usage?
        if isTotal, receipt.accepted {
            usage = Usage(current: receipt.quantity, limit: nil, remaining: receipt.balance)
        }
        self.init(
            success: receipt.accepted, featureId: receipt.featureId, amountUsed: receipt.quantity,
            message: receipt.accepted ? nil : Self.sentence(receipt.code), usage: usage,
            authoritativeAccess: receipt.creditFeatureId == nil
                ? receipt.access : receipt.access.withoutCredits)
    }

    private static func sentence(_ code: String) -> String {
        switch code {
        case "insufficient": "Not enough is left for this amount."
        case "feature_not_found": "The catalogue has no such feature."
        case "not_metered": "A boolean feature has no units to use; ask hasFeature instead."
        default: "The use was denied: \(code)."
        }
    }
}
