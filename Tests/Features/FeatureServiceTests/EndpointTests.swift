import FeatureLedger
import FeatureModel
import HTTPServer
import JSON
import Postgres
import Telemetry
import TestSupport
import Testing

@testable import FeatureService

struct EndpointTests {
    private static let units: Allowance = .units(.one)

    @Test func `a customer of whom nothing is known is denied, and it is no error`() async throws {
        try await World.with { world in
            let answer = await world.post(
                "/entitled", ["customerId": "customer", "featureId": "credits"])
            #expect(answer.status == 200)
            #expect(
                answer.json == [
                    "customerId": "customer", "featureId": "credits", "requiredBalance": 1,
                    "code": "feature_found", "allowed": false, "unlimited": false, "balance": 0,
                    "type": "metered",
                ])
            let missing = await world.post(
                "/entitled", ["customerId": "customer", "featureId": "nothing"])
            #expect(missing.status == 200)
            #expect(missing.json["code"] == "feature_not_found")
            #expect(missing.json["type"] == "boolean")
            #expect(missing.json["balance"] == .some(.null))
        }
    }

    @Test func `a check neither reserves nor deducts`() async throws {
        try await World.with { world in
            try await world.give("credits", .units(try #require(Quantity(5))))
            for _ in 0..<3 {
                let answer = await world.post(
                    "/entitled",
                    ["customerId": "customer", "featureId": "credits", "requiredBalance": 5])
                #expect(answer.json["allowed"] == true)
                #expect(answer.json["balance"] == 5)
            }
            let more = await world.post(
                "/entitled",
                ["customerId": "customer", "featureId": "credits", "requiredBalance": 6])
            #expect(more.json["allowed"] == false)
        }
    }

    @Test func `a wallet's answer names it and holds for the amount asked`() async throws {
        try await World.with { world in
            try await world.give("wallet", .units(try #require(Quantity(7))))
            let answer = await world.post(
                "/entitled",
                ["customerId": "customer", "featureId": "upscales", "requiredBalance": 2])
            #expect(answer.json["allowed"] == true)
            // As in the public wire: who reads a balance here reads the wallet's.
            #expect(answer.json["featureId"] == "wallet")
            #expect(answer.json["requestedFeatureId"] == "upscales")
            #expect(answer.json["requiredBalance"] == 2)
            #expect(answer.json["balance"] == 7)
            #expect(answer.json["creditFeatureId"] == "wallet")
            #expect(answer.json["type"] == "creditSystem")
            let receipt = await world.consume("upscales", 2, operation: "o1")
            #expect(receipt.json["featureId"] == "upscales")
            #expect(receipt.json["balance"] == 1)
            #expect(receipt.json["creditFeatureId"] == "wallet")
            #expect(receipt.json["active"] == false)
        }
    }

    @Test(arguments: [
        ("/entitled", #"{"featureId": "f"}"#, "customerId"),
        ("/entitled", #"{"customerId": "c"}"#, "featureId"),
        ("/entitled", #"{"customerId": " c", "featureId": "f"}"#, "customerId"),
        (
            "/entitled", #"{"customerId": "c", "featureId": "f", "requiredBalance": 0}"#,
            "requiredBalance"
        ),
        (
            "/entitled", #"{"customerId": "c", "featureId": "f", "requiredBalance": 1.5}"#,
            "requiredBalance"
        ),
        ("/entitled", #"{"customerId": "c", "featureId": "f", "entityId": ""}"#, "entityId"),
        (
            "/feature/consume", #"{"customerId": "c", "featureId": "f", "operationId": "o"}"#,
            "quantity"
        ),
        (
            "/feature/consume",
            #"{"customerId": "c", "featureId": "f", "operationId": "o ", "quantity": 1}"#,
            "operationId"
        ),
        (
            "/feature/consume", #"{"customerId": "c", "featureId": "f", "quantity": 1}"#,
            "operationId"
        ),
        (
            "/feature/consume",
            #"{"customerId": "c", "featureId": "f", "operationId": "o", "quantity": 9007199254740992}"#,
            "quantity"
        ),
        (
            "/feature/consume",
            #"{"customerId": "c", "featureId": "f", "operationId": "o", "quantity": -1}"#,
            "quantity"
        ),
        (
            "/feature/consume",
            #"{"customerId": "c", "featureId": "f", "operationId": "o", "quantity": 1, "mode": "add"}"#,
            "mode"
        ),
        (
            "/feature/consume",
            #"{"customerId": "c", "featureId": "f", "operationId": "o", "quantity": 1, "metadata": []}"#,
            "metadata"
        ),
        (
            "/feature/consume",
            #"{"customerId": "c", "featureId": "f", "operationId": "o", "quantity": 1, "purchase": 1}"#,
            "purchase"
        ),
        ("/purchase", #"{"customerId": "c"}"#, "transaction_jwt"),
        ("/purchase", #"{"distinct_id": "c", "type": "appstore"}"#, "transaction_jwt"),
        (
            "/purchase",
            #"{"distinct_id": "c", "type": "playstore", "purchase_token": "t"}"#, "type"
        ),
        (
            "/feature/consume",
            #"{"customerId": "c", "featureId": "f", "operationId": "o", "quantity": 1, "purchase": {}}"#,
            "purchase"
        ),
        ("/profile", #"{}"#, "customerId"),
    ])
    func `a member that is missing or wrong is named`(
        path: String, body: String, member: String
    ) async throws {
        try await World.with { world in
            let answer = await world.post(path, try JSONParser.parse(body))
            #expect(answer.status == 400)
            #expect(answer.json["code"] == "invalid_request")
            #expect(answer.json["details"]?["member"] == .string(member))
            #expect(answer.json["message"]?.string?.isEmpty == false)
        }
    }

    @Test func `an operation id of 257 characters is refused, one of 256 is taken`() async throws {
        try await World.with { world in
            let long = String(repeating: "x", count: 256)
            #expect(await world.consume("credits", 1, operation: long).status == 200)
            #expect(await world.consume("credits", 1, operation: long + "x").status == 400)
        }
    }

    @Test func `strangers, other methods and other paths are told what to do`() async throws {
        try await World.with { world in
            let stranger = await world.post(
                "/entitled", ["apiKey": "pk_unknown", "customerId": "c", "featureId": "f"])
            #expect(stranger.status == 401)
            #expect(stranger.json["code"] == "invalid_api_key")
            #expect(await world.postRaw("/entitled", []).json["code"] == "invalid_request")
            #expect(await world.postRaw("/entitled", Array("[]".utf8)).status == 400)
            let get = await world.postRaw("/entitled", [], method: "GET")
            #expect(get.status == 405)
            #expect(get.response.headers.contains(HTTPField("Allow", "POST")))
            #expect(await world.postRaw("/", []).status == 404)
            let early = world.endpoints.decideEarly(
                HTTPRequest(method: "GET", target: "/nowhere").head)
            #expect(early?.status == 404)
        }
    }

    @Test func `a key past its rate is told when to come back`() async throws {
        try await World.with(ratePerSecond: 1, burst: 2) { world in
            let body: JSONValue = ["customerId": "c", "featureId": "credits"]
            var refused: HTTPResponse?
            // However slow the machine is, it is faster than one a second at some time.
            for _ in 0..<100 where refused == nil {
                let answer = await world.post("/entitled", body)
                if answer.status != 200 {
                    #expect(answer.json["code"] == "rate_limited")
                    refused = answer.response
                }
            }
            #expect(refused?.status == 429)
            let header = refused?.headers.first { $0.isNamed("retry-after") }
            #expect(header.flatMap { RetryAfter(header: $0.value) }?.milliseconds == 1_000)
            // Another key has a bucket of its own.
            let other = await world.post(
                "/entitled",
                ["apiKey": .string(World.sandboxKey), "customerId": "c", "featureId": "credits"])
            #expect(other.status == 200)
        }
    }

    @Test func `a bucket lets its burst through, then its rate, and says when the next may come`() {
        let bucket = TokenBucket(perSecond: 2, most: 3)
        let start = ContinuousClock.now
        for _ in 0..<3 { #expect(bucket.take(at: start) == nil) }
        #expect(bucket.take(at: start)?.milliseconds == 500)
        #expect(bucket.take(at: start + .milliseconds(250))?.milliseconds == 250)
        #expect(bucket.take(at: start + .milliseconds(500)) == nil)
        // A clock that goes back gives nothing away.
        #expect(bucket.take(at: start) != nil)
        for _ in 0..<3 { #expect(bucket.take(at: start + .seconds(60)) == nil) }
        #expect(bucket.take(at: start + .seconds(60)) != nil)
    }

    @Test func `more at once than it may is answered 503 with a time`() async throws {
        try await World.with(mostInFlight: 1) { world in
            let body: JSONValue = ["customerId": "c", "featureId": "credits"]
            let statuses = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<12 {
                    group.addTask { await world.post("/entitled", body).status }
                }
                return await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 200 || $0 == 503 })
            #expect(statuses.contains(200))
            #expect(WireFailure.busy.response.headers.contains(HTTPField("Retry-After", "1")))
        }
    }

    @Test func `a database that is gone is 503, and the message says to keep the id`() async throws
    {
        try await World.with { world in
            await world.pool.close()
            let answer = await world.consume("credits", 1, operation: "o1")
            #expect(answer.status == 503)
            #expect(answer.json["code"] == "unavailable")
            #expect(answer.json["message"]?.string?.contains("same operationId") == true)
        }
    }

    @Test func `set_usage charges the increase, and is never backed by a purchase`() async throws {
        try await World.with { world in
            try await world.give("credits", .units(try #require(Quantity(100))))
            let mode = JSONObject([("mode", "set_usage")])
            #expect(
                await world.consume("credits", 20, operation: "o1", changes: mode)
                    .json["balance"] == 80)
            #expect(
                await world.consume("credits", 25, operation: "o2", changes: mode)
                    .json["balance"] == 75)
            let lower = await world.consume("credits", 3, operation: "o3", changes: mode)
            #expect(lower.json["accepted"] == true)
            #expect(lower.json["balance"] == 75)
            let signed = AppStoreSigner.shared.transaction(
                "t1", product: "com.example.coins", at: World.now)
            var both = mode
            both["purchase"] = .string(signed)
            let refused = await world.consume("credits", 30, operation: "o4", changes: both)
            #expect(refused.status == 400)
            #expect(refused.json["details"]?["member"] == "purchase")
            #expect(try await world.number("select count(*) from features.purchases") == 0)
        }
    }

    @Test func `the profile holds everything, and is not sent again while it is the same`()
        async throws
    {
        try await World.with { world in
            try await world.give("credits", .units(try #require(Quantity(5))))
            try await world.give(
                "credits", .units(try #require(Quantity(2))), entity: "project-a", id: "g2")
            try await world.give("premium", .access, id: "g3")
            let body: JSONValue = ["customerId": "customer"]
            let first = await world.post("/profile", body)
            #expect(first.status == 200)
            #expect(first.json["customerId"] == "customer")
            let features = first.json["features"]?.array ?? []
            #expect(features.map { $0["id"]?.string } == ["credits", "premium"])
            #expect(features[0]["balance"] == 5)
            #expect(features[0]["entities"]?["project-a"]?["balance"] == 2)
            #expect(features[1]["allowed"] == true)
            #expect(first.json["segments"] == [])
            let products = first.json["products"]?.array ?? []
            #expect(products.map { $0["id"]?.string } == ["coins", "pro", "pro-yearly"])
            #expect(products[0]["storeProductIds"] == ["com.example.coins", "coins_100"])
            let tag = try #require(first.response.headers.first { $0.isNamed("etag") }?.value)
            for known in [tag, "W/" + tag, "\"other\", \(tag)", "*"] {
                let again = await world.post(
                    "/profile", body, headers: [HTTPField("If-None-Match", known)])
                #expect(again.status == 304, "\(known)")
                #expect(again.response.body.isEmpty)
            }
            _ = await world.consume("credits", 1, operation: "o1")
            let changed = await world.post(
                "/profile", body, headers: [HTTPField("If-None-Match", tag)])
            #expect(changed.status == 200)
            let byOldName = await world.post("/profile", ["distinct_id": "customer"])
            #expect(byOldName.json == changed.json)
            // Whole as the public SDK sends it, with members that are not looked at.
            let asPublic = await world.post(
                "/profile",
                ["distinct_id": "customer", "locale": "de_DE", "groups": [:], "version": 1])
            #expect(asPublic.json == changed.json)
        }
    }

    @Test func `a boolean feature is in the profile only while it is held`() async throws {
        try await World.with { world in
            try await world.give("premium", .access)
            try await world.give("credits", .units(try #require(Quantity(1))), id: "g2")
            _ = await world.consume("credits", 1, operation: "o1")
            let body: JSONValue = ["distinct_id": "customer"]
            func features() async -> [String?] {
                let answer = await world.post("/profile", body)
                return (answer.json["features"]?.array ?? []).map { $0["id"]?.string }
            }
            #expect(await features() == ["credits", "premium"])
            _ = try await world.ledger.revoke(
                .byOperator("g1"), of: Key(checked: "customer"), in: .production,
                by: Authorship(who: "a test", reason: "a test"))
            #expect(await features() == ["credits"])
        }
    }

    @Test func `whole numbers are taken however an encoder writes them`() async throws {
        try await World.with { world in
            try await world.give("credits", .units(try #require(Quantity(5))))
            let answer = await world.post(
                "/entitled",
                try JSONParser.parse(
                    #"{"customerId": "customer", "featureId": "credits", "requiredBalance": 5.0}"#))
            #expect(answer.json["allowed"] == true)
            #expect(answer.json["requiredBalance"] == 5)
        }
    }

    @Test func `what is counted has no label that a client can choose`() async throws {
        try await World.with { world in
            _ = await world.post(
                "/entitled", ["customerId": "someone", "featureId": "secret-name"])
            _ = await world.consume("secret-name", 1, operation: "o1")
            let text = world.metrics.text()
            #expect(text.contains(#"feature_requests_total{endpoint="/entitled",status="200"} 1"#))
            #expect(
                text.contains(
                    #"feature_consumptions_total{code="feature_not_found",replay="no"} 1"#))
            #expect(!text.contains("secret-name"))
            #expect(!text.contains("someone"))
        }
    }
}
