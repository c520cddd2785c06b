package import JSON

// How accounts and events are written down: JSON with short names, in which what is usual is left out.
// The same account always gives the same bytes.

extension CustomerAccount {
    /// The account as JSON; the same account gives the same text.
    package var document: JSONValue {
        var json = JSONObject()
        json["revision"] = .integer(revision)
        json["next"] = .integer(nextHolding)
        if let changedAt { json["at"] = .integer(changedAt.milliseconds) }
        json["holdings"] = .array(holdings.map(\.document))
        json["known"] = .array(
            known.map { known in
                var item = JSONObject()
                item["feature"] = .string(known.feature.text)
                if let entity = known.entity { item["entity"] = .string(entity.text) }
                item["type"] = .string(known.type.rawValue)
                item["at"] = .integer(known.changedAt.milliseconds)
                return .object(item)
            })
        if !marks.isEmpty {
            json["marks"] = .array(
                marks.map { mark in
                    var item = JSONObject()
                    item["feature"] = .string(mark.feature.text)
                    if let entity = mark.entity { item["entity"] = .string(entity.text) }
                    item["total"] = .integer(mark.total)
                    if let until = mark.until { item["until"] = .integer(until.milliseconds) }
                    return .object(item)
                })
        }
        return .object(json)
    }

    /// Reads what ``document`` wrote.
    ///
    /// - Throws: when it is anything else.
    package init(document: JSONValue) throws(AccountDefect) {
        let reader = DocumentReader(document)
        var account = CustomerAccount.empty
        account.revision = try reader.number("revision")
        account.nextHolding = Int(try reader.number("next"))
        account.changedAt = reader.moment("at")
        for item in try reader.list("holdings") {
            account.holdings.append(try Holding(document: item.value))
        }
        for item in try reader.list("known") {
            account.known.append(
                Known(
                    feature: try item.feature(), entity: item.entity, type: try item.type(),
                    changedAt: try item.requiredMoment("at")))
        }
        if document["marks"] != nil {
            for item in try reader.list("marks") {
                account.marks.append(
                    Mark(
                        feature: try item.feature(), entity: item.entity,
                        total: try item.number("total"), until: item.moment("until")))
            }
        }
        self = account
    }
}

extension Holding {
    var document: JSONValue {
        var json = JSONObject()
        json["id"] = .integer(id)
        json["grant"] = .string(grant.text)
        json["feature"] = .string(feature.text)
        json["type"] = .string(type.rawValue)
        if let entity { json["entity"] = .string(entity.text) }
        if let mostEntities { json["entities"] = .integer(mostEntities) }
        if let pattern { json["of"] = .integer(pattern) }
        switch allowance {
        case .access: break
        case .unlimited: json["unlimited"] = true
        case .units(let size): json["units"] = .integer(size.units)
        }
        if let interval {
            json["interval"] = .string(interval.unit.rawValue)
            json["every"] = .integer(interval.every)
        }
        if let lineage { json["lineage"] = .string(lineage) }
        json["starts"] = .integer(startsAt.milliseconds)
        if let endsAt { json["ends"] = .integer(endsAt.milliseconds) }
        if used > 0 { json["used"] = .integer(used) }
        if let resetsAt { json["resets"] = .integer(resetsAt.milliseconds) }
        if isWithdrawn { json["withdrawn"] = true }
        return .object(json)
    }

    init(document: JSONValue) throws(AccountDefect) {
        let reader = DocumentReader(document)
        let allowance: Allowance
        if document["unlimited"]?.bool == true {
            allowance = .unlimited
        } else if document["units"] != nil {
            guard let size = Quantity(try reader.number("units")) else {
                throw reader.defect("units")
            }
            allowance = .units(size)
        } else {
            allowance = .access
        }
        var interval: ResetInterval?
        if let name = document["interval"]?.string {
            guard let unit = ResetInterval.Unit(rawValue: name),
                let read = ResetInterval(unit, every: Int(try reader.number("every")))
            else { throw reader.defect("interval") }
            interval = read
        }
        self.init(
            id: Int(try reader.number("id")), grant: GrantID(checked: try reader.text("grant")),
            feature: try reader.feature(), type: try reader.type(), entity: reader.entity,
            mostEntities: document["entities"]?.integer.map { Int($0) },
            pattern: document["of"]?.integer.map { Int($0) }, allowance: allowance,
            interval: interval, lineage: document["lineage"]?.string,
            startsAt: try reader.requiredMoment("starts"), endsAt: reader.moment("ends"))
        used = document["used"]?.integer ?? 0
        resetsAt = reader.moment("resets")
        isWithdrawn = document["withdrawn"]?.bool ?? false
    }
}

/// Takes a stored document apart.
struct DocumentReader {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func defect(_ name: String) -> AccountDefect {
        AccountDefect(description: "a stored account or entry has no usable member \(name)")
    }

    func number(_ name: String) throws(AccountDefect) -> Int64 {
        guard let number = value[name]?.integer else { throw defect(name) }
        return number
    }

    func text(_ name: String) throws(AccountDefect) -> String {
        guard let text = value[name]?.string else { throw defect(name) }
        return text
    }

    func list(_ name: String) throws(AccountDefect) -> [DocumentReader] {
        guard let items = value[name]?.array else { throw defect(name) }
        return items.map(DocumentReader.init)
    }

    func moment(_ name: String) -> Moment? {
        value[name]?.integer.map(Moment.init(milliseconds:))
    }

    func requiredMoment(_ name: String) throws(AccountDefect) -> Moment {
        Moment(milliseconds: try number(name))
    }

    func feature() throws(AccountDefect) -> FeatureKey {
        FeatureKey(checked: try text("feature"))
    }

    var entity: EntityKey? { value["entity"]?.string.map(EntityKey.init(checked:)) }

    func type() throws(AccountDefect) -> FeatureType {
        guard let type = FeatureType(rawValue: try text("type")) else { throw defect("type") }
        return type
    }
}
