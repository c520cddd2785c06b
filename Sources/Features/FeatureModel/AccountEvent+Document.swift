package import JSON

extension AccountEvent {
    /// What the ledger keeps beside kind, feature, entity and amount.
    package var document: JSONValue {
        var json = JSONObject()
        switch self {
        case .granted(let holding): return holding.document
        case .used(let holding, let units, let resetsAt):
            json["holding"] = .integer(holding)
            json["units"] = .integer(units)
            if let resetsAt { json["resets"] = .integer(resetsAt.milliseconds) }
        case .reset(let holding, let moment), .withdrawn(let holding, let moment):
            json["holding"] = .integer(holding)
            json["at"] = .integer(moment.milliseconds)
        case .ended(let holding, let moment, let reason):
            json["holding"] = .integer(holding)
            json["at"] = .integer(moment.milliseconds)
            json["reason"] = .string(reason.rawValue)
        case .rescheduled(let holding, let endsAt):
            json["holding"] = .integer(holding)
            if let endsAt { json["ends"] = .integer(endsAt.milliseconds) }
        case .restored(let holding): json["holding"] = .integer(holding)
        case .reported(_, _, let total, let until):
            json["total"] = .integer(total)
            if let until { json["until"] = .integer(until.milliseconds) }
        }
        return .object(json)
    }

    /// Reads what ``document`` wrote, with what stands beside it.
    ///
    /// - Throws: when the kind is unknown or a member is missing.
    package init(
        kind: String, feature: FeatureKey, entity: EntityKey?, document: JSONValue
    ) throws(AccountDefect) {
        let reader = DocumentReader(document)
        switch kind {
        case "granted": self = .granted(try Holding(document: document))
        case "used":
            self = .used(
                holding: Int(try reader.number("holding")), units: try reader.number("units"),
                resetsAt: reader.moment("resets"))
        case "reset":
            self = .reset(
                holding: Int(try reader.number("holding")), at: try reader.requiredMoment("at"))
        case "ended":
            guard let reason = Ending(rawValue: try reader.text("reason")) else {
                throw reader.defect("reason")
            }
            self = .ended(
                holding: Int(try reader.number("holding")), at: try reader.requiredMoment("at"),
                reason: reason)
        case "rescheduled":
            self = .rescheduled(
                holding: Int(try reader.number("holding")), endsAt: reader.moment("ends"))
        case "withdrawn":
            self = .withdrawn(
                holding: Int(try reader.number("holding")), at: try reader.requiredMoment("at"))
        case "restored": self = .restored(holding: Int(try reader.number("holding")))
        case "reported":
            self = .reported(
                feature: feature, entity: entity, total: try reader.number("total"),
                until: reader.moment("until"))
        default: throw AccountDefect(description: "the ledger knows no entry of kind \(kind)")
        }
    }
}
