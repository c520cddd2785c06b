/// One thing that happened to a customer's features. What is stored of it is never changed; the
/// customer's present state is nothing but all of them applied in order.
package enum AccountEvent: Sendable, Hashable {
    /// A grant gave this.
    case granted(Holding)
    /// So many units were taken of a holding, which is whole again at `resetsAt`.
    case used(holding: Int, units: Int64, resetsAt: Moment?)
    /// Time made a holding whole again.
    case reset(holding: Int, at: Moment)
    /// A holding is over for good.
    case ended(holding: Int, at: Moment, reason: Ending)
    /// A holding's end is another now.
    case rescheduled(holding: Int, endsAt: Moment?)
    /// The store took a holding back.
    case withdrawn(holding: Int, at: Moment)
    /// The store gave back what it had taken.
    case restored(holding: Int)
    /// The app reported a cumulative total; reports up to `until` are measured against it.
    case reported(feature: FeatureKey, entity: EntityKey?, total: Int64, until: Moment?)

    /// Why a holding is over.
    package enum Ending: String, Sendable, Hashable, CaseIterable {
        /// Its time is over.
        case expired
        /// Used up, and never whole again.
        case spent
        /// An operator took it.
        case revoked
        /// Another purchase of the same subscription took its place.
        case replaced
    }

    /// What it is called in the ledger.
    package var kind: String {
        switch self {
        case .granted: "granted"
        case .used: "used"
        case .reset: "reset"
        case .ended: "ended"
        case .rescheduled: "rescheduled"
        case .withdrawn: "withdrawn"
        case .restored: "restored"
        case .reported: "reported"
        }
    }
}

/// An event with what the ledger says beside it. A feature's balance is the sum of its entries' amounts.
package struct AccountEntry: Sendable, Hashable {
    /// What happened.
    package let event: AccountEvent
    /// To which feature.
    package let feature: FeatureKey
    /// Of which entity; nil for the customer's own.
    package let entity: EntityKey?
    /// Units that came (positive) or went (negative).
    package let amount: Int64
    /// When it was written down.
    package let recordedAt: Moment
    /// The consumption it belongs to.
    package let operation: OperationID?

    /// An entry read back from where it is kept.
    package init(
        event: AccountEvent, feature: FeatureKey, entity: EntityKey?, amount: Int64,
        recordedAt: Moment, operation: OperationID?
    ) {
        self.event = event
        self.feature = feature
        self.entity = entity
        self.amount = amount
        self.recordedAt = recordedAt
        self.operation = operation
    }
}
