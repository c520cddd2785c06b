import FeatureModel
import Testing

struct ConsumptionTests {
    @Test func `the last unit is accepted and leaves nothing`() throws {
        var customer = Customer()
        try customer.give("pro")
        let receipt = try customer.use("generations", 100)
        #expect(receipt.accepted)
        #expect(receipt.code == .consumed)
        #expect(receipt.access.balance == 0)
        #expect(!receipt.access.allowed)
        let denied = try customer.use("generations", 1)
        #expect(!denied.accepted)
        #expect(denied.code == .insufficient)
        #expect(denied.access.balance == 0)
    }

    @Test func `a denial takes nothing, also when part of it is there`() throws {
        var customer = Customer()
        try customer.give("pro")
        #expect(try !customer.use("generations", 101).accepted)
        #expect(customer.balance("generations") == 100)
        #expect(customer.account.revision == 3)
    }

    @Test func `a feature that the catalogue lacks is denied as boolean`() throws {
        var customer = Customer()
        let receipt = try customer.use("nothing", 1)
        #expect(receipt.code == .featureNotFound)
        #expect(!receipt.accepted)
        #expect(receipt.access == .denied)
    }

    @Test func `a boolean feature has nothing to consume`() throws {
        var customer = Customer()
        try customer.give("pro")
        let receipt = try customer.use("premium", 1)
        #expect(receipt.code == .notMetered)
        #expect(receipt.access.allowed)
    }

    @Test func `unlimited use is accepted, counted by nothing and written nowhere`() throws {
        var customer = Customer()
        try customer.give("studio")
        let receipt = try customer.use("generations", Quantity.largest)
        #expect(receipt.accepted)
        #expect(receipt.access.unlimited)
        #expect(receipt.access.balance == nil)
        #expect(receipt.access.allowed)
        #expect(customer.entries.count == 1)
    }

    @Test func `a feature's own allowance is charged first, then the wallet at its cost`() throws {
        var customer = Customer()
        try customer.give("pro")
        try customer.give("coins", id: "g2")
        #expect(try customer.use("generations", 99).access.type == .metered)
        let receipt = try customer.use("generations", 2)
        #expect(receipt.accepted)
        #expect(receipt.wallet == World.feature("credits"))
        #expect(receipt.access.type == .creditSystem)
        #expect(receipt.access.balance == 96)
        // One unit of its own is left: a consumption is charged to one account whole.
        #expect(customer.balance("generations") == 1)
    }

    @Test func `the last credits leave the feature inactive once they are fewer than its cost`()
        throws
    {
        var customer = Customer()
        try customer.give("coins")
        let receipt = try customer.use("upscales", 33)
        #expect(receipt.accepted)
        #expect(receipt.access.balance == 1)
        #expect(!receipt.access.allowed)
        #expect(try customer.use("upscales", 1).code == .insufficient)
        #expect(try customer.use("credits", 1).access.balance == 0)
    }

    @Test func `a price past what can be counted is denied`() throws {
        var customer = Customer()
        try customer.give("coins")
        #expect(try customer.use("upscales", Quantity.largest).code == .insufficient)
        #expect(!customer.isAllowed("upscales", Quantity.largest))
    }

    @Test func `an answer that names a wallet holds for the exact amount`() throws {
        var customer = Customer()
        try customer.give("coins")
        let answer = customer.account.access(
            to: World.feature("upscales"), required: World.quantity(33), in: World.catalogue,
            at: World.at())
        #expect(answer.access.allowed)
        #expect(answer.wallet == World.feature("credits"))
        #expect(answer.access.balance == 100)
        #expect(!customer.isAllowed("upscales", 34))
    }

    @Test func `what is lost soonest is used first`() throws {
        var customer = Customer()
        try customer.give("coins", id: "for-ever")
        try customer.give("coins", until: World.at(days: 9), id: "soon")
        try customer.give("coins", until: World.at(days: 5), id: "sooner")
        try customer.use("credits", 150)
        let left = customer.account.holdings.map { $0.remaining(at: World.at()) }
        #expect(left == [100, 50, 0])
        #expect(customer.balance("credits", at: World.at(days: 9)) == 100)
    }

    // MARK: Entities

