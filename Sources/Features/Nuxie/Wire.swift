internal import FeatureModel
internal import JSON

/// The forms of requests and answers, all in one place.
enum Wire {
    // MARK: Requests

    static func entitled(
        customer: String, feature: String, required: Int, entity: String?
    ) -> JSONObject {
        var json = JSONObject()
        json["customerId"] = .string(customer)
        json["featureId"] = .string(feature)
        json["requiredBalance"] = .integer(required)
        if let entity { json["entityId"] = .string(entity) }
        return json
    }

    /// - Parameter signed: the purchase that backs it, as the store signed it.
    static func consume(_ command: UsageCommand, signed: String?) -> JSONObject {
        var json = JSONObject()
        json["customerId"] = .string(command.customer)
        json["featureId"] = .string(command.feature)
        json["operationId"] = .string(command.operation)
        json["quantity"] = .integer(command.quantity)
        if let entity = command.entity { json["entityId"] = .string(entity) }
        if command.isTotal { json["mode"] = "set_usage" }
        if let metadata = command.metadata { json["metadata"] = .object(metadata) }
        if let signed { json["purchase"] = .object(transaction(signed)) }
        return json
    }

    static func purchase(customer: String, signed: String) -> JSONObject {
        var json = transaction(signed)
        json["distinct_id"] = .string(customer)
        return json
    }

    static func profile(customer: String) -> JSONObject {
        var json = JSONObject()
        json["distinct_id"] = .string(customer)
        return json
    }

    private static func transaction(_ signed: String) -> JSONObject {
        var json = JSONObject()
        json["type"] = "appstore"
        json["transaction_jwt"] = .string(signed)
        return json
    }

    // MARK: Answers

    static func receipt(_ json: JSONValue) -> FeatureConsumptionResult? {
        guard let customer = json["customerId"]?.string, let feature = json["featureId"]?.string,
            let operation = json["operationId"]?.string,
            let quantity = json["quantity"]?.integer, let accepted = json["accepted"]?.bool,
            let code = json["code"]?.string,
            let access = FeatureAccess(wire: json, allowed: json["active"])
        else { return nil }
        return FeatureConsumptionResult(
            customerId: customer, featureId: feature, operationId: operation,
            quantity: Int(quantity), accepted: accepted, code: code,
            balance: access.unlimited ? nil : access.balance, unlimited: access.unlimited,
            active: access.allowed, occurredAtMs: json["occurredAtMs"]?.integer,
            idempotentReplay: json["idempotentReplay"]?.bool ?? false,
            entityId: json["entityId"]?.string, type: access.type,
            creditFeatureId: json["creditFeatureId"]?.string)
    }

    /// An answer about one feature; `wallet` when it is a wallet's, which holds for the asked amount alone.
    struct Check: Sendable, Hashable {
        let access: FeatureAccess
        let wallet: String?
    }

    static func check(_ json: JSONValue, of feature: String) -> Check? {
        guard let answered = json["featureId"]?.string,
            let access = access(json)
        else { return nil }
        var wallet = json["creditFeatureId"]?.string
        if wallet == nil, !answered.hasSameBytes(as: feature) { wallet = answered }
        return Check(access: wallet == nil ? access : access.withoutCredits, wallet: wallet)
    }

    /// Everything a customer may use.
    struct ProfileAnswer: Sendable, Hashable {
        var features: [String: Item] = [:]
        /// What a product grants, by the store's id of it.
        var products: [String: Product] = [:]

        struct Item: Sendable, Hashable {
            let access: FeatureAccess
            /// Milliseconds since 1970: until then it holds if nothing happens.
            let nextResetAt: Int64?
            let entities: [String: FeatureAccess]
        }

        struct Product: Sendable, Hashable {
            let id: String
            let grants: [Evidence.Grant]
        }
    }

    static func profile(_ json: JSONValue) -> ProfileAnswer? {
        guard let items = features(json) else { return nil }
        var answer = ProfileAnswer(features: items)
        for product in json["products"]?.array ?? [] {
            guard let id = product["id"]?.string else { continue }
            let grants = (product["entitlements"]?.array ?? []).compactMap(grant)
            for store in product["storeProductIds"]?.array ?? [] {
                guard let store = store.string else { continue }
                answer.products[store] = ProfileAnswer.Product(id: id, grants: grants)
            }
        }
        return answer
    }

