import FeatureModel
import JSON
import Testing

/// A small catalogue and the shorthand that these tests speak.
enum World {
    static let catalogue: Catalogue = {
        let text = """
            {"dsl": 1,
             "features": {
               "premium": {"type": "boolean"},
               "generations": {"type": "metered"},
               "upscales": {"type": "metered"},
               "credits": {"type": "creditSystem", "costs": {"upscales": 3, "generations": 2}}},
             "products": {
               "pro": {"app_store": ["com.example.pro.monthly"], "entitlements": [
                 {"feature": "premium"},
                 {"feature": "generations", "allowance": 100, "interval": "month"},
                 {"feature": "generations", "allowance": 10, "interval": "day", "entities": 2}]},
               "pro-yearly": {"app_store": ["com.example.pro.yearly"], "entitlements": [
                 {"feature": "premium"},
                 {"feature": "generations", "allowance": 150, "interval": "month"}]},
               "coins": {"app_store": ["coins_100"], "family_sharing": false, "entitlements": [
                 {"feature": "credits", "allowance": 100}]},
               "studio": {"entitlements": [
                 {"feature": "generations", "allowance": "unlimited"}]}}}
            """
        let outcome = CatalogueReader.read([.init(name: "c.json", bytes: Array(text.utf8))])
        guard let catalogue = outcome.catalogue else { fatalError("\(outcome.diagnostics)") }
        return catalogue
    }()

    static func product(_ key: String) -> Product {
        guard let product = catalogue.products[feature(key)] else { fatalError(key) }
        return product
    }

    static func feature<Kind>(_ text: String) -> Key<Kind> { Key(checked: text) }

    /// 2026-01-31T00:00:00Z and so many milliseconds.
    static func at(_ milliseconds: Int64 = 0, days: Int64 = 0) -> Moment {
        Moment(milliseconds: 1_769_817_600_000 + days * 86_400_000 + milliseconds)
    }

    static func quantity(_ units: Int64) -> Quantity {
        guard let quantity = Quantity(units) else { fatalError("\(units)") }
        return quantity
    }

    static func command(
        _ feature: String, _ units: Int64, operation: String = "op-1", entity: String? = nil,
        mode: ConsumeCommand.Mode = .units
    ) -> ConsumeCommand {
        ConsumeCommand(
            customer: Key(checked: "customer"), feature: Key(checked: feature),
            operation: Key(checked: operation), quantity: quantity(units),
            entity: entity.map { Key(checked: $0) }, mode: mode)
    }

    static func transaction(
        _ id: String, original: String? = nil, product: String = "com.example.pro.monthly",
        bought: Moment = at(), expires: Moment? = nil, revoked: Moment? = nil,
        upgraded: Bool = false, family: Bool = false, signed: Moment? = nil, quantity: Int64 = 1
    ) throws -> AppStoreTransaction {
        var json = JSONObject([
            ("transactionId", .string(id)), ("originalTransactionId", .string(original ?? id)),
            ("bundleId", "com.example"), ("productId", .string(product)),
            ("environment", "Production"), ("quantity", .integer(quantity)),
            ("purchaseDate", .integer(bought.milliseconds)),
            ("signedDate", .integer((signed ?? bought).milliseconds)),
            ("inAppOwnershipType", .string(family ? "FAMILY_SHARED" : "PURCHASED")),
        ])
        if let expires { json["expiresDate"] = .integer(expires.milliseconds) }
        if let revoked { json["revocationDate"] = .integer(revoked.milliseconds) }
        if upgraded { json["isUpgraded"] = true }
        return try AppStoreTransaction(payload: .object(json))
    }
}

/// An account with its ledger: every change is replayed, and must give the same account.
struct Customer {
    var account = CustomerAccount.empty
    var entries: [AccountEntry] = []

    mutating func keep(_ change: AccountChange) throws {
        try keep(change.entries, change.account)
    }

    mutating func keep(_ more: [AccountEntry], _ next: CustomerAccount) throws {
        entries += more
        account = next
        let replayed = try CustomerAccount(replaying: entries)
        #expect(replayed == account)
        let reread = try CustomerAccount(document: account.document)
        #expect(reread == account)
        #expect(reread.document.canonicalBytes == account.document.canonicalBytes)
        for entry in entries {
            let event = try AccountEvent(
                kind: entry.event.kind, feature: entry.feature, entity: entry.entity,
                document: entry.event.document)
            #expect(event == entry.event)
        }
        for known in account.known {
            let sum = entries.filter { $0.feature == known.feature && $0.entity == known.entity }
                .reduce(Int64(0)) { $0 + $1.amount }
            #expect(sum == account.recordedBalance(of: known.feature, entity: known.entity))
        }
    }

    mutating func give(
        _ product: String, at now: Moment = World.at(), entity: String? = nil,
        until: Moment? = nil, id: String = "g1"
    ) throws {
        try keep(
            account.granting(
                OperatorGrant(
                    id: .byOperator(id), entitlements: World.product(product).entitlements,
                    entity: entity.map { Key(checked: $0) }, endsAt: until),
                in: World.catalogue, at: now))
    }

    mutating func show(
        _ transaction: AppStoreTransaction, seen: SeenPurchase? = nil, at now: Moment = World.at()
    ) throws {
        let product = try #require(World.catalogue.product(appStore: transaction.productID))
        try keep(
            account.receiving(
                transaction, as: product, seen: seen, in: World.catalogue, at: now))
    }

    @discardableResult
    mutating func use(
        _ feature: String, _ units: Int64, at now: Moment = World.at(), entity: String? = nil,
        mode: ConsumeCommand.Mode = .units
    ) throws -> Receipt {
        let decision = account.deciding(
            World.command(feature, units, entity: entity, mode: mode), in: World.catalogue, at: now)
        try keep(decision.entries, decision.account)
        return decision.receipt
    }

    func balance(_ feature: String, at now: Moment = World.at(), entity: String? = nil) -> Int? {
        account.access(
            to: Key(checked: feature), entity: entity.map { Key(checked: $0) },
            in: World.catalogue, at: now
        ).access.balance
    }

    func isAllowed(
        _ feature: String, _ units: Int64 = 1, at now: Moment = World.at(), entity: String? = nil
    ) -> Bool {
        account.access(
            to: Key(checked: feature), required: World.quantity(units),
            entity: entity.map { Key(checked: $0) }, in: World.catalogue, at: now
        ).access.allowed
    }
}
