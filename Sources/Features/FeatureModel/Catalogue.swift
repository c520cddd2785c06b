/// What can be granted: features, and products that grant them. Immutable once published.
package struct Catalogue: Sendable, Hashable {
    /// By key.
    package var features: [FeatureKey: FeatureDefinition]
    /// By key.
    package var products: [ProductKey: Product]

    /// An empty catalogue unless parts are given.
    package init(
        features: [FeatureKey: FeatureDefinition] = [:], products: [ProductKey: Product] = [:]
    ) {
        self.features = features
        self.products = products
    }

    /// The product that is sold in the App Store under this product id.
    package func product(appStore id: String) -> Product? {
        products.values.first { $0.appStore.contains(id) }
    }

    /// The wallet that a feature may draw on, with its cost a unit; at most one, as validation keeps.
    package func wallet(for feature: FeatureKey) -> (wallet: FeatureKey, cost: Quantity)? {
        for definition in features.values {
            if let cost = definition.costs[feature] { return (definition.key, cost) }
        }
        return nil
    }
}

/// A feature as the catalogue has it.
package struct FeatureDefinition: Sendable, Hashable {
    /// What apps ask for.
    package let key: FeatureKey
    /// Never changes once published.
    package let type: FeatureType
    /// For people; may be empty.
    package let name: String
    /// Of a wallet: what one unit of each drawing feature costs, in credits.
    package let costs: [FeatureKey: Quantity]

    /// A feature; `costs` belong to wallets only.
    package init(
        key: FeatureKey, type: FeatureType, name: String = "", costs: [FeatureKey: Quantity] = [:]
    ) {
        self.key = key
        self.type = type
        self.name = name
        self.costs = costs
    }
}

/// How much an entitlement gives.
package enum Allowance: Sendable, Hashable {
    /// Of a boolean feature: access.
    case access
    /// Use that is not counted.
    case unlimited
    /// So many units an interval.
    case units(Quantity)
}

/// What a product grants of one feature.
package struct Entitlement: Sendable, Hashable {
    /// Of a feature in the same catalogue.
    package let feature: FeatureKey
    /// How much.
    package let allowance: Allowance
    /// How often it is whole again; nil for `lifetime`.
    package let interval: ResetInterval?
    /// Gives each entity an allowance of this size, for at most so many entities; nil gives the customer
    /// one.
    package let mostEntities: Int?

    /// The most entities one entitlement serves.
    package static let mostEntitiesAdmitted = 1_000

    /// An entitlement as given; validation sees to it that its parts fit each other.
    package init(
        feature: FeatureKey, allowance: Allowance, interval: ResetInterval? = nil,
        mostEntities: Int? = nil
    ) {
        self.feature = feature
        self.allowance = allowance
        self.interval = interval
        self.mostEntities = mostEntities
    }
}

/// Something that is sold or given, and what it grants.
package struct Product: Sendable, Hashable {
    /// Its name in the catalogue.
    package let key: ProductKey
    /// For people; may be empty.
    package let name: String
    /// Product ids in the App Store that stand for it.
    package let appStore: [String]
    /// At least one.
    package let entitlements: [Entitlement]
    /// Whether a purchase shared within a family grants it to the sharers, too.
    package let grantsFamily: Bool
    /// Days that a purchase lasts which names no end itself; nil lasts until it is revoked.
    package let lastsDays: Int?

    /// A product as given.
    package init(
        key: ProductKey, name: String = "", appStore: [String] = [], entitlements: [Entitlement],
        grantsFamily: Bool = true, lastsDays: Int? = nil
    ) {
        self.key = key
        self.name = name
        self.appStore = appStore
        self.entitlements = entitlements
        self.grantsFamily = grantsFamily
        self.lastsDays = lastsDays
    }
}
