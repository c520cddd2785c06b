import Crypto
import FeatureLedger
import FeatureModel
import HTTPServer
import JSON
import Postgres
import TestSupport
import Testing

@testable import FeatureService

struct PurchaseEndpointTests {
    private let signer = AppStoreSigner.shared

    private func show(
        _ world: World, _ signed: String, customer: String = "customer", key: String = World.key
    ) async -> (status: Int, json: JSONValue) {
        let answer = await world.post(
            "/purchase",
            [
                "apiKey": .string(key), "type": "appstore", "distinct_id": .string(customer),
                "transaction_jwt": .string(signed),
            ])
        return (answer.status, answer.json)
    }

    @Test func `a verified purchase grants, once`() async throws {
        try await World.with { world in
            let signed = signer.transaction(
                "t1", product: "com.example.pro", at: World.now, expires: World.now + 1_000_000)
            for _ in 0..<2 {
                let answer = await show(world, signed)
                #expect(answer.status == 200)
                #expect(answer.json["success"] == true)
                #expect(answer.json["customer_id"] == "customer")
                #expect(answer.json["transaction_id"] == "t1")
                #expect(answer.json["product_id"] == "pro")
                let features = answer.json["features"]?.array ?? []
                #expect(features.map { $0["id"]?.string } == ["credits", "premium"])
                #expect(features[0]["balance"] == 100)
                #expect(features[1]["ext_id"] == "premium")
                #expect(features[1]["allowed"] == true)
            }
            let count = try await world.number("select count(*) from features.purchases")
            #expect(count == 1)
        }
    }

    @Test func `a purchase-backed first use grants and deducts together`() async throws {
        try await World.with { world in
            let signed = signer.transaction("t1", product: "com.example.coins", at: World.now)
            let purchase = JSONObject([
                (
                    "purchase",
                    [
                        "type": "appstore", "transaction_jwt": .string(signed),
                        "event_id": "purchase-use:1",
                    ]
                )
            ])
            let first = await world.consume("wallet", 100, operation: "o1", changes: purchase)
            #expect(first.json["accepted"] == true)
            #expect(first.json["balance"] == 0)
            #expect(first.json["active"] == false)
            // The same operation with the transaction signed anew is the same command.
            let anew = signer.transaction(
                "t1", product: "com.example.coins", at: World.now,
                changes: JSONObject([("signedDate", .integer(World.now + 5))]))
            let again = await world.consume(
                "wallet", 100, operation: "o1",
                changes: JSONObject([("purchase", .string(anew))]))
            #expect(again.json["idempotentReplay"] == true)
            #expect(again.json["balance"] == 0)
        }
    }

    @Test
    func `a purchase that does not verify is an error and no receipt, and nothing is written`()
        async throws
    {
        try await World.with { world in
            let good = signer.transaction("t1", product: "com.example.coins", at: World.now)
            let stranger = AppStoreSigner().transaction(
                "t1", product: "com.example.coins", at: World.now)
            let cases: [(String, String)] = [
                (stranger, "purchase_unverified"), ("nonsense", "purchase_unverified"),
                (String(good.dropLast(4)), "purchase_unverified"),
                (
                    signer.transaction("t1", product: "com.example.gems", at: World.now),
                    "product_not_found"
                ),
                (
                    signer.transaction(
                        "t1", product: "com.example.coins", environment: "Sandbox", at: World.now),
                    "purchase_of_other_environment"
                ),
                (
                    signer.transaction(
                        "t1", product: "com.example.coins", environment: "Xcode", at: World.now),
                    "purchase_of_other_environment"
                ),
                (
                    signer.transaction(
                        "t1", product: "com.example.coins", at: World.now,
                        changes: JSONObject([("bundleId", "com.other")])), "purchase_of_other_app"
                ),
                (
                    signer.transaction(
                        "t1", product: "com.example.coins", at: World.now,
                        changes: JSONObject([("transactionId", .null)])), "purchase_unverified"
                ),
            ]
            for (signed, code) in cases {
                let answer = await world.consume(
                    "wallet", 1, operation: "o1",
                    changes: JSONObject([("purchase", .string(signed))]))
                #expect(answer.status == 422)
                #expect(answer.json["code"] == .string(code))
                #expect(answer.json["accepted"] == nil)
            }
            for table in ["accounts", "entries", "operations", "purchases"] {
                let count = try await world.number("select count(*) from features.\(table)")
                #expect(count == 0)
            }
        }
    }

    @Test func `the sandbox is apart`() async throws {
        try await World.with { world in
            let signed = signer.transaction(
                "t1", product: "com.example.coins", environment: "Sandbox", at: World.now)
            #expect(await show(world, signed, key: World.sandboxKey).status == 200)
            let production = await world.post(
                "/entitled", ["customerId": "customer", "featureId": "wallet"])
            #expect(production.json["allowed"] == false)
            let sandbox = await world.post(
                "/entitled",
                [
                    "apiKey": .string(World.sandboxKey), "customerId": "customer",
                    "featureId": "wallet",
                ])
            #expect(sandbox.json["allowed"] == true)
        }
    }

    @Test func `another customer cannot show the same transaction`() async throws {
        try await World.with { world in
            let signed = signer.transaction("t1", product: "com.example.coins", at: World.now)
            #expect(await show(world, signed).status == 200)
            let other = await show(world, signed, customer: "other")
            #expect(other.status == 422)
            #expect(other.json["code"] == "purchase_of_other_customer")
            #expect(other.json["success"] == false)
            #expect(other.json["error"] == other.json["message"])
        }
    }

    @Test func `a transaction is taken by its older name, too`() async throws {
        try await World.with { world in
            let signed = signer.transaction("t1", product: "com.example.coins", at: World.now)
            let answer = await world.post(
                "/purchase",
                ["customerId": "customer", "signedTransaction": .string(signed)])
            #expect(answer.status == 200)
        }
    }

    @Test func `without configured apps no purchase is taken`() {
        let judge = PurchaseJudge(bundleIDs: [], roots: [signer.root])
        let signed = signer.transaction("t1", product: "p", at: World.now)
        #expect(throws: PurchaseRefusal.otherBundle) {
            try judge.judge(signed, for: .production, nowMilliseconds: World.now)
        }
    }

    @Test func `Apple's real root is trusted when no other is named`() {
        let judge = PurchaseJudge(bundleIDs: ["com.example"])
        let signed = signer.transaction("t1", product: "p", at: World.now)
        #expect(throws: PurchaseRefusal.self) {
            try judge.judge(signed, for: .production, nowMilliseconds: World.now)
        }
    }
}
