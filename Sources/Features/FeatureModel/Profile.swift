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
        /// How often the customer's own allowance is whole again; nil where it never is.
        package let interval: ResetInterval?
        /// Of entities that have allowances.
        package let entities: [EntityKey: FeatureAccess]
    }

    /// Whose.
    package let customer: CustomerKey
    /// Sorted by key; a feature that is not here is not held.
    package let items: [Item]
    /// What each App Store product would grant, so that a verified purchase can be shown at once.
    package let products: [Product]
    /// How the catalogue's features are measured.
    private let types: [FeatureKey: FeatureType]

    /// What a customer may use at a moment: what is in the catalogue, and held or once held.
    package init(
        of account: CustomerAccount, customer: CustomerKey, in catalogue: Catalogue, at now: Moment
    ) {
        self.customer = customer
        types = catalogue.features.mapValues(\.type)
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
            let own = account.holdings.filter { $0.feature == feature && $0.entity == nil }
            let interval = own.first { $0.isActive(at: now) && $0.interval != nil }?.interval
            items.append(
                Item(
                    feature: feature,
                    access: account.available(feature, entity: nil, at: now)
                        .access(type: definition.type, required: 1),
                    nextResetAt: own.flatMap { $0.boundaries(after: now) }.min(),
                    interval: interval, entities: entities))
        }
        self.items = items
    }

    /// The body of `/profile`; it holds no time of its own, so that the same access gives the same bytes.
    ///
    /// Public SDKs take a boolean feature that is there as allowed, so one that is not held any more is left
    /// out. They ask for a list of segments, which this server has none of.
    package var wire: JSONValue {
        var json = JSONObject()
        json["customerId"] = .string(customer.text)
        json["features"] = .array(
            items.filter { $0.access.type != .boolean || $0.access.allowed }.map(\.wire))
        json["segments"] = []
        json["products"] = .array(products.map { $0.wire(in: types) })
        return .object(json)
    }

    /// The body of `/purchase`, in the public wire form: what the customer has after it, also what was lost.
    ///
    /// - Parameter product: what the transaction's product stands for now; nil when nothing any more.
    package func purchaseWire(_ transaction: String, product: ProductKey?) -> JSONValue {
        var json = JSONObject()
        json["success"] = true
        json["customer_id"] = .string(customer.text)
        json["customerId"] = .string(customer.text)
        json["transaction_id"] = .string(transaction)
        json["product_id"] = product.map { .string($0.text) } ?? .null
        json["features"] = .array(
            items.map { item in
                var feature = JSONObject()
                feature["id"] = .string(item.feature.text)
                feature["ext_id"] = .string(item.feature.text)
                item.access.write(to: &feature)
                return .object(feature)
            })
        return .object(json)
    }
}

extension Profile.Item {
    fileprivate var wire: JSONValue {
        var json = JSONObject()
        json["id"] = .string(feature.text)
        access.write(to: &json)
        if let nextResetAt { json["nextResetAt"] = .integer(nextResetAt.milliseconds) }
        if let interval { json["interval"] = .string(interval.unit.rawValue) }
        if !entities.isEmpty {
            var all = JSONObject()
            for (entity, access) in entities.sorted(by: { $0.key < $1.key }) {
                var item = JSONObject()
                access.write(to: &item)
                // Public SDKs read a number here, also of an entity whose use is not counted.
                if access.unlimited { item["balance"] = .integer(Quantity.largest) }
                all[entity.text] = .object(item)
            }
            json["entities"] = .object(all)
        }
        return .object(json)
    }
}

extension Product {
    fileprivate func wire(in types: [FeatureKey: FeatureType]) -> JSONValue {
        var json = JSONObject()
        json["id"] = .string(key.text)
        json["storeProductIds"] = .array(appStore.map { .string($0) })
        json["entitlements"] = .array(
            entitlements.filter { $0.mostEntities == nil }.map { entitlement in
                var item = JSONObject()
                item["featureId"] = .string(entitlement.feature.text)
                item["type"] = types[entitlement.feature].map { .string($0.rawValue) }
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
