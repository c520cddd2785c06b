package import JSON

extension Catalogue {
    /// The catalogue as one file would say it; the same catalogue gives the same canonical bytes.
    package var document: JSONValue {
        var json = JSONObject()
        json["dsl"] = 1
        var all = JSONObject()
        for feature in features.values.sorted(by: { $0.key < $1.key }) {
            var item = JSONObject()
            item["type"] = .string(feature.type.rawValue)
            if !feature.name.isEmpty { item["name"] = .string(feature.name) }
            if !feature.costs.isEmpty {
                var costs = JSONObject()
                for (key, cost) in feature.costs.sorted(by: { $0.key < $1.key }) {
                    costs[key.text] = .integer(cost.units)
                }
                item["costs"] = .object(costs)
            }
            all[feature.key.text] = .object(item)
        }
        json["features"] = .object(all)
        var sold = JSONObject()
        for product in products.values.sorted(by: { $0.key < $1.key }) {
            sold[product.key.text] = product.document
        }
        json["products"] = .object(sold)
        return .object(json)
    }

    /// Reads what was published.
    ///
    /// - Throws: when this program cannot read it: it was published by a newer one.
    package init(published bytes: [UInt8]) throws(AccountDefect) {
        let outcome = CatalogueReader.read([.init(name: "the published catalogue", bytes: bytes)])
        guard let catalogue = outcome.catalogue else {
            throw AccountDefect(
                description: outcome.diagnostics.first?.description
                    ?? "the published catalogue cannot be read")
        }
        self = catalogue
    }

    /// What forbids that this catalogue follows another: customers hold what was published, so a feature
    /// neither goes away nor changes its type. One sentence each; products may come and go.
    package func obstacles(after earlier: Catalogue) -> [String] {
        earlier.features.values.sorted { $0.key < $1.key }.compactMap { before in
            guard let after = features[before.key] else {
                return "The feature \(before.key) is published and is missing here: customers may "
                    + "hold it, so keep it in the catalogue; products need not grant it."
            }
            guard after.type == before.type else {
                return "The feature \(before.key) is published as \(before.type.rawValue) and is "
                    + "\(after.type.rawValue) here; give the new one a key of its own."
            }
            return nil
        }
    }
}

extension Product {
    fileprivate var document: JSONValue {
        var json = JSONObject()
        if !name.isEmpty { json["name"] = .string(name) }
        if !appStore.isEmpty { json["app_store"] = .array(appStore.map { .string($0) }) }
        if !grantsFamily { json["family_sharing"] = false }
        if let lastsDays { json["lasts_days"] = .integer(lastsDays) }
        json["entitlements"] = .array(entitlements.map(\.document))
        return .object(json)
    }
}

extension Entitlement {
    fileprivate var document: JSONValue {
        var json = JSONObject()
        json["feature"] = .string(feature.text)
        switch allowance {
        case .access: break
        case .unlimited: json["allowance"] = "unlimited"
        case .units(let size): json["allowance"] = .integer(size.units)
        }
        if let interval {
            json["interval"] = .string(interval.unit.rawValue)
            if interval.every != 1 { json["every"] = .integer(interval.every) }
        }
        if let mostEntities { json["entities"] = .integer(mostEntities) }
        return .object(json)
    }
}