    @Test func `an entity without an allowance is denied and never spends the customer's`() throws {
        var customer = Customer()
        try customer.give("coins")
        #expect(!customer.isAllowed("credits", entity: "project-a"))
        #expect(try customer.use("credits", 1, entity: "project-a").code == .insufficient)
        #expect(customer.balance("credits") == 100)
    }

    @Test func `an allowance granted to an entity is that entity's alone`() throws {
        var customer = Customer()
        try customer.give("coins", entity: "project-a")
        #expect(try customer.use("credits", 40, entity: "project-a").access.balance == 60)
        #expect(!customer.isAllowed("credits"))
        #expect(!customer.isAllowed("credits", entity: "project-b"))
    }

    @Test func `the first entities get an allowance each, and no more than the product says`()
        throws
    {
        var customer = Customer()
        try customer.give("pro")
        #expect(customer.balance("generations", entity: "a") == 10)
        #expect(try customer.use("generations", 10, entity: "a").access.balance == 0)
        #expect(try customer.use("generations", 1, entity: "b").access.balance == 9)
        #expect(try customer.use("generations", 1, entity: "c").code == .insufficient)
        #expect(!customer.isAllowed("generations", entity: "c"))
        #expect(customer.balance("generations") == 100)
        #expect(customer.balance("generations", at: World.at(days: 1), entity: "a") == 10)
    }

    // MARK: Cumulative totals

    @Test func `reporting 20 and then 25 charges 20 units and then five more`() throws {
        var customer = Customer()
        try customer.give("pro")
        #expect(try customer.use("generations", 20, mode: .setUsage).access.balance == 80)
        #expect(try customer.use("generations", 25, mode: .setUsage).access.balance == 75)
    }

    @Test func `a lower total refunds nothing, and is no new start`() throws {
        var customer = Customer()
        try customer.give("pro")
        try customer.use("generations", 25, mode: .setUsage)
        let receipt = try customer.use("generations", 10, mode: .setUsage)
        #expect(receipt.accepted)
        #expect(receipt.access.balance == 75)
        #expect(try customer.use("generations", 26, mode: .setUsage).access.balance == 74)
    }

    @Test func `a total that is not covered is denied and not remembered`() throws {
        var customer = Customer()
        try customer.give("pro")
        #expect(try !customer.use("generations", 101, mode: .setUsage).accepted)
        #expect(try customer.use("generations", 100, mode: .setUsage).access.balance == 0)
    }

    @Test func `totals are counted anew once the allowance is whole again`() throws {
        var customer = Customer()
        try customer.give("pro")
        try customer.use("generations", 90, mode: .setUsage)
        let later = World.at(days: 28)
        #expect(
            try customer.use("generations", 30, at: later, mode: .setUsage).access.balance == 70)
    }

    @Test func `nobody who holds nothing may report a total of any size`() throws {
        var customer = Customer()
        #expect(try !customer.use("generations", 1, mode: .setUsage).accepted)
    }

    // MARK: Commands

    @Test func `commands are the same by feature, quantity, entity and mode alone`() {
        let command = World.command("generations", 5, entity: "a")
        #expect(
            command.fingerprint
                == World.command("generations", 5, operation: "op-2", entity: "a").fingerprint)
        let others = [
            World.command("upscales", 5, entity: "a"), World.command("generations", 6, entity: "a"),
            World.command("generations", 5), World.command("generations", 5, entity: "b"),
            World.command("generations", 5, entity: "a", mode: .setUsage),
        ]
        #expect(Set(others.map(\.fingerprint) + [command.fingerprint]).count == 6)
    }

    @Test(arguments: [
        ("", false), (" a", false), ("a ", false), ("\ta", false), ("a\u{0}b", false),
        ("a b", true), (String(repeating: "x", count: 256), true),
        (String(repeating: "x", count: 257), false), (String(repeating: "é", count: 256), true),
    ])
    func `an operation id has 1 to 256 characters and no blanks around it`(
        text: String, isValid: Bool
    ) {
        #expect((OperationID(text) != nil) == isValid)
    }

    @Test func `a quantity is 1 to 9007199254740991`() {
        #expect(Quantity(0) == nil)
        #expect(Quantity(-1) == nil)
        #expect(Quantity(1) != nil)
        #expect(Quantity(9_007_199_254_740_991) != nil)
        #expect(Quantity(9_007_199_254_740_992) == nil)
    }
}
