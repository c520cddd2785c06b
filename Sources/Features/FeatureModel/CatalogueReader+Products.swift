internal import JSON

extension CatalogueReader {
    private static let productMembers = [
        "name", "app_store", "entitlements", "family_sharing", "lasts_days",
    ]
    private static let entitlementMembers = [
        "feature", "allowance", "interval", "every", "entities",
    ]

    mutating func readProducts(_ sheet: inout Sheet) {
        for (name, value, place) in Self.members("products", of: &sheet) {
            Self.checkMembers(of: value, at: place, Self.productMembers, &sheet.problems)
            guard let key = Self.key(name, at: place, &sheet.problems, ProductKey.init(_:)) else {
                continue
            }
            guard products[key] == nil else {
                sheet.problems.add(place, "The product \(name) is in another file too; keep one.")
                continue
            }
            guard products.count < Self.most else {
                sheet.problems.add(place, "There are more than \(Self.most) products.")
                return
            }
            if let flag = value["family_sharing"], flag.bool == nil {
                sheet.problems.add(
                    place.appending("family_sharing"), "This is true or false.")
            }
            var lastsDays: Int?
            if let days = value["lasts_days"] {
                lastsDays = days.integer.flatMap { (1...36_600).contains($0) ? Int($0) : nil }
                if lastsDays == nil {
                    sheet.problems.add(
                        place.appending("lasts_days"),
                        "This is a whole number of days from 1 to 36600.")
                }
            }
            products[key] = Product(
                key: key, name: Self.text("name", of: value, at: place, &sheet),
                appStore: readStoreIDs(value, of: key, at: place, &sheet),
                entitlements: readEntitlements(value, at: place, &sheet),
                grantsFamily: value["family_sharing"]?.bool ?? true, lastsDays: lastsDays)
        }
    }

    private mutating func readStoreIDs(
        _ value: JSONValue, of product: ProductKey, at place: JSONPointer, _ sheet: inout Sheet
    ) -> [String] {
        guard let list = value["app_store"] else { return [] }
        let place = place.appending("app_store")
        guard let items = list.array, items.count <= 100 else {
            sheet.problems.add(
                place, "This is an array of App Store product ids, at most 100.")
            return []
        }
        var ids: [String] = []
        for (index, item) in items.enumerated() {
            guard let id = item.string, !id.isEmpty, id.utf8.count <= 255 else {
                sheet.problems.add(
                    place.appending(index), "An App Store product id is a text of 1 to 255 bytes.")
                continue
            }
            if let other = storeIDs[id] {
                sheet.problems.add(
                    place.appending(index),
                    "The App Store product \(id) stands for \(other) already; keep one.")
                continue
            }
            storeIDs[id] = product
            ids.append(id)
        }
        return ids
    }

    private func readEntitlements(
        _ value: JSONValue, at place: JSONPointer, _ sheet: inout Sheet
    ) -> [Entitlement] {
        guard let items = value["entitlements"]?.array, !items.isEmpty, items.count <= 100 else {
            sheet.problems.add(
                value["entitlements"] == nil ? place : place.appending("entitlements"),
                "A product has 1 to 100 entitlements.")
            return []
        }
        return items.enumerated().compactMap { index, item in
            let place = place.appending("entitlements").appending(index)
            return readEntitlement(item, at: place, &sheet)
        }
    }

    private func readEntitlement(
        _ value: JSONValue, at place: JSONPointer, _ sheet: inout Sheet
    ) -> Entitlement? {
        Self.checkMembers(of: value, at: place, Self.entitlementMembers, &sheet.problems)
        let name = value["feature"]?.string ?? ""
        guard let key = FeatureKey(name), let definition = features[key] else {
            sheet.problems.add(
                value["feature"] == nil ? place : place.appending("feature"),
                "An entitlement names a feature of the catalogue.",
                fix: Spelling.nearestWord(to: name, among: names()))
            return nil
        }
        guard let allowance = readAllowance(value, of: definition, at: place, &sheet) else {
            return nil
        }
        let isCounted = if case .units = allowance { true } else { false }
        for member in ["interval", "every"] where value[member] != nil && !isCounted {
            sheet.problems.add(
                place.appending(member), "Only a counted allowance has an interval; leave it out.")
        }
        return Entitlement(
            feature: key, allowance: allowance,
            interval: isCounted ? readInterval(value, at: place, &sheet) : nil,
            mostEntities: readEntities(value, of: definition, at: place, &sheet))
    }

    private func readAllowance(
        _ value: JSONValue, of feature: FeatureDefinition, at place: JSONPointer,
        _ sheet: inout Sheet
    ) -> Allowance? {
        let spot = place.appending("allowance")
        if feature.type == .boolean {
            if value["allowance"] != nil {
                sheet.problems.add(
                    spot,
                    "The feature \(feature.key) is boolean and has no allowance; "
                        + "leave it out.")
            }
            return .access
        }
        if value["allowance"]?.string == "unlimited" { return .unlimited }
        if let size = value["allowance"]?.integer.flatMap(Quantity.init(_:)) {
            return .units(size)
        }
        sheet.problems.add(
            value["allowance"] == nil ? place : spot,
            "An allowance of \(feature.key) is a whole number from 1 to \(Quantity.largest), or "
                + "\"unlimited\".")
        return nil
    }

    private func readInterval(
        _ value: JSONValue, at place: JSONPointer, _ sheet: inout Sheet
    ) -> ResetInterval? {
        let word = value["interval"].map { $0.string ?? "" } ?? ResetInterval.lifetime
        if word == ResetInterval.lifetime {
            if value["every"] != nil {
                sheet.problems.add(
                    place.appending("every"), "A lifetime is not repeated; leave it out.")
            }
            return nil
        }
        let words = ResetInterval.Unit.allCases.map(\.rawValue) + [ResetInterval.lifetime]
        guard let unit = ResetInterval.Unit(rawValue: word) else {
            sheet.problems.add(
                place.appending("interval"),
                "An interval is minute, hour, day, week, month, year or lifetime.",
                fix: Spelling.nearestWord(to: word, among: words))
            return nil
        }
        let every = value["every"].map { $0.integer ?? 0 } ?? 1
        guard let interval = ResetInterval(unit, every: Int(every)) else {
            sheet.problems.add(
                place.appending("every"), "This is a whole number from 1 to \(ResetInterval.most).")
            return nil
        }
        return interval
    }

    private func readEntities(
        _ value: JSONValue, of feature: FeatureDefinition, at place: JSONPointer,
        _ sheet: inout Sheet
    ) -> Int? {
        guard let member = value["entities"] else { return nil }
        let spot = place.appending("entities")
        guard feature.type != .boolean else {
            sheet.problems.add(
                spot, "The feature \(feature.key) is boolean: entities have no part of it.")
            return nil
        }
        guard let most = member.integer,
            (1...Int64(Entitlement.mostEntitiesAdmitted)).contains(most)
        else {
            sheet.problems.add(
                spot,
                "This is for how many entities at most, each with an allowance of its own: 1 to "
                    + "\(Entitlement.mostEntitiesAdmitted).")
            return nil
        }
        return Int(most)
    }
}
