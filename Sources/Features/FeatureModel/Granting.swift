/// What is known of a purchase that was shown before.
package struct SeenPurchase: Sendable, Hashable {
    /// Who showed it first.
    package let customer: CustomerKey
    /// When the App Store signed what was last taken in.
    package let signedAt: Moment
    /// Whether it ever gave anything.
    package let wasGranted: Bool
    /// Whether an operator took it: then nothing that the App Store says brings it back.
    package let isRevoked: Bool

    /// As it is kept.
    package init(
        customer: CustomerKey, signedAt: Moment, wasGranted: Bool = true, isRevoked: Bool = false
    ) {
        self.customer = customer
        self.signedAt = signedAt
        self.wasGranted = wasGranted
        self.isRevoked = isRevoked
    }
}

/// Entries that a grant, a revocation or a purchase makes, and the account after them.
package struct AccountChange: Sendable, Hashable {
    /// To be written down; none when nothing changes.
    package let entries: [AccountEntry]
    /// The account after them.
    package let account: CustomerAccount

    init(_ draft: AccountDraft) {
        entries = draft.entries
        account = draft.account
    }
}

/// What an operator gives.
package struct OperatorGrant: Sendable, Hashable {
    /// Its name, for `revoke`.
    package let id: GrantID
    /// What it gives.
    package let entitlements: [Entitlement]
    /// To which entity; nil for the customer.
    package let entity: EntityKey?
    /// When it ends; nil for never.
    package let endsAt: Moment?

    /// A grant as given.
    package init(
        id: GrantID, entitlements: [Entitlement], entity: EntityKey? = nil, endsAt: Moment? = nil
    ) {
        self.id = id
        self.entitlements = entitlements
        self.entity = entity
        self.endsAt = endsAt
    }
}

extension CustomerAccount {
    /// Takes in what an operator gives.
    ///
    /// - Throws: `.tooManyHoldings`.
    package func granting(
        _ grant: OperatorGrant, in catalogue: Catalogue, at now: Moment
    ) throws(PurchaseRefusal) -> AccountChange {
        var draft = AccountDraft(self, at: now)
        draft.settle(nil)
        for entitlement in grant.entitlements {
            guard let feature = catalogue.features[entitlement.feature] else { continue }
            let start = draft.now
            _ = draft.grant { id in
                Holding(
                    id: id, grant: grant.id, feature: feature.key, type: feature.type,
                    entity: entitlement.mostEntities == nil ? grant.entity : nil,
                    mostEntities: entitlement.mostEntities, allowance: entitlement.allowance,
                    interval: entitlement.interval, startsAt: start, endsAt: grant.endsAt)
            }
        }
        return try draft.checked()
    }

    /// Ends everything of a grant for good; nil when the customer holds nothing of it.
    package func revoking(_ grant: GrantID, at now: Moment) -> AccountChange? {
        var draft = AccountDraft(self, at: now)
        let held = holdings.filter { $0.grant == grant }
        if held.isEmpty { return nil }
        for holding in held { draft.end(holding, at: draft.now, reason: .revoked) }
        return AccountChange(draft)
    }

