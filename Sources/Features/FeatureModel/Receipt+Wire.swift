package import JSON

// The wire form that the public SDK speaks: camel case, whole numbers, null for "not counted".

extension Receipt {
    /// The answer to a consumption.
    ///
    /// - Parameter isReplay: whether the decision was made earlier.
    package func wire(isReplay: Bool) -> JSONValue {
        var json = JSONObject()
        json["customerId"] = .string(command.customer.text)
        json["featureId"] = .string(command.feature.text)
        json["operationId"] = .string(command.operation.text)
        json["quantity"] = .integer(command.quantity.units)
        if let entity = command.entity { json["entityId"] = .string(entity.text) }
        json["accepted"] = .bool(accepted)
        json["code"] = .string(code.rawValue)
        json["balance"] = access.balance.map { .integer($0) } ?? .null
        json["unlimited"] = .bool(access.unlimited)
        json["active"] = .bool(access.allowed)
        json["type"] = .string(access.type.rawValue)
        if let wallet { json["creditFeatureId"] = .string(wallet.text) }
        json["occurredAtMs"] = .integer(occurredAt.milliseconds)
        json["idempotentReplay"] = .bool(isReplay)
        return .object(json)
    }

    /// Reads a receipt; nil when it is none. `balance` and `occurredAtMs` may be absent.
    ///
    /// - Parameter mode: how the command was meant, which the wire does not repeat.
    package init?(wire json: JSONValue, mode: ConsumeCommand.Mode = .units) {
        guard let customer = json["customerId"]?.string.flatMap(CustomerKey.init(_:)),
            let feature = json["featureId"]?.string.flatMap(FeatureKey.init(_:)),
            let operation = json["operationId"]?.string.flatMap(OperationID.init(_:)),
            let quantity = json["quantity"]?.integer.flatMap(Quantity.init(_:)),
            let accepted = json["accepted"]?.bool,
            let code = json["code"]?.string.flatMap(Code.init(rawValue:)),
            let access = FeatureAccess(wire: json, allowed: json["active"])
        else { return nil }
        let entity = json["entityId"]?.string.flatMap(EntityKey.init(_:))
        self.init(
            command: ConsumeCommand(
                customer: customer, feature: feature, operation: operation, quantity: quantity,
                entity: entity, mode: mode), accepted: accepted, code: code, access: access,
            wallet: json["creditFeatureId"]?.string.flatMap(FeatureKey.init(_:)),
            occurredAt: Moment(milliseconds: json["occurredAtMs"]?.integer ?? 0))
    }
}

extension FeatureAccess {
    /// Reads `unlimited`, `balance` and `type`; nil when one is missing or of another kind.
    ///
    /// - Parameter allowed: the member that says whether access is given.
    package init?(wire json: JSONValue, allowed: JSONValue?) {
        guard let allowed = allowed?.bool, let unlimited = json["unlimited"]?.bool,
            let type = json["type"]?.string.flatMap(FeatureType.init(rawValue:))
        else { return nil }
        var balance: Int?
        if let value = json["balance"], !value.isNull {
            guard let number = value.integer else { return nil }
            balance = Int(number)
        }
        self.init(allowed: allowed, unlimited: unlimited, balance: balance, type: type)
    }

    /// Adds `allowed`, `unlimited`, `balance` and `type`.
    package func write(to json: inout JSONObject) {
        json["allowed"] = .bool(allowed)
        json["unlimited"] = .bool(unlimited)
        json["balance"] = balance.map { .integer($0) } ?? .null
        json["type"] = .string(type.rawValue)
    }
}

extension ConsumeCommand {
    /// What makes two commands the same: everything but the operation's id. Metadata and the purchase are
    /// no part of it, since a repeat may carry them anew.
    package var fingerprint: String {
        var json = JSONObject()
        json["feature"] = .string(feature.text)
        json["quantity"] = .integer(quantity.units)
        if let entity { json["entity"] = .string(entity.text) }
        if mode != .units { json["mode"] = .string(mode.rawValue) }
        return JSONValue.object(json).text
    }
}

extension AccessAnswer {
    /// The answer to `/entitled`.
    ///
    /// Where a wallet pays, or lacks, `featureId` is the wallet's key as in the public wire: balance and
    /// type are the wallet's then, and the answer holds for exactly the amount that was asked for.
    package func wire(
        customer: CustomerKey, feature: FeatureKey, required: Quantity, entity: EntityKey?
    ) -> JSONValue {
        var json = JSONObject()
        json["customerId"] = .string(customer.text)
        json["featureId"] = .string((wallet ?? feature).text)
        json["requiredBalance"] = .integer(required.units)
        if let entity { json["entityId"] = .string(entity.text) }
        json["code"] = .string(code == .featureNotFound ? "feature_not_found" : "feature_found")
        access.write(to: &json)
        if let wallet {
            json["requestedFeatureId"] = .string(feature.text)
            json["creditFeatureId"] = .string(wallet.text)
        }
        return .object(json)
    }
}