    /// The list `features` of a profile or of the answer to a purchase.
    static func features(_ json: JSONValue) -> [String: ProfileAnswer.Item]? {
        guard let list = json["features"]?.array else { return nil }
        var items: [String: ProfileAnswer.Item] = [:]
        for item in list {
            guard let id = item["id"]?.string, let access = access(item) else { return nil }
            var entities: [String: FeatureAccess] = [:]
            for (entity, value) in item["entities"]?.object ?? JSONObject() {
                if let held = self.access(value, type: access.type) { entities[entity] = held }
            }
            items[id] = ProfileAnswer.Item(
                access: access, nextResetAt: item["nextResetAt"]?.integer, entities: entities)
        }
        return items
    }

    /// Access with `balance` left out where use is not counted, whatever number stands there.
    private static func access(_ json: JSONValue, type: FeatureType? = nil) -> FeatureAccess? {
        guard let allowed = json["allowed"]?.bool, let unlimited = json["unlimited"]?.bool,
            let type = json["type"]?.string.flatMap(FeatureType.init(rawValue:)) ?? type
        else { return nil }
        let balance = unlimited ? nil : json["balance"]?.integer.map { Int($0) }
        return FeatureAccess(allowed: allowed, unlimited: unlimited, balance: balance, type: type)
    }

    private static func grant(_ json: JSONValue) -> Evidence.Grant? {
        guard let feature = json["featureId"]?.string else { return nil }
        let isUnlimited = json["unlimited"]?.bool ?? false
        let allowance = json["allowance"]?.integer
        let isCounted = isUnlimited || allowance != nil
        return Evidence.Grant(
            feature: feature,
            type: json["type"]?.string
                ?? (isCounted ? FeatureType.metered : .boolean).rawValue,
            isUnlimited: isUnlimited, allowance: Int(allowance ?? 0))
    }
}

extension FeatureAccess {
    /// What a wallet's answer says of a feature that draws on it: its balance is in credits, which are not
    /// the feature's units; none are none.
    var withoutCredits: FeatureAccess {
        FeatureAccess(
            allowed: allowed, unlimited: unlimited, balance: balance == 0 ? 0 : nil, type: type)
    }
}

extension EventItem {
    /// The item as it goes to `/event` or into a batch: the anonymous id, a value and an entity are lifted
    /// out of the properties, which keep them.
    var wire: JSONObject {
        var json = JSONObject()
        json["event"] = .string(name)
        json["distinct_id"] = .string(customer)
        if let anonymous = properties["$anon_distinct_id"]?.string {
            json["anon_distinct_id"] = .string(anonymous)
        }
        json["idempotency_key"] = .string(id)
        json["timestamp"] = .string(Timestamp.text(occurredAt))
        json["properties"] = .object(properties)
        if let value = properties["value"]?.number { json["value"] = .number(value) }
        if let entity = properties["entityId"]?.string { json["entity_id"] = .string(entity) }
        return json
    }
}

/// Times as the wire writes them.
enum Timestamp {
    /// RFC 3339 in UTC with milliseconds, such as `2026-11-30T10:00:00.000Z`.
    static func text(_ milliseconds: Int64) -> String {
        let day: Int64 = 86_400_000
        let days = milliseconds >= 0 ? milliseconds / day : (milliseconds - day + 1) / day
        let rest = milliseconds - days * day
        let (year, month, dayOfMonth) = civil(days)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T"
            + "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):"
            + "\(padded(rest / 1_000 % 60, 2)).\(padded(rest % 1_000, 3))Z"
    }

    /// Year, month and day, counted in years that begin in March so that the leap day is the last.
    private static func civil(_ daysSinceEpoch: Int64) -> (Int64, Int64, Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let index = (5 * dayOfYear + 2) / 153
        let month = index < 10 ? index + 3 : index - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * index + 2) / 5 + 1
        )
    }
}
