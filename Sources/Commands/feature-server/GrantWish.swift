internal import CommandLine
internal import FeatureModel
internal import JSON
internal import TimeZones

/// What the line of `grant` gives: a product, or some of one feature.
struct GrantWish: Sendable {
    private let product: ProductKey?
    private let feature: FeatureKey?
    private let allowance: String?
    private let interval: ResetInterval?
    private let path: [String]

    init(_ context: CommandContext) throws {
        path = context.command.path
        product = try context.optionalKey("product")
        feature = try context.optionalKey("feature")
        allowance = context.command.option("allowance")
        let word = context.command.option("interval")
        interval = word.flatMap { ResetInterval.Unit(rawValue: $0) }.flatMap { ResetInterval($0) }
        guard (product == nil) != (feature == nil) else {
            throw UsageError(path: path, "grant needs --product KEY or --feature KEY, one of them.")
        }
        if product != nil, allowance != nil || word != nil {
            throw UsageError(
                path: path,
                "A product says itself how much it grants; leave --allowance and "
                    + "--interval out.")
        }
    }

    /// What is given, by the live catalogue.
    func entitlements(in catalogue: Catalogue) throws -> [Entitlement] {
        if let product {
            guard let found = catalogue.products[product] else {
                throw missing("product", product.text, catalogue.products.keys.map(\.text))
            }
            return found.entitlements
        }
        guard let feature else { return [] }
        guard let definition = catalogue.features[feature] else {
            throw missing("feature", feature.text, catalogue.features.keys.map(\.text))
        }
        return [
            Entitlement(
                feature: feature, allowance: try size(of: definition),
                interval: allowance == "unlimited" ? nil : interval)
        ]
    }

    private func size(of feature: FeatureDefinition) throws -> Allowance {
        switch (feature.type, allowance) {
        case (.boolean, nil): return .access
        case (.boolean, _?):
            throw UsageError(
                path: path, "\(feature.key) is a boolean feature; leave --allowance out.")
        case (.metered, "unlimited"?), (.creditSystem, "unlimited"?): return .unlimited
        case (.metered, let text), (.creditSystem, let text):
            guard let size = text.flatMap({ Int64($0) }).flatMap(Quantity.init(_:)) else {
                throw UsageError(
                    path: path,
                    "--allowance of \(feature.key) is a whole number from 1, or unlimited.")
            }
            return .units(size)
        }
    }

    private func missing(_ kind: String, _ name: String, _ known: [String]) -> CommandFailure {
        CommandFailure(
            .notFound,
            "The published catalogue has no \(kind) \(name)"
                + Spelling.ending(for: name, among: known.sorted()))
    }
}

extension Entitlement {
    /// Such as `100 of generations every month`.
    var sentence: String {
        let every = interval.map { " every \($0)" } ?? ""
        let each = mostEntities.map { " for each of \($0) entities" } ?? ""
        return switch allowance {
        case .access: "\(feature)"
        case .unlimited: "unlimited \(feature)\(each)"
        case .units(let size): "\(size) of \(feature)\(every)\(each)"
        }
    }
}

extension Holding {
    /// Such as `generations (80 left)`.
    func sentence(at now: Moment) -> String {
        switch allowance {
        case .access, .unlimited: "\(feature)"
        case .units: "\(feature) (\(remaining(at: now)) left)"
        }
    }

    /// A row of `show`.
    func row(at now: Moment) -> JSONValue {
        var json = JSONObject()
        json["grant"] = .string(grant.text)
        json["feature"] = .string(feature.text)
        json["type"] = .string(type.rawValue)
        json["entity"] = entity.map { .string($0.text) } ?? .null
        if let mostEntities { json["entities"] = .integer(mostEntities) }
        json["state"] = .string(state(at: now))
        switch allowance {
        case .access: break
        case .unlimited: json["of"] = "unlimited"
        case .units(let size):
            json["left"] = .integer(remaining(at: now))
            json["of"] = .integer(size.units)
        }
        if let interval { json["interval"] = .string("\(interval)") }
        json["starts_at"] = time(startsAt)
        if let resetsAt, resetsAt > now { json["resets_at"] = time(resetsAt) }
        if let endsAt { json["ends_at"] = time(endsAt) }
        return .object(json)
    }

    private func state(at now: Moment) -> String {
        if isWithdrawn { return "withdrawn" }
        if let endsAt, endsAt <= now { return "ended" }
        if startsAt > now { return "to start" }
        return isPattern ? "for entities" : "active"
    }

    private func time(_ moment: Moment) -> JSONValue {
        .string(Instant(milliseconds: moment.milliseconds).description)
    }
}
