/// A wish to use units of a feature.
package struct ConsumeCommand: Sendable, Hashable {
    /// What the quantity is.
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Units to use now.
        case units
        /// The cumulative total so far; only its increase is charged.
        case setUsage = "set_usage"
    }

    /// Whose.
    package let customer: CustomerKey
    /// Of what.
    package let feature: FeatureKey
    /// Under which id it is decided, once.
    package let operation: OperationID
    /// Units, or the total.
    package let quantity: Quantity
    /// Whose allowance is charged; nil for the customer's own.
    package let entity: EntityKey?
    /// How the quantity is meant.
    package let mode: Mode

    /// A command as given.
    package init(
        customer: CustomerKey, feature: FeatureKey, operation: OperationID, quantity: Quantity,
        entity: EntityKey? = nil, mode: Mode = .units
    ) {
        self.customer = customer
        self.feature = feature
        self.operation = operation
        self.quantity = quantity
        self.entity = entity
        self.mode = mode
    }
}

/// What was decided about a command. Saved, so that a repeat gets the same.
package struct Receipt: Sendable, Hashable {
    /// Why it was accepted or denied.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Accepted.
        case consumed
        /// Denied: not enough is left, or nothing was ever granted.
        case insufficient
        /// Denied: the catalogue has no such feature.
        case featureNotFound = "feature_not_found"
        /// Denied: a boolean feature has no units.
        case notMetered = "not_metered"
    }

    /// The command that was decided.
    package let command: ConsumeCommand
    /// Whether the units are the customer's to use. Authorises the action, whatever is left afterwards.
    package let accepted: Bool
    /// Why.
    package let code: Code
    /// What is left after it; `allowed` says whether one more unit could be used.
    package let access: FeatureAccess
    /// The wallet that was charged, or that has not enough.
    package let wallet: FeatureKey?
    /// When it was decided.
    package let occurredAt: Moment

    /// A receipt as decided or read back.
    package init(
        command: ConsumeCommand, accepted: Bool, code: Code, access: FeatureAccess,
        wallet: FeatureKey?, occurredAt: Moment
    ) {
        self.command = command
        self.accepted = accepted
        self.code = code
        self.access = access
        self.wallet = wallet
        self.occurredAt = occurredAt
    }
}

/// A receipt with the entries that make it true.
package struct ConsumeDecision: Sendable, Hashable {
    /// What is answered and saved.
    package let receipt: Receipt
    /// To be written down together with it; none for a denial and for unlimited use.
    package let entries: [AccountEntry]
    /// The account after them.
    package let account: CustomerAccount
}

extension CustomerAccount {
    /// Decides a command.
    ///
    /// A command is charged to one account whole: the feature's own allowance where that covers it, else
    /// the wallet at its cost, else it is denied and nothing is taken.
    package func deciding(
        _ command: ConsumeCommand, in catalogue: Catalogue, at now: Moment
    ) -> ConsumeDecision {
        var draft = AccountDraft(self, at: now, operation: command.operation)
        let receipt = draft.decide(command, in: catalogue)
        // A denial leaves no trace but itself: what time did is written down with the next charge.
        return receipt.accepted
            ? ConsumeDecision(receipt: receipt, entries: draft.entries, account: draft.account)
            : ConsumeDecision(receipt: receipt, entries: [], account: self)
    }
}

extension AccountDraft {
    fileprivate mutating func decide(
        _ command: ConsumeCommand, in catalogue: Catalogue
    ) -> Receipt {
        guard let definition = catalogue.features[command.feature] else {
            return receipt(command, .featureNotFound, .denied)
        }
        let own = account.available(command.feature, entity: command.entity, at: now)
        if definition.type == .boolean {
            return receipt(command, .notMetered, own.access(type: .boolean, required: 1))
        }
        let units = unitsToCharge(command)
        if own.covers(units) {
            let end = charge(command.feature, command.entity, units)
            note(command, until: end)
            return receipt(command, .consumed, after(command.feature, definition.type, command))
        }
        let wallet = catalogue.wallet(for: command.feature)
        if let (wallet, cost) = wallet {
            let credits = account.available(wallet, entity: command.entity, at: now)
            let (price, isTooMuch) = units.multipliedReportingOverflow(by: cost.units)
            if !isTooMuch, credits.covers(price) {
                let end = charge(wallet, command.entity, price)
                note(command, until: end)
                let access = after(wallet, .creditSystem, command, required: cost.units)
                return receipt(command, .consumed, access, wallet: wallet)
            }
            if !own.isHeld, credits.isHeld {
                let access = credits.access(type: .creditSystem, required: cost.units)
                return receipt(command, .insufficient, access, wallet: wallet)
            }
        }
        return receipt(command, .insufficient, own.access(type: definition.type, required: 1))
    }

