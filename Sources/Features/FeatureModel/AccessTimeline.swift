/// What a feature's answer is from one moment to the next, as long as nothing is written.
package struct AccessStep: Sendable, Hashable {
    /// The first moment at which it holds; nil for the one that holds already.
    package let validFrom: Moment?
    /// The first moment at which it does not hold any more; nil for never.
    package let validUntil: Moment?
    /// Since when the answer is this one.
    package let changedAt: Moment
    /// For one unit.
    package let access: FeatureAccess

    /// A step as computed or read back.
    package init(
        validFrom: Moment?, validUntil: Moment?, changedAt: Moment, access: FeatureAccess
    ) {
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.changedAt = changedAt
        self.access = access
    }
}

extension CustomerAccount {
    /// A feature's answers since an entry last touched it: one step at least, the first without a
    /// beginning, the last without an end. Nobody has to be awake when an allowance is whole again or a
    /// subscription ends.
    package func timeline(of known: Known) -> [AccessStep] {
        let now = known.changedAt
        let boundaries = Set(
            holdings.lazy
                .filter { $0.feature == known.feature && $0.entity == known.entity }
                .flatMap { $0.boundaries(after: now) }
        ).sorted()
        var steps: [(from: Moment?, changedAt: Moment, access: FeatureAccess)] = []
        for moment in [now] + boundaries {
            let access = available(known.feature, entity: known.entity, at: moment)
                .access(type: known.type, required: 1)
            if steps.last?.access == access { continue }
            let isFirst = steps.isEmpty
            steps.append((isFirst ? nil : moment, isFirst ? known.changedAt : moment, access))
        }
        return steps.indices.map { index in
            AccessStep(
                validFrom: steps[index].from,
                validUntil: index + 1 < steps.count ? steps[index + 1].from : nil,
                changedAt: steps[index].changedAt, access: steps[index].access)
        }
    }
}
