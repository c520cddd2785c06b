/// Everything that one customer holds. A value: decisions make entries, and entries make the next value.
package struct CustomerAccount: Sendable, Hashable {
    /// The largest cumulative total that the app reported of a feature, and until when it counts.
    package struct Mark: Sendable, Hashable {
        /// Of what.
        package let feature: FeatureKey
        /// Of which entity; nil for the customer's own.
        package let entity: EntityKey?
        /// Units.
        package internal(set) var total: Int64
        /// Once an allowance that was charged is whole again, totals are counted from 0; nil for never.
        package internal(set) var until: Moment?
    }

    /// A feature that is or was held, so that its loss can be told.
    package struct Known: Sendable, Hashable {
        /// Which one.
        package let feature: FeatureKey
        /// Of which entity; nil for the customer's own.
        package let entity: EntityKey?
        /// As last granted.
        package internal(set) var type: FeatureType
        /// When an entry last touched it.
        package internal(set) var changedAt: Moment
    }

    /// In the order in which they were granted; what is over for good is left out.
    package internal(set) var holdings: [Holding]
    /// Sorted by feature and entity.
    package internal(set) var marks: [Mark]
    /// Sorted by feature and entity.
    package internal(set) var known: [Known]
    /// How many entries made it: the number of the last one.
    package internal(set) var revision: Int64
    /// The id that the next holding gets.
    package internal(set) var nextHolding: Int
    /// When the last entry was recorded; decisions are never dated before it.
    package internal(set) var changedAt: Moment?

    /// The most holdings of one customer; a grant beyond them is refused.
    package static let mostHoldings = 500

    /// A customer of whom nothing is known.
    package static let empty = CustomerAccount(
        holdings: [], marks: [], known: [], revision: 0, nextHolding: 1)

    init(
        holdings: [Holding], marks: [Mark], known: [Known], revision: Int64, nextHolding: Int,
        changedAt: Moment? = nil
    ) {
        self.holdings = holdings
        self.marks = marks
        self.known = known
        self.revision = revision
        self.nextHolding = nextHolding
        self.changedAt = changedAt
    }

    /// A holding that is not over.
    package func holding(_ id: Int) -> Holding? { holdings.first { $0.id == id } }

    /// Units left in all holdings of a feature, also of those that are yet to start: what the entries'
    /// amounts add up to.
    package func recordedBalance(of feature: FeatureKey, entity: EntityKey?) -> Int64 {
        holdings.lazy.filter { $0.feature == feature && $0.entity == entity && !$0.isPattern }
            .reduce(0) { sum, holding in
                guard case .units(let size) = holding.allowance, !holding.isWithdrawn else {
                    return sum
                }
                return sum + size.units - holding.used
            }
    }
}

/// What cannot be applied to an account: the entries are not the ones that made it.
package struct AccountDefect: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence.
    package let description: String

    /// A defect with its sentence.
    package init(description: String) { self.description = description }
}

extension CustomerAccount {
    /// The account that entries make, from nothing.
    package init(replaying entries: some Sequence<AccountEntry>) throws(AccountDefect) {
        self = .empty
        for entry in entries { try apply(entry) }
    }

    /// Applies one entry.
    ///
    /// - Throws: when it speaks of a holding that is not there, or its amount is not what the event gives.
    package mutating func apply(_ entry: AccountEntry) throws(AccountDefect) {
        let amount = try perform(entry.event)
        revision += 1
        guard amount == entry.amount else {
            throw AccountDefect(
                description: "entry \(revision) (\(entry.event.kind)) has the amount "
                    + "\(entry.amount), and its event gives \(amount)")
        }
        changedAt = max(entry.recordedAt, changedAt ?? entry.recordedAt)
        touch(entry)
    }

    /// - Returns: the units that come or go.
    private mutating func perform(_ event: AccountEvent) throws(AccountDefect) -> Int64 {
        switch event {
        case .granted(let holding):
            guard holding.id == nextHolding else {
                throw AccountDefect(
                    description: "holding \(holding.id) was granted where \(nextHolding) is next")
            }
            nextHolding += 1
            holdings.append(holding)
            return holding.remaining(at: holding.startsAt)
        case .used(let id, let units, let resetsAt):
            let place = try place(of: id)
            holdings[place].used += units
            holdings[place].resetsAt = resetsAt
            return -units
        case .reset(let id, _):
            let place = try place(of: id)
            let used = holdings[place].used
            holdings[place].used = 0
            holdings[place].resetsAt = nil
            return holdings[place].isWithdrawn ? 0 : used
        case .ended(let id, _, _):
            let left = left(of: holdings[try place(of: id)])
            holdings.removeAll { $0.id == id }
            return -left
        case .rescheduled(let id, let endsAt):
            holdings[try place(of: id)].endsAt = endsAt
            return 0
        case .withdrawn(let id, _):
            let place = try place(of: id)
            let left = left(of: holdings[place])
            holdings[place].isWithdrawn = true
            return -left
        case .restored(let id):
            let place = try place(of: id)
            holdings[place].isWithdrawn = false
            return left(of: holdings[place])
        case .reported(let feature, let entity, let total, let until):
            let mark = Mark(feature: feature, entity: entity, total: total, until: until)
            marks.removeAll { $0.feature == feature && $0.entity == entity }
            let place = marks.firstIndex { isBefore(feature, entity, $0.feature, $0.entity) }
            marks.insert(mark, at: place ?? marks.endIndex)
            return 0
        }
    }

    /// Units left as recorded, resets that are due but not written yet not counted.
    private func left(of holding: Holding) -> Int64 {
        guard case .units(let size) = holding.allowance, !holding.isWithdrawn, !holding.isPattern
        else { return 0 }
        return size.units - holding.used
    }

    private func place(of id: Int) throws(AccountDefect) -> Int {
        guard let place = holdings.firstIndex(where: { $0.id == id }) else {
            throw AccountDefect(description: "an entry speaks of holding \(id), which is not there")
        }
        return place
    }

    /// Notes that a feature's answer may be another now.
    private mutating func touch(_ entry: AccountEntry) {
        var type: FeatureType?
        switch entry.event {
        case .granted(let holding):
            if holding.isPattern { return }
            type = holding.type
        case .reported: return
        case .used, .reset, .ended, .rescheduled, .withdrawn, .restored: break
        }
        let (feature, entity) = (entry.feature, entry.entity)
        if let place = known.firstIndex(where: { $0.feature == feature && $0.entity == entity }) {
            known[place].changedAt = max(known[place].changedAt, entry.recordedAt)
            if let type { known[place].type = type }
        } else if let type {
            let fresh = Known(
                feature: feature, entity: entity, type: type, changedAt: entry.recordedAt)
            let place = known.firstIndex { isBefore(feature, entity, $0.feature, $0.entity) }
            known.insert(fresh, at: place ?? known.endIndex)
        }
    }
}

/// The order of features, the customer's own before entities'.
func isBefore(
    _ feature: FeatureKey, _ entity: EntityKey?, _ otherFeature: FeatureKey,
    _ otherEntity: EntityKey?
) -> Bool {
    if feature != otherFeature { return feature < otherFeature }
    switch (entity, otherEntity) {
    case (nil, nil), (_?, nil): return false
    case (nil, _?): return true
    case (let left?, let right?): return left < right
    }
}
