internal import JSON

/// Reads catalogue files, all of them together: a product may grant a feature of another file.
package struct CatalogueReader {
    /// A file with its text.
    package struct File: Sendable, Hashable {
        /// For diagnostics.
        package let name: String
        /// One JSON object.
        package let bytes: [UInt8]

        /// A file as read.
        package init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// What reading gave.
    package struct Outcome: Sendable, Hashable {
        /// Nil when there is something to mend.
        package let catalogue: Catalogue?
        /// In the order of the files.
        package let diagnostics: [CatalogueDiagnostic]
    }

    /// The longest file, in bytes.
    package static let longestFile = 1_048_576
    /// The most features and the most products of a catalogue.
    package static let most = 2_000

    /// One file under examination.
    struct Sheet {
        let value: JSONValue
        var problems: CatalogueProblems
    }

    var features: [FeatureKey: FeatureDefinition] = [:]
    var products: [ProductKey: Product] = [:]
    /// Which feature draws on which wallet.
    var wallets: [FeatureKey: FeatureKey] = [:]
    /// Which product an App Store id stands for.
    var storeIDs: [String: ProductKey] = [:]

    /// Reads and checks files.
    package static func read(_ files: [File]) -> Outcome {
        var reader = CatalogueReader()
        var sheets = files.map(open)
        for place in sheets.indices { reader.readFeatures(&sheets[place]) }
        for place in sheets.indices { reader.readCosts(&sheets[place]) }
        for place in sheets.indices { reader.readProducts(&sheets[place]) }
        let diagnostics = sheets.flatMap { sheet in
            sheet.problems.diagnostics.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
        }
        return Outcome(
            catalogue: diagnostics.isEmpty
                ? Catalogue(features: reader.features, products: reader.products) : nil,
            diagnostics: diagnostics)
    }

    private static func open(_ file: File) -> Sheet {
        do throws(JSONError) {
            let document = try JSONParser.parseDocument(file.bytes)
            var sheet = Sheet(
                value: document.value,
                problems: CatalogueProblems(
                    file: file.name, bytes: file.bytes, offsets: document.offsets))
            guard document.value.object != nil else {
                sheet.problems.add(
                    JSONPointer(), "A catalogue file is one object with features and products.")
                return sheet
            }
            checkMembers(
                of: document.value, at: JSONPointer(), ["dsl", "features", "products"],
                &sheet.problems)
            if document.value["dsl"]?.integer != 1 {
                sheet.problems.add(
                    JSONPointer(tokens: ["dsl"]), "A catalogue file says \"dsl\": 1.")
            }
            return sheet
        } catch {
            var sheet = Sheet(
                value: .null, problems: CatalogueProblems(file: file.name, bytes: file.bytes))
            sheet.problems.add(
                offset: error.offset, JSONPointer(), "The file is no JSON: \(error).")
            return sheet
        }
    }

    // MARK: Features

    private mutating func readFeatures(_ sheet: inout Sheet) {
        for (name, value, place) in Self.members("features", of: &sheet) {
            Self.checkMembers(of: value, at: place, ["type", "name", "costs"], &sheet.problems)
            guard let key = Self.key(name, at: place, &sheet.problems, FeatureKey.init(_:)) else {
                continue
            }
            guard features[key] == nil else {
                sheet.problems.add(place, "The feature \(name) is in another file too; keep one.")
                continue
            }
            guard features.count < Self.most else {
                sheet.problems.add(place, "There are more than \(Self.most) features.")
                return
            }
            let word = value["type"]?.string ?? ""
            guard let type = FeatureType(rawValue: word) else {
                let words = FeatureType.allCases.map(\.rawValue)
                sheet.problems.add(
                    value["type"] == nil ? place : place.appending("type"),
                    "A feature's type is boolean, metered or creditSystem.",
                    fix: Spelling.nearestWord(to: word, among: words))
                continue
            }
            if value["costs"] != nil, type != .creditSystem {
                sheet.problems.add(
                    place.appending("costs"),
                    "Only a creditSystem has costs; write them there, by feature.")
            }
            features[key] = FeatureDefinition(
                key: key, type: type, name: Self.text("name", of: value, at: place, &sheet))
        }
    }

    private mutating func readCosts(_ sheet: inout Sheet) {
        for (name, value, place) in Self.members("features", of: &sheet) {
            guard let key = FeatureKey(name), let definition = features[key],
                definition.type == .creditSystem, let costs = value["costs"]
            else { continue }
            guard let costs = costs.object else {
                sheet.problems.add(
                    place.appending("costs"), "Costs are an object: feature → credits a unit.")
                continue
            }
            var read: [FeatureKey: Quantity] = [:]
            for (drawing, cost) in costs {
                let spot = place.appending("costs").appending(drawing)
                guard let feature = FeatureKey(drawing), features[feature]?.type == .metered else {
                    sheet.problems.add(
                        spot, "Only a metered feature of the catalogue can draw on a wallet.",
                        fix: Spelling.nearestWord(to: drawing, among: names(of: .metered)))
                    continue
                }
                guard let credits = cost.integer.flatMap(Quantity.init(_:)) else {
                    sheet.problems.add(spot, "A cost is a whole number of credits from 1.")
                    continue
                }
                if let other = wallets[feature] {
                    sheet.problems.add(
                        spot, "The feature \(drawing) draws on \(other) already; keep one wallet.")
                    continue
                }
                wallets[feature] = key
                read[feature] = credits
            }
            features[key] = FeatureDefinition(
                key: key, type: .creditSystem, name: definition.name, costs: read)
        }
    }

    func names(of type: FeatureType? = nil) -> [String] {
        features.values.filter { type == nil || $0.type == type }.map(\.key.text).sorted()
    }

    // MARK: Parts

    /// The members of the object `name`, with their places.
    static func members(
        _ name: String, of sheet: inout Sheet
    ) -> [(name: String, value: JSONValue, place: JSONPointer)] {
        guard let part = sheet.value[name] else { return [] }
        let place = JSONPointer(tokens: [name])
        guard let members = part.object else {
            sheet.problems.add(place, "This is an object: key → definition.")
            return []
        }
        return members.map { ($0.key, $0.value, place.appending($0.key)) }
    }

    /// Notes members that nothing reads.
    static func checkMembers(
        of value: JSONValue, at place: JSONPointer, _ known: [String],
        _ problems: inout CatalogueProblems
    ) {
        guard let members = value.object else {
            problems.add(place, "An object is needed here, not \(value.kind).")
            return
        }
        for name in members.keys where !known.contains(name) {
            problems.add(
                place.appending(name), "There is no member \"\(name)\" here.",
                fix: Spelling.nearestWord(to: name, among: known))
        }
    }

    /// A key of the form that can stand in a URL and a condition.
    static func key<Found>(
        _ name: String, at place: JSONPointer, _ problems: inout CatalogueProblems,
        _ make: (String) -> Found?
    ) -> Found? {
        let isPlain = name.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || byte == 45 || byte == 46 || byte == 95
        }
        guard isPlain, name.utf8.count <= 128, let key = make(name) else {
            problems.add(
                place, "A key is 1 to 128 of letters, digits, \"-\", \"_\" and \".\".")
            return nil
        }
        return key
    }

    static func text(
        _ name: String, of value: JSONValue, at place: JSONPointer, _ sheet: inout Sheet
    ) -> String {
        guard let member = value[name] else { return "" }
        guard let text = member.string, text.utf8.count <= 256 else {
            sheet.problems.add(
                place.appending(name), "A name is a text of at most 256 bytes.")
            return ""
        }
        return text
    }
}
