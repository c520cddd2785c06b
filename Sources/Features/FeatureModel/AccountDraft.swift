/// An account in the making: every change is an entry, applied at once, so that what is decided next sees
/// it.
struct AccountDraft {
    private(set) var account: CustomerAccount
    private(set) var entries: [AccountEntry] = []
    let now: Moment
    let operation: OperationID?

    init(_ account: CustomerAccount, at now: Moment, operation: OperationID? = nil) {
        self.account = account
        self.now = max(now, account.changedAt ?? now)
        self.operation = operation
    }

    /// Writes an entry down and applies it.
    mutating func record(
        _ event: AccountEvent, feature: FeatureKey, entity: EntityKey?, amount: Int64
    ) {
        let entry = AccountEntry(
            event: event, feature: feature, entity: entity, amount: amount, recordedAt: now,
            operation: operation)
        do throws(AccountDefect) {
            try account.apply(entry)
        } catch {
            preconditionFailure("an entry that does not fit its account was made: \(error)")
        }
        entries.append(entry)
    }

    /// As ``record(_:feature:entity:amount:)``, of a holding's own feature and entity.
    mutating func record(_ event: AccountEvent, of holding: Holding, amount: Int64) {
        record(event, feature: holding.feature, entity: holding.entity, amount: amount)
    }

    /// Writes down what time did since the last entry, to one feature or (with nil) to all.
    mutating func settle(_ feature: FeatureKey?) {
        for holding in account.holdings where feature == nil || holding.feature == feature {
            if holding.isSpent(at: now) {
                end(
                    holding, at: holding.endsAt ?? now,
                    reason: holding.endsAt == nil ? .spent : .expired)
            } else if let resetsAt = holding.resetsAt, resetsAt <= now {
                record(
                    .reset(holding: holding.id, at: resetsAt), of: holding,
                    amount: holding.isWithdrawn ? 0 : holding.used)
            }
        }
    }

    /// Ends a holding, and with it what is left.
    mutating func end(_ holding: Holding, at moment: Moment, reason: AccountEvent.Ending) {
        record(
            .ended(holding: holding.id, at: moment, reason: reason), of: holding,
            amount: -leftAsRecorded(holding))
    }

    /// Moves a holding's end; one that lies in the past ends it.
    mutating func reschedule(
        _ holding: Holding, to end: Moment?, reason: AccountEvent.Ending = .expired
    ) {
        guard end != holding.endsAt else { return }
        if let end, end <= now {
            self.end(holding, at: end, reason: reason)
        } else {
            record(.rescheduled(holding: holding.id, endsAt: end), of: holding, amount: 0)
        }
    }

    /// Takes a holding back, so that it can be given back.
    mutating func withdraw(_ holding: Holding, at moment: Moment) {
        record(
            .withdrawn(holding: holding.id, at: moment), of: holding,
            amount: -leftAsRecorded(holding))
    }

    /// Gives back what was withdrawn.
    mutating func restore(_ holding: Holding) {
        var whole = holding
        whole.isWithdrawn = false
        record(.restored(holding: holding.id), of: holding, amount: leftAsRecorded(whole))
    }

    /// Grants a holding; its id is the account's next.
    mutating func grant(_ make: (_ id: Int) -> Holding) -> Holding {
        let holding = make(account.nextHolding)
        record(.granted(holding), of: holding, amount: leftAsRecorded(holding))
        return holding
    }

    private func leftAsRecorded(_ holding: Holding) -> Int64 {
        guard case .units(let size) = holding.allowance, !holding.isWithdrawn, !holding.isPattern
        else { return 0 }
        return size.units - holding.used
    }
}
