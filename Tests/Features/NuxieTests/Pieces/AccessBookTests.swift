import FeatureModel
import Testing

@testable import Nuxie

/// Which answers count, decided without a network.
struct AccessBookTests {
    private static let lifetime: Int64 = 300_000

    private func profile(
        _ features: [String: FeatureAccess], until: Int64? = nil,
        entities: [String: FeatureAccess] = [:]
    ) -> Wire.ProfileAnswer {
        Wire.ProfileAnswer(
            features: features.mapValues {
                Wire.ProfileAnswer.Item(access: $0, nextResetAt: until, entities: entities)
            })
    }

    private func metered(_ balance: Int) -> FeatureAccess {
        FeatureAccess(allowed: balance > 0, unlimited: false, balance: balance, type: .metered)
    }

    private let held = FeatureAccess(
        allowed: true, unlimited: false, balance: nil, type: .boolean)

    private func question(
        _ feature: String, _ required: Int = 1, entity: String? = nil
    ) -> AccessBook.Question {
        AccessBook.Question(place: .init(feature: feature, entity: entity), required: required)
    }

    private func receipt(
        _ balance: Int, feature: String = "credits", at moment: Int64 = 1, isReplay: Bool = false,
        accepted: Bool = true, wallet: String? = nil, customer: String = "c"
    ) -> FeatureConsumptionResult {
        FeatureConsumptionResult(
            customerId: customer, featureId: feature, operationId: "o", quantity: 1,
            accepted: accepted, code: "consumed", balance: balance, unlimited: false,
            active: balance > 0, occurredAtMs: moment, idempotentReplay: isReplay, entityId: nil,
            type: .metered, creditFeatureId: wallet)
    }

    private func evidence(_ grants: [Evidence.Grant], id: String = "t", of customer: String = "c")
        -> Evidence
    {
        Evidence(
            transaction: id, original: id, storeProduct: "p", signed: "s", customer: customer,
            grants: grants, isRevoked: false, isFinishedHere: true)
    }

    private func answer(
        _ book: AccessBook, _ question: AccessBook.Question, uptime: Int64 = 0, wall: Int64 = 0
    ) -> FeatureAccess? {
        book.answer(
            to: question, uptime: uptime, lifetime: Self.lifetime, wallClock: wall)
    }