    /// Takes in a verified purchase of this customer.
    ///
    /// The same transaction grants once, whoever shows it how often. What the App Store signed later
    /// about it counts: a refund takes its allowances back, a reversed refund gives them back, a new end
    /// moves theirs. A purchase that takes another's place in the same subscription ends it.
    ///
    /// - Parameter seen: what is known of the transaction; it is of this customer.
    /// - Throws: `.familySharing` or `.tooManyHoldings`.
    package func receiving(
        _ transaction: AppStoreTransaction, as product: Product, seen: SeenPurchase?,
        in catalogue: Catalogue, at now: Moment
    ) throws(PurchaseRefusal) -> AccountChange {
        var draft = AccountDraft(self, at: now)
        if let seen, seen.isRevoked || transaction.signedAt <= seen.signedAt {
            return AccountChange(draft)
        }
        if transaction.isFamilyShared, !product.grantsFamily { throw .familySharing }
        draft.settle(nil)
        let grant = GrantID.appStore(transaction.id)
        let end = naturalEnd(of: transaction, product)
        let held = draft.account.holdings.filter { $0.grant == grant }
        if held.isEmpty {
            // Holdings that are gone were used up or are over: then only a later end gives something.
            let isOver = end.map { $0 <= draft.now } ?? (seen?.wasGranted ?? false)
            if transaction.revokedAt == nil, !isOver {
                draft.cutLineage(transaction)
                draft.grant(transaction, product, grant, until: end, in: catalogue)
            }
            return try draft.checked()
        }
        for holding in held {
            if transaction.revokedAt == nil, holding.isWithdrawn { draft.restore(holding) }
            if let revokedAt = transaction.revokedAt, !holding.isWithdrawn {
                draft.withdraw(holding, at: revokedAt)
            }
            if let present = draft.account.holding(holding.id) {
                draft.reschedule(present, to: end)
            }
        }
        return try draft.checked()
    }

    /// When a purchase ends by itself, or because another one took its place.
    private func naturalEnd(of transaction: AppStoreTransaction, _ product: Product) -> Moment? {
        var end =
            transaction.expiresAt
            ?? product.lastsDays.map { transaction.purchasedAt.adding(days: $0) }
        if transaction.isUpgraded {
            end = min(end ?? .latest, transaction.signedAt)
        }
        guard transaction.expiresAt != nil else { return end }
        // A later purchase of the same subscription that was shown first.
        let later = holdings.lazy.filter { holding in
            holding.lineage == transaction.originalID
                && holding.grant != .appStore(transaction.id)
                && holding.startsAt > transaction.purchasedAt
        }.map(\.startsAt).min()
        return later.map { min(end ?? .latest, $0) } ?? end
    }
}

extension AccountDraft {
    /// The change, unless the account is past its bound.
    fileprivate func checked() throws(PurchaseRefusal) -> AccountChange {
        let isGrowing = entries.contains { if case .granted = $0.event { true } else { false } }
        guard !isGrowing || account.holdings.count <= CustomerAccount.mostHoldings else {
            throw .tooManyHoldings
        }
        return AccountChange(self)
    }

    /// Ends what a new purchase of the same subscription takes the place of.
    fileprivate mutating func cutLineage(_ transaction: AppStoreTransaction) {
        guard transaction.expiresAt != nil else { return }
        for holding in account.holdings
        where holding.lineage == transaction.originalID
            && holding.startsAt <= transaction.purchasedAt
            && holding.endsAt.map({ $0 > transaction.purchasedAt }) ?? true
        {
            reschedule(holding, to: transaction.purchasedAt, reason: .replaced)
        }
    }

    fileprivate mutating func grant(
        _ transaction: AppStoreTransaction, _ product: Product, _ grant: GrantID,
        until end: Moment?, in catalogue: Catalogue
    ) {
        for entitlement in product.entitlements {
            guard let feature = catalogue.features[entitlement.feature] else { continue }
            _ = self.grant { id in
                Holding(
                    id: id, grant: grant, feature: feature.key, type: feature.type,
                    mostEntities: entitlement.mostEntities,
                    allowance: entitlement.allowance.times(transaction.quantity),
                    interval: entitlement.interval, lineage: transaction.originalID,
                    startsAt: transaction.purchasedAt, endsAt: end)
            }
        }
    }
}

extension Allowance {
    /// As much as several purchases at once give; more than can be counted is held at the most.
    fileprivate func times(_ quantity: Quantity) -> Allowance {
        switch self {
        case .access, .unlimited: self
        case .units(let size):
            .units(size.times(quantity) ?? Quantity(Quantity.largest) ?? size)
        }
    }
}
