internal import FeatureModel
internal import JSON

/// A request's body, read member by member. Members that nobody reads are left alone: an SDK may be newer.
struct WireRequest {
    let body: JSONValue

    init(_ bytes: [UInt8]) throws(WireFailure) {
        guard let body = try? JSONParser.parse(bytes), body.object != nil else {
            throw .notJSON
        }
        self.body = body
    }

    var apiKey: String { body["apiKey"]?.string ?? "" }

    /// Whose: the public SDK says `customerId` in some calls and `distinct_id` in others.
    func customer() throws(WireFailure) -> CustomerKey {
        let name =
            body["customerId"] == nil && body["distinct_id"] != nil
            ? "distinct_id" : "customerId"
        return try key(name, CustomerKey.init(_:))
    }

    func feature() throws(WireFailure) -> FeatureKey { try key("featureId", FeatureKey.init(_:)) }

    func entity() throws(WireFailure) -> EntityKey? {
        guard let value = body["entityId"], !value.isNull else { return nil }
        return try key("entityId", EntityKey.init(_:))
    }

    func quantity(_ name: String) throws(WireFailure) -> Quantity? {
        guard let value = body[name], !value.isNull else { return nil }
        guard let quantity = value.integer.flatMap(Quantity.init(_:)) else {
            throw .invalid(
                name, "The member \(name) is a whole number from 1 to \(Quantity.largest).")
        }
        return quantity
    }

    /// The purchase that backs a use: an object as the public SDK writes it, or the bare text of the signed
    /// transaction.
    func backingPurchase() throws(WireFailure) -> String? {
        guard let value = body["purchase"], !value.isNull else { return nil }
        if let text = value.string, !text.isEmpty { return text }
        guard value.object != nil else {
            throw .invalid(
                "purchase",
                "The member purchase is an object with transaction_jwt: what StoreKit signed.")
        }
        return try Self.signedTransaction(in: value, named: "purchase")
    }

    /// The signed transaction of `/purchase`.
    func purchase() throws(WireFailure) -> String {
        try Self.signedTransaction(in: body, named: "transaction_jwt")
    }

    /// `transaction_jwt`, as the public SDK names it, or `signedTransaction`.
    private static func signedTransaction(
        in value: JSONValue, named member: String
    ) throws(WireFailure) -> String {
        if let store = value["type"], !store.isNull, store.string != "appstore" {
            throw .invalid(
                "type", "Purchases of the App Store are taken in here: type is \"appstore\".")
        }
        let text = value["transaction_jwt"]?.string ?? value["signedTransaction"]?.string
        guard let text, !text.isEmpty else {
            throw .invalid(
                member,
                "The member transaction_jwt is missing; send the signed transaction as StoreKit "
                    + "gives it (jwsRepresentation).")
        }
        return text
    }

    func command() throws(WireFailure) -> ConsumeCommand {
        var mode = ConsumeCommand.Mode.units
        if let value = body["mode"], !value.isNull {
            guard value.string == ConsumeCommand.Mode.setUsage.rawValue else {
                throw .invalid("mode", "The member mode is \"set_usage\" or absent.")
            }
            mode = .setUsage
        }
        guard let quantity = try quantity("quantity") else {
            throw .invalid("quantity", "The member quantity is missing; say how many units.")
        }
        return ConsumeCommand(
            customer: try customer(), feature: try feature(),
            operation: try key("operationId", OperationID.init(_:)), quantity: quantity,
            entity: try entity(), mode: mode)
    }

    /// Kept with the decision; at most 16 KiB.
    func metadata() throws(WireFailure) -> JSONValue? {
        guard let value = body["metadata"], !value.isNull else { return nil }
        guard value.object != nil, value.bytes.count <= 16_384 else {
            throw .invalid("metadata", "The member metadata is an object of at most 16384 bytes.")
        }
        return value
    }

    private func key<Found>(
        _ name: String, _ make: (String) -> Found?
    ) throws(WireFailure) -> Found {
        guard let text = body[name]?.string, let key = make(text) else {
            throw .invalid(
                name,
                "The member \(name) is a text of 1 to 256 characters without blanks around "
                    + "it.")
        }
        return key
    }
}
