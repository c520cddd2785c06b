/// What one grant gives one customer of one feature, and how much of it is used.
///
/// Everything that time alone does to it is known in advance: it starts, is whole again at `resetsAt`,
/// and ends. So the answer at any later moment follows from the holding as it was last written.
package struct Holding: Sendable, Hashable {
    /// Counted from 1 for each customer, in the order in which they were granted.
    package let id: Int
    /// Which grant it is of.
    package let grant: GrantID
    /// Of what.
    package let feature: FeatureKey
    /// As the catalogue had it when it was granted.
    package let type: FeatureType
    /// Whose allowance it is: an entity's, or nil for the customer's own.
    package let entity: EntityKey?
    /// A pattern: each entity that comes first gets an allowance like it, up to so many. Nil otherwise.
    package let mostEntities: Int?
    /// The pattern this one was made of.
    package let pattern: Int?
    /// How much an interval.
    package let allowance: Allowance
    /// How often it is whole again, counted from `startsAt`.
    package let interval: ResetInterval?
    /// The purchases it belongs with: an App Store's original transaction id.
    package let lineage: String?
    /// The first moment it can be used.
    package let startsAt: Moment
    /// The first moment it cannot be used any more; nil for no end.
    package internal(set) var endsAt: Moment?
    /// Units used since the last reset.
    package internal(set) var used: Int64 = 0
    /// When `used` is 0 again; nil when nothing is used, or for good.
    package internal(set) var resetsAt: Moment?
    /// Refunded or revoked by the store, which may take that back.
    package internal(set) var isWithdrawn = false

    /// A whole holding.
    package init(
        id: Int, grant: GrantID, feature: FeatureKey, type: FeatureType, entity: EntityKey? = nil,
        mostEntities: Int? = nil, pattern: Int? = nil, allowance: Allowance,
        interval: ResetInterval? = nil, lineage: String? = nil, startsAt: Moment,
        endsAt: Moment? = nil
    ) {
        self.id = id
        self.grant = grant
        self.feature = feature
        self.type = type
        self.entity = entity
        self.mostEntities = mostEntities
        self.pattern = pattern
        self.allowance = allowance
        self.interval = interval
        self.lineage = lineage
        self.startsAt = startsAt
        self.endsAt = endsAt
    }

    /// Whether it is one that others are made of and nobody uses.
    package var isPattern: Bool { mostEntities != nil }

    /// Whether it can be used at a moment, so long as something is left.
    package func isActive(at moment: Moment) -> Bool {
        !isWithdrawn && !isPattern && isOpen(at: moment)
    }

    /// Whether a moment lies between its start and its end.
    func isOpen(at moment: Moment) -> Bool {
        startsAt <= moment && endsAt.map { moment < $0 } ?? true
    }

    /// Whether use is not counted.
    package var isUnlimited: Bool { allowance == .unlimited }

    /// Units used as seen at a moment.
    package func used(at moment: Moment) -> Int64 {
        resetsAt.map { $0 <= moment } ?? false ? 0 : used
    }

    /// Units left at a moment, whether or not it is active then; 0 when withdrawn or not counted.
    package func remaining(at moment: Moment) -> Int64 {
        guard case .units(let size) = allowance, !isWithdrawn, !isPattern else { return 0 }
        return max(0, size.units - used(at: moment))
    }

    /// When it will next be whole again, if anything is used by then; nil for never.
    package func nextReset(after moment: Moment) -> Moment? {
        guard let interval, case .units = allowance else { return nil }
        let next = interval.next(after: moment, from: startsAt)
        return endsAt.map { next < $0 } ?? true ? next : nil
    }

    /// Moments after `moment` at which time alone changes what it gives.
    func boundaries(after moment: Moment) -> [Moment] {
        if isWithdrawn || isPattern { return [] }
        return [startsAt, resetsAt, endsAt].compactMap(\.self).filter { $0 > moment }
    }

    /// Whether nothing can ever be had of it again.
    func isSpent(at moment: Moment) -> Bool {
        if let endsAt, endsAt <= moment { return true }
        if case .units(let size) = allowance, !isPattern {
            return interval == nil && endsAt == nil && used >= size.units
        }
        return false
    }
}
