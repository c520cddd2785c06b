package import JSON

/// Everything a customer may use, as one document.
package struct Profile: Sendable, Hashable {
    /// One feature of the customer's.
    package struct Item: Sendable, Hashable {
        /// Which.
        package let feature: FeatureKey
        /// The customer's own access.
        package let access: FeatureAccess
        /// When an allowance in use is whole again, or the access ends; nil for never.
        package let nextResetAt: Moment?
        /// Of entities that have allowances.
        package let entities: [EntityKey: FeatureAccess]
    }

    /// Whose.
    package let customer: CustomerKey
    /// Sorted by key; a feature that is not here is not held.
    package let items: [Item]
    /// What each App Store product would grant, so that a verified purchase can be shown at once.
    package let products: [Product]

    /// What a customer may use at a moment: what is in the catalogue, and held or once held.
    package init(
        of account: CustomerAccount, customer: CustomerKey, in catalogue: Catalogue, at now: Moment
    ) {
        self.customer = customer
        products = catalogue.products.values.filter { !$0.appStore.isEmpty }
            .sorted { $0.key < $1.key }
        var items: [Item] = []
        let features = Set(account.known.map(\.feature) + account.holdings.map(\.feature))
        for feature in features.sorted() {
            guard let definition = catalogue.features[feature] else { continue }
            var entities: [EntityKey: FeatureAccess] = [:]
            for known in account.known where known.feature == feature {
                guard let entity = known.entity else { continue }
                entities[entity] = account.available(feature, entity: entity, at: now)
                    .access(type: definition.type, required: 1)
            }
            let next = account.holdings.lazy
                .filter { $0.feature == feature && $0.entity == nil }
                .flatMap { $0.boundaries(after: now) }.min()
            items.append(
                Item(
                    feature: feature,
                    access: account.available(feature, entity: nil, at: now)
                        .access(type: definition.type, required: 1),
                    nextResetAt: next, entities: entities))
        }
        self.items = items
    }

    /// The body of `/profile`; it holds no time of its own, so that the same access gives the same bytes.
    package var wire: JSONValue {
        var json = JSONObject()
        json["customerId"] = .string(customer.text)
        json["features"] = .array(items.map(\.wire))
        json["products"] = .array(products.map(\.wire))
        return .object(json)
    }
}

extension Profile.Item {
    fileprivate var wire: JSONValue {
        var json = JSONObject()
        json["id"] = .string(feature.text)
        access.write(to: &json)
        if let nextResetAt { json["nextResetAt"] = .integer(nextResetAt.milliseconds) }
        if !entities.isEmpty {
            var all = JSONObject()
            for (entity, access) in entities.sorted(by: { $0.key < $1.key }) {
                var item = JSONObject()
                access.write(to: &item)
                all[entity.text] = .object(item)
            }
            json["entities"] = .object(all)
        }
        return .object(json)
    }
}

extension Product {
    fileprivate var wire: JSONValue {
        var json = JSONObject()
        json["id"] = .string(key.text)
        json["storeProductIds"] = .array(appStore.map { .string($0) })
        json["entitlements"] = .array(
            entitlements.filter { $0.mostEntities == nil }.map { entitlement in
                var item = JSONObject()
                item["featureId"] = .string(entitlement.feature.text)
                switch entitlement.allowance {
                case .access: break
                case .unlimited: item["unlimited"] = true
                case .units(let size): item["allowance"] = .integer(size.units)
                }
                return .object(item)
            })
        return .object(json)
    }
}