    /// As `#expect`, whose argument may not change the book.
    private func expect(
        _ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    // MARK: Order

    @Test func `an older answer never overwrites a newer one`() {
        var book = AccessBook(customer: "c")
        let first = book.ticket()
        let second = book.ticket()
        expect(book.admit(profile(["credits": metered(3)]), second, uptime: 0))
        expect(!book.admit(profile(["credits": metered(9)]), first, uptime: 0))
        book.admit(
            Wire.Check(access: metered(8), wallet: nil), to: question("credits"), first, uptime: 0)
        #expect(book.snapshot.balance("credits") == 3)
    }

    @Test func `a read that was asked for before a use is answered does not undo it`() {
        var book = AccessBook(customer: "c")
        let use = book.ticket()
        let read = book.ticket()
        book.admit(receipt(4), use, uptime: 0)
        expect(book.admit(profile(["credits": metered(5), "x": held]), read, uptime: 0))
        #expect(book.snapshot.balance("credits") == 4)
        #expect(book.snapshot.isAllowed("x"))
        expect(book.admit(profile(["credits": metered(5)]), book.ticket(), uptime: 0))
        #expect(book.snapshot.balance("credits") == 5)
    }

    @Test func `a repeated receipt never overwrites the cached balance`() {
        var book = AccessBook(customer: "c")
        expect(book.admit(profile(["credits": metered(2)]), book.ticket(), uptime: 0))
        book.admit(receipt(7, at: 9, isReplay: true), book.ticket(), uptime: 0)
        #expect(book.snapshot.balance("credits") == 2)
        book.admit(receipt(1, at: 9), book.ticket(), uptime: 0)
        #expect(book.snapshot.balance("credits") == 1)
        // Decided earlier, answered later.
        book.admit(receipt(5, at: 8), book.ticket(), uptime: 0)
        #expect(book.snapshot.balance("credits") == 1)
    }

    @Test func `an answer of a former customer is never shown under the new one`() {
        var book = AccessBook(customer: "a")
        let old = book.ticket()
        expect(book.admit(profile(["x": held]), book.ticket(), uptime: 0))
        book.change(to: "b")
        #expect(book.snapshot.state == .unknown)
        #expect(book.snapshot.all.isEmpty)
        #expect(book.snapshot.identityGeneration == 1)
        expect(!book.admit(profile(["y": held]), old, uptime: 0))
        book.admit(Wire.Check(access: held, wallet: nil), to: question("x"), old, uptime: 0)
        book.admit(receipt(4, customer: "a"), old, uptime: 0)
        book.admit(receipt(4, customer: "a"), book.ticket(), uptime: 0)
        #expect(book.snapshot.all.isEmpty)
        // The same customer again is another generation, too.
        book.change(to: "a")
        expect(!book.admit(profile(["x": held]), old, uptime: 0))
        #expect(book.snapshot.identityGeneration == 2)
    }

    // P18
    @Test func `each update has a revision of its own, and no update has none`() {
        var book = AccessBook(customer: "c")
        let before = book.snapshot
        expect(book.admit(profile(["x": held]), book.ticket(), uptime: 0))
        let after = book.snapshot
        #expect(after.revision == before.revision + 1)
        #expect(after.state == .ready)
        expect(book.admit(profile(["x": held]), book.ticket(), uptime: 9))
        expect(book.admit(nil, book.ticket(), uptime: 9))
        #expect(book.snapshot == after)
    }

    // P23
    @Test func `an empty profile is ready`() {
        var book = AccessBook(customer: "c")
        expect(book.admit(profile([:]), book.ticket(), uptime: 0))
        #expect(book.snapshot.state == .ready)
        #expect(book.snapshot.all.isEmpty)
    }

    // MARK: Cache

    @Test func `fresh access answers what it decides, and nothing else`() {
        var book = AccessBook(customer: "c")
        #expect(answer(book, question("x")) == nil)
        let all = profile(
            ["x": held, "credits": metered(5)], until: 1_000, entities: ["p": metered(2)])
        expect(book.admit(all, book.ticket(), uptime: 0))
        #expect(answer(book, question("x"))?.allowed == true)
        #expect(answer(book, question("credits", 5))?.allowed == true)
        #expect(answer(book, question("credits", 2, entity: "p"))?.allowed == true)
        // A wallet may cover more, another entity may have an allowance yet, another feature a wallet.
        #expect(answer(book, question("credits", 6)) == nil)
        #expect(answer(book, question("credits", 1, entity: "q")) == nil)
        #expect(answer(book, question("y")) == nil)
        // Five minutes later, or once an allowance is whole again, only the server knows.
        #expect(answer(book, question("x"), uptime: Self.lifetime) == nil)
        #expect(answer(book, question("x"), uptime: Self.lifetime - 1)?.allowed == true)
        #expect(answer(book, question("x"), wall: 1_000) == nil)
        expect(book.admit(nil, book.ticket(), uptime: Self.lifetime))
        #expect(answer(book, question("x"), uptime: Self.lifetime)?.allowed == true)
    }

    @Test
    func `a server's denial holds for as much and more, an answer of a wallet for its amount`() {
        var book = AccessBook(customer: "c")
        let denied = FeatureAccess(allowed: false, unlimited: false, balance: 4, type: .metered)
        book.admit(
            Wire.Check(access: denied, wallet: nil), to: question("credits", 7), book.ticket(),
            uptime: 0)
        #expect(answer(book, question("credits", 7))?.allowed == false)
        #expect(answer(book, question("credits", 9))?.allowed == false)
        #expect(answer(book, question("credits", 6)) == nil)
        #expect(answer(book, question("credits", 4))?.allowed == true)
        #expect(book.snapshot.isAllowed("credits"))

        let covered = FeatureAccess(
            allowed: true, unlimited: false, balance: nil, type: .creditSystem)
        book.admit(
            Wire.Check(access: covered, wallet: "wallet"), to: question("upscales", 3),
            book.ticket(), uptime: 0)
        #expect(answer(book, question("upscales", 3))?.allowed == true)
        #expect(answer(book, question("upscales", 2)) == nil)
        #expect(book.snapshot.feature("upscales") == nil)
        // Whatever is charged, the wallet may cover less.
        book.admit(receipt(1), book.ticket(), uptime: 0)
        #expect(answer(book, question("upscales", 3)) == nil)
        // What a wallet paid for is its balance.
        book.admit(
            receipt(6, feature: "upscales", at: 2, wallet: "wallet"), book.ticket(), uptime: 0)
        #expect(book.snapshot.balance("wallet") == 6)
        #expect(book.snapshot.feature("upscales") == nil)
    }

    // MARK: Purchases

    // P36 P37
    @Test func `a local purchase shows held and unlimited access; quotas wait for the server`() {
        var book = AccessBook(customer: "c")
        book.hold(
            evidence([
                .init(feature: "x", type: "boolean", isUnlimited: false, allowance: 0),
                .init(feature: "u", type: "metered", isUnlimited: true, allowance: 0),
                .init(feature: "credits", type: "metered", isUnlimited: false, allowance: 10),
            ]))
        #expect(book.snapshot.state == .unknown)
        #expect(book.snapshot.isAllowed("x"))
        #expect(book.snapshot.feature("u")?.unlimited == true)
        #expect(book.snapshot.feature("credits") == nil)
        #expect(answer(book, question("x"))?.allowed == true)
        #expect(answer(book, question("u", 1_000))?.unlimited == true)
        #expect(answer(book, question("credits")) == nil)
        #expect(book.unconfirmed(granting: "credits")?.transaction == "t")
        expect(book.admit(profile(["credits": metered(0)]), book.ticket(), uptime: 0))
        #expect(book.snapshot.state == .reconciling)
        #expect(book.snapshot.balance("credits") == 0)
    }

    // P16
    @Test func `what was confirmed is shown until a profile that was asked for since`() {
        var book = AccessBook(customer: "c")
        book.hold(
            evidence([.init(feature: "x", type: "boolean", isUnlimited: false, allowance: 0)]))
        expect(book.admit(profile([:]), book.ticket(), uptime: 0))
        let earlier = book.ticket()
        book.confirm("t")
        #expect(book.unconfirmed(granting: "x") == nil)
        expect(book.admit(profile([:]), earlier, uptime: 0))
        #expect(book.snapshot.state == .reconciling)
        #expect(book.snapshot.isAllowed("x"))
        expect(book.admit(profile(["x": held]), book.ticket(), uptime: 0))
        #expect(book.snapshot.state == .ready)
        #expect(book.snapshot.isAllowed("x"))
    }

    @Test func `a purchase is shown to its customer alone`() {
        var book = AccessBook(customer: "a")
        book.hold(
            evidence(
                [.init(feature: "x", type: "boolean", isUnlimited: false, allowance: 0)], of: "a"))
        book.change(to: "b")
        #expect(!book.snapshot.isAllowed("x"))
        #expect(book.unconfirmed(granting: "x") == nil)
        book.change(to: "a")
        #expect(book.snapshot.isAllowed("x"))
    }
}
