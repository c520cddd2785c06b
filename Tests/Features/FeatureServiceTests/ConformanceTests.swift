import Crypto
import FeatureLedger
import FeatureModel
import HTTPServer
import JSON
import Postgres
import TestMaterial
import TestSupport
import Testing

@testable import FeatureService

/// The public cases, as far as a server has part in them. `encodings/trigger-result` and the batch items are
/// the SDK's and the worker's alone.
struct ConformanceTests {
    private func file(_ path: String) throws -> JSONValue? {
        let parts = path.split(separator: "/")
        let folder = parts.dropLast().joined(separator: "/")
        guard let found = Conformance.folder(folder) else { return nil }
        let bytes = try #require(Conformance.bytes(of: "\(found)/\(parts[parts.count - 1])"))
        return try JSONParser.parse(bytes)
    }

    @Test func `consumption answers exactly as the public receipts`() async throws {
        guard let file = try file("nuxie/newer/feature-consumption.json") else { return }
        let cases = try #require(file["vectors"]?.array)
        try await World.with { world in
            try await world.give(
                "credits", .units(try #require(Quantity(2))), entity: "project-a")
            for item in cases {
                if item["name"] == "unlimited" {
                    try await world.give("credits", .unlimited, entity: "project-a", id: "g2")
                }
                let answer = await world.post(
                    "/feature/consume", try #require(item["request"]))
                #expect(answer.status == 200)
                #expect(answer.json == item["response"], "\(item["name"]?.text ?? "")")
            }
        }
        #expect(Conformance.require(count: cases.count, expected: 4, of: "consumption") == nil)
    }

    @Test func `a refusal for now says when, in a form that the public cases read`() throws {
        guard let file = try file("nuxie/newer/command-recovery.json") else { return }
        let cases = try #require(file["vectors"]?.array)
        for item in cases {
            let wish = try #require(item["retryAfterMillis"]?.integer)
            let failure =
                item["statusCode"] == 429
                ? WireFailure.limited(RetryAfter(milliseconds: wish))
                : WireFailure(
                    status: 503, code: "unavailable", message: "later",
                    retryAfter: RetryAfter(milliseconds: wish))
            let response = failure.response
            #expect(Int64(response.status) == item["statusCode"]?.integer)
            let header = try #require(response.headers.first { $0.isNamed("retry-after") })
            // Never sooner than meant, and in whole seconds, which every client reads.
            let read = try #require(RetryAfter(header: header.value))
            #expect(read.milliseconds >= max(1_000, wish))
            #expect(
                read.firstDelayMilliseconds == item["firstRetryDelayMillis"]?.integer)
        }
        #expect(Conformance.require(count: cases.count, expected: 3, of: "recovery") == nil)
    }

    @Test func `evidence is one row and one grant, from however many sources it comes`()
        async throws
    {
        guard let file = try file("nuxie/newer/outcome-commit.json") else { return }
        let cases = try #require(file["cases"]?.array)
        for item in cases {
            try await World.with { world in
                for action in item["actions"]?.array ?? [] {
                    // Declarations of a delegate, cancellations and retries carry no evidence: nothing of
                    // them comes here.
                    guard action["outcome"] == "verified",
                        let name = action["evidence"]?.string,
                        let evidence = file["evidence"]?[name],
                        let product = file["products"]?[evidence["product"]?.string ?? ""]
                    else { continue }
                    let signed = AppStoreSigner.shared.transaction(
                        try #require(evidence["identity"]?.string),
                        product: try #require(product["storeProductId"]?.string), at: World.now,
                        expires: World.now + 1_000_000,
                        changes: JSONObject([
                            (
                                "originalTransactionId",
                                try #require(evidence["originalIdentity"])
                            )
                        ]))
                    let answer = await world.post(
                        "/purchase",
                        ["customerId": "customer", "signedTransaction": .string(signed)])
                    #expect(answer.status == 200)
                }
                let rows = try await world.number("select count(*) from features.purchases")
                #expect(rows == item["expect"]?["uniqueEvidenceRows"]?.integer)
                let access = await world.post(
                    "/entitled", ["customerId": "customer", "featureId": "premium"])
                #expect(access.json["allowed"] == item["expect"]?["overlayEverPresent"])
            }
        }
        #expect(Conformance.require(count: cases.count, expected: 10, of: "outcomes") == nil)
    }

    @Test func `a use that brings its purchase leaves access as the public case says`()
        async throws
    {
        guard let file = try file("nuxie/ios/events/atomic-purchase-sync.json") else { return }
        let expected = try #require(file["acceptance"]?["post_use_access"])
        try await World.with { world in
            let signed = AppStoreSigner.shared.transaction(
                "t1", product: "com.example.coins", at: World.now)
            let receipt = await world.consume(
                "wallet", 100, operation: "o1",
                changes: JSONObject([("purchase", .string(signed))]))
            #expect(receipt.json["accepted"] == file["acceptance"]?["command_success"])
            #expect(receipt.json["active"] == expected["allowed_after_final_finite_unit"])
            #expect(receipt.json["balance"] == expected["balance_after_final_finite_unit"])
        }
    }

    // MARK: Apple

    @Test(arguments: [("apple_jws_generated", 9), ("apple_jws_official", 2)])
    func `Apple's signed texts are believed or refused as listed`(
        name: String, count: Int
    ) throws {
        guard let file = try file("providers/vectors/\(name).json") else { return }
        let root = try #require(file["root_der_base64"]?.string.flatMap { Base64.decode($0) })
        let judge = PurchaseJudge(bundleIDs: ["com.example"], roots: [root])
        let vectors = try #require(file["vectors"]?.array)
        for vector in vectors {
            let id = vector["id"]?.string ?? ""
            let signed = try #require(vector["jws"]?.string)
            // These are notifications and excerpts: believed or not, none is a transaction that grants.
            let isBelieved = vector["expect"] == "ok" || id == "other-app-apple-id"
            do throws(PurchaseRefusal) {
                _ = try judge.judge(signed, for: .production, nowMilliseconds: World.now)
                Issue.record("\(id) was taken for a purchase")
            } catch {
                switch error {
                case .unverified: #expect(!isBelieved, "\(id): \(error)")
                default: #expect(isBelieved, "\(id): \(error)")
                }
            }
        }
        #expect(Conformance.require(count: vectors.count, expected: count, of: name) == nil)
    }

    @Test func `every transaction of the generated notifications verifies and is taken in`()
        async throws
    {
        guard let file = try file("providers/vectors/apple_jws_generated.json"),
            let folder = Conformance.folder("providers/fixtures/apple/generated")
        else { return }
        let root = try #require(file["root_der_base64"]?.string.flatMap { Base64.decode($0) })
        let names = Conformance.names(in: folder)
        // While the period runs that they are all about.
        try await World.with(at: 1_767_300_000_000, roots: [root]) { world in
            var taken = 0
            for name in names {
                let notification = try JSONParser.parse(
                    try #require(Conformance.bytes(of: "\(folder)/\(name)")))
                let text = try #require(notification["signedPayload"]?.string)
                let payload = try CompactJWS(parsing: text).payloadObject()
                guard let signed = payload["data"]?["signedTransactionInfo"] else { continue }
                // Each with a customer of its own: they tell different stories of the same transaction.
                let customer = "person-\(name)"
                try await world.forgetPurchases()
                let answer = await world.post(
                    "/purchase", ["customerId": .string(customer), "signedTransaction": signed])
                #expect(answer.status == 200, "\(name): \(answer.json.text)")
                let access = await world.post(
                    "/entitled",
                    [
                        "customerId": .string(customer),
                        "featureId": name == "consumption_request.json" ? "wallet" : "premium",
                    ])
                #expect(access.json["allowed"] == .bool(name != "revoke_family.json"), "\(name)")
                taken += 1
            }
            #expect(Conformance.require(count: taken, expected: 19, of: "transactions") == nil)
        }
    }
}

extension World {
    fileprivate func forgetPurchases() async throws {
        _ = try await pool.query(SQLStatement("test_forget", "delete from features.purchases"))
    }
}