    /// What a command charges: its quantity, or by how much its total is more than the last one.
    private func unitsToCharge(_ command: ConsumeCommand) -> Int64 {
        switch command.mode {
        case .units: command.quantity.units
        case .setUsage: max(0, command.quantity.units - (mark(of: command)?.total ?? 0))
        }
    }

    private func mark(of command: ConsumeCommand) -> CustomerAccount.Mark? {
        account.marks.first { mark in
            mark.feature == command.feature && mark.entity == command.entity
                && mark.until.map { now < $0 } ?? true
        }
    }

    /// Keeps a total that is larger than the last one.
    private mutating func note(_ command: ConsumeCommand, until end: Moment?) {
        guard command.mode == .setUsage else { return }
        let mark = mark(of: command)
        guard command.quantity.units > mark?.total ?? 0 else { return }
        let until = mark?.until ?? end
        record(
            .reported(
                feature: command.feature, entity: command.entity, total: command.quantity.units,
                until: until), feature: command.feature, entity: command.entity, amount: 0)
    }

    /// Takes units of what is lost soonest; the caller has seen that they are there.
    ///
    /// - Returns: the first moment at which something that serves the feature is whole again or ends.
    private mutating func charge(
        _ feature: FeatureKey, _ entity: EntityKey?, _ units: Int64
    ) -> Moment? {
        let sources = account.sources(feature, entity: entity, at: now)
        let end = sources.compactMap { source in
            [source.holding.nextReset(after: now), source.holding.endsAt].compactMap(\.self).min()
        }.min()
        if let first = sources.first, first.holding.isUnlimited {
            // Not counted; an entity's place is taken all the same.
            if first.isFromPattern, let entity { _ = make(of: first.holding, for: entity) }
            return end
        }
        var left = units
        guard left > 0 else { return end }
        settle(feature)
        for source in sources where left > 0 && source.remaining > 0 {
            let taken = min(left, source.remaining)
            var holding = source.holding
            if source.isFromPattern, let entity { holding = make(of: holding, for: entity) }
            guard let present = account.holding(holding.id) else { continue }
            let resetsAt = present.resetsAt ?? present.nextReset(after: now)
            record(
                .used(holding: present.id, units: taken, resetsAt: resetsAt), of: present,
                amount: -taken)
            left -= taken
        }
        precondition(left == 0, "\(left) units were promised and are not there")
        return end
    }

    private mutating func make(of pattern: Holding, for entity: EntityKey) -> Holding {
        grant { id in
            Holding(
                id: id, grant: pattern.grant, feature: pattern.feature, type: pattern.type,
                entity: entity, pattern: pattern.id, allowance: pattern.allowance,
                interval: pattern.interval, lineage: pattern.lineage, startsAt: pattern.startsAt,
                endsAt: pattern.endsAt)
        }
    }

    private func after(
        _ feature: FeatureKey, _ type: FeatureType, _ command: ConsumeCommand, required: Int64 = 1
    ) -> FeatureAccess {
        account.available(feature, entity: command.entity, at: now)
            .access(type: type, required: required)
    }

    private func receipt(
        _ command: ConsumeCommand, _ code: Receipt.Code, _ access: FeatureAccess,
        wallet: FeatureKey? = nil
    ) -> Receipt {
        Receipt(
            command: command, accepted: code == .consumed, code: code, access: access,
            wallet: wallet, occurredAt: now)
    }
}
