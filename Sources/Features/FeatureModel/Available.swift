/// What a customer (or one entity of theirs) can use of one feature at one moment.
struct Available: Hashable {
    /// Whether there is any allowance, used up or not.
    var isHeld = false
    var isUnlimited = false
    /// Units left in what is counted.
    var balance: Int64 = 0
    /// Of the holdings; nil when there is none.
    var type: FeatureType?

    func covers(_ units: Int64) -> Bool { isUnlimited || (isHeld && balance >= units) }

    func access(type fallback: FeatureType, required: Int64) -> FeatureAccess {
        FeatureAccess(
            type: type ?? fallback, isHeld: isHeld, unlimited: isUnlimited, balance: balance,
            required: required)
    }
}

extension CustomerAccount {
    /// What can be used at a moment. An entity has only what is an entity's; it never has the
    /// customer's own.
    func available(_ feature: FeatureKey, entity: EntityKey?, at moment: Moment) -> Available {
        var sum = Available()
        for source in sources(feature, entity: entity, at: moment) {
            sum.isHeld = true
            sum.type = source.holding.type
            if source.holding.isUnlimited { sum.isUnlimited = true }
            sum.balance += source.remaining
        }
        return sum
    }

    /// A holding that can be charged, or a pattern that an entity can still get one of.
    struct Source {
        let holding: Holding
        let remaining: Int64
        let isFromPattern: Bool
    }

    /// What can be charged at a moment: unlimited first, then what is lost soonest.
    func sources(_ feature: FeatureKey, entity: EntityKey?, at moment: Moment) -> [Source] {
        var found: [Source] = []
        for holding in holdings where holding.feature == feature {
            if holding.isPattern {
                if let source = pattern(holding, for: entity, at: moment) { found.append(source) }
            } else if holding.entity == entity, holding.isActive(at: moment) {
                found.append(
                    Source(
                        holding: holding, remaining: holding.remaining(at: moment),
                        isFromPattern: false))
            }
        }
        return found.sorted { left, right in
            if left.holding.isUnlimited != right.holding.isUnlimited {
                return left.holding.isUnlimited
            }
            let leftEnd = left.holding.endsAt ?? .latest
            let rightEnd = right.holding.endsAt ?? .latest
            if leftEnd != rightEnd { return leftEnd < rightEnd }
            let leftReset = left.holding.nextReset(after: moment) ?? .latest
            let rightReset = right.holding.nextReset(after: moment) ?? .latest
            return (leftReset, left.holding.id) < (rightReset, right.holding.id)
        }
    }

    /// What an entity that comes first would get of a pattern; nil once it has it, or all are given out.
    private func pattern(
        _ pattern: Holding, for entity: EntityKey?, at moment: Moment
    ) -> Source? {
        guard let entity, let most = pattern.mostEntities, !pattern.isWithdrawn,
            pattern.isOpen(at: moment)
        else { return nil }
        let made = holdings.filter { $0.pattern == pattern.id }
        guard made.count < most, !made.contains(where: { $0.entity == entity }) else { return nil }
        let units: Int64 = if case .units(let size) = pattern.allowance { size.units } else { 0 }
        return Source(holding: pattern, remaining: units, isFromPattern: true)
    }
}

/// The answer to "may this customer use this feature?".
package struct AccessAnswer: Sendable, Hashable {
    /// Why, in one word.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case allowed
        case insufficient
        case featureNotFound = "feature_not_found"
    }

    /// The access. Of a wallet's when ``wallet`` is set.
    package let access: FeatureAccess
    /// Why.
    package let code: Code
    /// The wallet that would be charged; the answer then holds for exactly the amount asked for.
    package let wallet: FeatureKey?
}

extension CustomerAccount {
    /// Whether an amount could be used at a moment. Takes nothing and reserves nothing.
    ///
    /// A feature's own allowance is asked first, then the wallet it may draw on.
    package func access(
        to feature: FeatureKey, required: Quantity = .one, entity: EntityKey? = nil,
        in catalogue: Catalogue, at moment: Moment
    ) -> AccessAnswer {
        guard let definition = catalogue.features[feature] else {
            return AccessAnswer(access: .denied, code: .featureNotFound, wallet: nil)
        }
        let own = available(feature, entity: entity, at: moment)
        let access = own.access(type: definition.type, required: required.units)
        if access.allowed || definition.type == .boolean {
            return AccessAnswer(
                access: access, code: access.allowed ? .allowed : .insufficient, wallet: nil)
        }
        if let (wallet, cost) = catalogue.wallet(for: feature) {
            let credits = available(wallet, entity: entity, at: moment)
            if let price = required.times(cost), credits.covers(price.units) {
                return AccessAnswer(
                    access: credits.access(type: .creditSystem, required: price.units),
                    code: .allowed, wallet: wallet)
            }
            if !own.isHeld, credits.isHeld {
                let shown = credits.access(type: .creditSystem, required: .max)
                return AccessAnswer(access: shown, code: .insufficient, wallet: wallet)
            }
        }
        return AccessAnswer(access: access, code: .insufficient, wallet: nil)
    }
}
