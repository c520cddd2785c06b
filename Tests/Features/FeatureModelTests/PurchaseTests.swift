import FeatureModel
import JSON
import Testing

struct PurchaseTests {
    private let seenNow = SeenPurchase(customer: Key(checked: "customer"), signedAt: World.at())
    private let month = World.at(days: 28)

    @Test func `a purchase grants until it expires`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month))
        #expect(customer.isAllowed("premium"))
        #expect(customer.balance("generations") == 100)
        #expect(!customer.isAllowed("premium", at: month))
    }

    @Test func `the same transaction grants once`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month))
        try customer.show(World.transaction("t1", expires: month), seen: seenNow)
        try customer.show(
            World.transaction("t1", expires: month, signed: World.at(5)), seen: seenNow)
        #expect(customer.balance("generations") == 100)
    }

    @Test func `a renewal goes on where the last period ends`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month))
        try customer.use("generations", 80)
        try customer.show(
            World.transaction("t2", original: "t1", bought: month, expires: World.at(days: 59)),
            at: World.at(days: 27))
        #expect(customer.balance("generations", at: World.at(days: 27)) == 20)
        #expect(customer.balance("generations", at: month) == 100)
        #expect(customer.isAllowed("premium", at: World.at(days: 58)))
    }

    @Test func `an upgrade takes the place of what was there`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month))
        try customer.use("generations", 80)
        let now = World.at(days: 3)
        try customer.show(
            World.transaction(
                "t2", original: "t1", product: "com.example.pro.yearly", bought: now,
                expires: World.at(days: 368)), at: now)
        #expect(customer.balance("generations", at: now) == 150)
        // The old one says so itself, too, and changes nothing more.
        try customer.show(
            World.transaction("t1", expires: month, upgraded: true, signed: now), seen: seenNow,
            at: now)
        #expect(customer.balance("generations", at: now) == 150)
    }

    @Test func `an upgrade that is shown before what it replaced gives the same`() throws {
        var customer = Customer()
        let now = World.at(days: 3)
        try customer.show(
            World.transaction(
                "t2", original: "t1", product: "com.example.pro.yearly", bought: now,
                expires: World.at(days: 368)), at: now)
        try customer.show(World.transaction("t1", expires: month), at: now)
        #expect(customer.balance("generations", at: now) == 150)
    }

    @Test func `a refund takes back what is left, and its reversal gives it back`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", product: "coins_100"))
        try customer.use("credits", 30)
        let refunded = try World.transaction(
            "t1", product: "coins_100", revoked: World.at(10), signed: World.at(10))
        try customer.show(refunded, seen: seenNow, at: World.at(10))
        #expect(
            customer.balance("credits", at: World.at(10)) == nil || !customer.isAllowed("credits"))
        #expect(!customer.isAllowed("credits", at: World.at(10)))
        let reversed = try World.transaction("t1", product: "coins_100", signed: World.at(20))
        try customer.show(
            reversed,
            seen: SeenPurchase(customer: Key(checked: "customer"), signedAt: World.at(10)),
            at: World.at(20))
        #expect(customer.balance("credits", at: World.at(20)) == 70)
    }

    @Test func `what arrives late and was signed earlier changes nothing`() throws {
        var customer = Customer()
        let refunded = try World.transaction(
            "t1", product: "coins_100", revoked: World.at(10), signed: World.at(10))
        try customer.show(refunded, at: World.at(10))
        #expect(!customer.isAllowed("credits", at: World.at(10)))
        try customer.show(
            World.transaction("t1", product: "coins_100"),
            seen: SeenPurchase(
                customer: Key(checked: "customer"), signedAt: World.at(10), wasGranted: false),
            at: World.at(20))
        #expect(!customer.isAllowed("credits", at: World.at(20)))
    }

    @Test func `a refund that comes first and is reversed grants after all`() throws {
        var customer = Customer()
        let seen = SeenPurchase(
            customer: Key(checked: "customer"), signedAt: World.at(10), wasGranted: false)
        try customer.show(
            World.transaction("t1", product: "coins_100", signed: World.at(20)), seen: seen,
            at: World.at(20))
        #expect(customer.balance("credits", at: World.at(20)) == 100)
    }

    @Test func `an extension moves the end`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month))
        try customer.show(
            World.transaction("t1", expires: World.at(days: 35), signed: World.at(9)),
            seen: seenNow, at: World.at(9))
        #expect(customer.isAllowed("premium", at: World.at(days: 34)))
        #expect(!customer.isAllowed("premium", at: World.at(days: 35)))
    }

    @Test func `several bought at once grant so many times as much`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", product: "coins_100", quantity: 3))
        #expect(customer.balance("credits") == 300)
    }

    @Test func `what was used up is not granted again by a later signature`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", product: "coins_100"))
        try customer.use("credits", 100)
        try customer.give("coins", at: World.at(1), id: "g2")
        #expect(customer.balance("credits", at: World.at(2)) == 100)
        try customer.show(
            World.transaction("t1", product: "coins_100", signed: World.at(9)), seen: seenNow,
            at: World.at(9))
        #expect(customer.balance("credits", at: World.at(9)) == 100)
    }

    @Test func `a family's purchase grants only what the product shares`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month, family: true))
        #expect(customer.isAllowed("premium"))
        #expect(throws: PurchaseRefusal.familySharing) {
            try customer.show(World.transaction("t2", product: "coins_100", family: true))
        }
    }

    @Test func `a purchase that is over grants nothing and is known all the same`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month), at: World.at(days: 99))
        #expect(customer.account.holdings.isEmpty)
    }

    @Test func `an operator's revocation is for good`() throws {
        var customer = Customer()
        try customer.show(World.transaction("t1", expires: month))
        let change = try #require(customer.account.revoking(.appStore("t1"), at: World.at(1)))
        try customer.keep(change)
        #expect(!customer.isAllowed("premium", at: World.at(1)))
        #expect(customer.account.revoking(.appStore("t1"), at: World.at(1)) == nil)
        try customer.show(
            World.transaction("t1", expires: month, signed: World.at(9)),
            seen: SeenPurchase(
                customer: Key(checked: "customer"), signedAt: World.at(), isRevoked: true),
            at: World.at(9))
        #expect(!customer.isAllowed("premium", at: World.at(9)))
    }

    @Test func `more holdings than one customer can have are refused`() throws {
        var customer = Customer()
        let many = OperatorGrant(
            id: .byOperator("many"),
            entitlements: Array(
                repeating: World.product("coins").entitlements[0],
                count: CustomerAccount.mostHoldings))
        customer.account = try customer.account.granting(
            many, in: World.catalogue, at: World.at()
        ).account
        #expect(throws: PurchaseRefusal.tooManyHoldings) {
            try customer.account.granting(
                OperatorGrant(
                    id: .byOperator("more"), entitlements: World.product("coins").entitlements),
                in: World.catalogue, at: World.at())
        }
    }

    @Test(arguments: [
        "transactionId", "originalTransactionId", "bundleId", "productId", "environment",
        "purchaseDate", "signedDate",
    ])
    func `a transaction without one of its members is refused by its name`(member: String) {
        var json = JSONObject([
            ("transactionId", "t1"), ("originalTransactionId", "t1"), ("bundleId", "com.example"),
            ("productId", "p"), ("environment", "Production"), ("purchaseDate", 1),
            ("signedDate", 1),
        ])
        json[member] = nil
        #expect(throws: PurchaseRefusal.incomplete(member: member)) {
            try AppStoreTransaction(payload: .object(json))
        }
    }

    @Test func `a transaction made in Xcode is of no environment here`() {
        let json: JSONValue = [
            "transactionId": "t1", "originalTransactionId": "t1", "bundleId": "com.example",
            "productId": "p", "environment": "Xcode", "purchaseDate": 1, "signedDate": 1,
        ]
        #expect(throws: PurchaseRefusal.otherEnvironment("Xcode")) {
            try AppStoreTransaction(payload: json)
        }
    }
}
