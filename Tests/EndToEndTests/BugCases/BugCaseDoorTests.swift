import Configuration
import HTTPClient
import JSON
import JourneyWorker
import Settings
import Telemetry
import TestMaterial
import TestSupport
import Testing
import TimeZones

/// The public bug cases about signatures and delivery, each by its id.
@Suite(.serialized, .timeLimit(.minutes(1))) struct BugCaseDoorTests {
    private func stored(_ bug: BugWorld) async throws -> Int {
        try await bug.world.count("select count(*) from journey.deliveries")
    }

    @Test func `sig-no-freshness: a signature of 301 s ago is refused`() async throws {
        try await BugWorld.run("sig-no-freshness") { bug in
            let body = try JSONParser.parse(try bug.bodies.body("superwall/renewal.json"))
            let old = systemClock().milliseconds - 301_000
            #expect(try await bug.worker.door.postSigned(body, at: old).status == 401)
            #expect(try await stored(bug) == 0)
            #expect(try await bug.worker.door.postSigned(body).status == 200)
        }
    }

    @Test func `sig-timestamp-is-event-time: an old event with a fresh signature is taken`()
        async throws
    {
        try await BugWorld.run("sig-timestamp-is-event-time") { bug in
            try await bug.deliver(("superwall/renewal.json", [("/data/ts", 1_500_000_000_000)]))
            #expect(try await bug.events() == ["subscription.renewed"])
        }
    }

    private func problems(_ authenticate: JSONValue, provider: String) -> String {
        let configuration: JSONValue = [
            "allow_literal_secrets": true, "database": ["url": "unused"],
            "connectors": [
                "shop": ["provider": .string(provider), "authenticate": authenticate]
            ],
        ]
        do throws(ConfigurationRejection) {
            _ = try WorkerSettings.read(
                ConfigurationSource(bytes: configuration.bytes, environment: [:]))
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// The configuration's problems for each secret of the collection, by its id, with what it expects.
    private func secretVectors() throws -> [(id: String, expect: String, problems: String)]? {
        guard let folder = Conformance.folder("providers") else { return nil }
        let file = try BugBodies(folder: folder).json("vectors/standard_webhooks_secrets.json")
        return try #require(file["vectors"]?.array).map { vector in
            let entry: JSONValue = [
                "scheme": "standard-webhooks", "secret": vector["secret"] ?? .null,
            ]
            return (
                vector["id"]?.string ?? "", vector["expect"]?.string ?? "",
                problems([entry], provider: "superwall")
            )
        }
    }

    @Test func `sig-bad-secret-empty-key: the start refuses every secret that is no key, by name`()
        throws
    {
        for secret in ["whsec_!!!!", "whsec_", "whsec_====", ""] {
            let text = problems(
                [["scheme": "standard-webhooks", "secret": .string(secret)]], provider: "superwall")
            #expect(text.contains("shop"), "\(secret)")
            // Its reason is named, and the secret is not.
            #expect(text.contains("secret"), "\(secret): \(text)")
            if secret.count > 6 { #expect(!text.contains(secret), "\(text)") }
        }
        guard let vectors = try secretVectors() else { return }
        #expect(vectors.contains { $0.id == "not-base64-bangs" })
        for vector in vectors where vector.expect == "config_error" {
            #expect(vector.problems.contains("shop"), "\(vector.id)")
        }
        // The very text of a public key is a key to check with, not to sign with: nothing signs by it.
        let asymmetric = vectors.filter { $0.expect == "config_error_for_symmetric" }
        #expect(asymmetric.count == 1)
    }

    @Test func `sig-signature-pasted-as-secret: the start says what is wrong`() throws {
        let text = problems(
            [
                [
                    "scheme": "standard-webhooks",
                    "secret": "v1,whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz",
                ]
            ], provider: "superwall")
        #expect(text.contains("as a signature does"))
        #expect(text.contains("shop"))
        guard let vectors = try secretVectors() else { return }
        let pasted = try #require(vectors.first { $0.id == "signature-prefix-pasted" })
        #expect(pasted.problems.contains("as a signature does"))
        #expect(!pasted.problems.contains("MfKQ9r8G"))
    }

    @Test
    func `sig-missing-secret-fails-open: nothing configured is no start, nothing sent is 401`()
        async throws
    {
        #expect(problems([], provider: "revenuecat").contains("nothing could be believed"))
        #expect(problems([["scheme": "authorization"]], provider: "revenuecat").contains("shop"))
        try await BugWorld.run("sig-missing-secret-fails-open") { bug in
            let body = try bug.bodies.body("revenuecat/renewal.json")
            #expect(try await bug.post(body, to: "revenuecat", headers: []).status == 401)
            #expect(try await stored(bug) == 0)
        }
    }

    /// The tokens hold at one instant, so the worker's clock stands there.
    @Test
    func `sig-google-no-auth: only the right audience and address are taken, all else is 401`()
        async throws
    {
        let then = Instant(milliseconds: 1_767_225_600_000)
        try await BugWorld.run("sig-google-no-auth", clock: { then }) { bug in
            let file = try bug.bodies.json("vectors/google_oidc.json")
            #expect(file["now"]?.integer == 1_767_225_600)
            let vectors = try #require(file["vectors"]?.array)
            let body = try bug.bodies.body("google/subscription_04_purchased.json")
            func headers(_ vector: JSONValue) -> [(String, String)] {
                (vector["headers"]?.object ?? JSONObject()).map { ($0.key, $0.value.string ?? "") }
            }
            var answers: Set<[UInt8]> = []
            let refused = vectors.filter { $0["expect"] == "reject" }
            for header in refused.map(headers) + [[]] {
                let answer = try await bug.post(body, to: "google-pushed", headers: header)
                #expect(answer.status == 401)
                answers.insert(answer.body)
            }
            // Every cause is answered alike.
            #expect(answers.count == 1)
            #expect(try await stored(bug) == 0)
            let good = try #require(vectors.first { $0["id"] == "valid" })
            // A genuine token, and a connector that waits for another audience or another sender.
            for connector in ["google-other-audience", "google-other-email"] {
                let answer = try await bug.post(body, to: connector, headers: headers(good))
                #expect(answer.status == 401, "\(connector)")
            }
            #expect(try await stored(bug) == 0)
            for vector in vectors where vector["expect"] == "ok" {
                let answer = try await bug.post(body, to: "google-pushed", headers: headers(vector))
                #expect(answer.status == 200, "\(vector["id"]?.string ?? "")")
            }
            #expect(try await stored(bug) == 1)
        }
    }

    @Test func `sig-apple-ocsp-network: a notification is judged at its signing, without network`()
        async throws
    {
        try await BugWorld.run("sig-apple-ocsp-network") { bug in
            try await bug.deliver(("apple/generated/did_renew.json", []))
            #expect(try await bug.events() == ["subscription.renewed"])
            for name in ["wrongBundleId", "missingX5CHeaderClaim"] {
                let body = try bug.bodies.body("apple/official/\(name).json")
                #expect(try await bug.post(body, to: "apple").status == 401, "\(name)")
            }
        }
    }

    // MARK: Delivery

    @Test func `http-5xx-then-success: a repeat after a lost answer is one outcome`() async throws {
        try await BugWorld.run("http-5xx-then-success") { bug in
            try await bug.deliver(
                ("revenuecat/renewal.json", []), ("revenuecat/renewal.json", []))
            #expect(try await bug.events().filter { $0 == "subscription.renewed" }.count == 1)
        }
    }

    @Test func `http-marked-before-handled: what was stored and not worked stays pending`()
        async throws
    {
        try await BugWorld.run("http-marked-before-handled", roles: [.ingest]) { bug in
            let body = try bug.bodies.body("stripe/basil/customer.subscription.created.json")
            let words = [
                try await bug.post(body, to: "stripe").word,
                try await bug.post(body, to: "stripe").word,
            ]
            #expect(words == ["accepted", "duplicate"])
            #expect(try await bug.world.count("select count(*) from journey.inbox") == 1)
            #expect(try await bug.outcomes() == ["unread -"])
        }
    }

    /// The mapping that lacks the type, mended.
    private static func stripe(_ rules: [JSONValue]) -> JSONValue {
        ["provider": "stripe", "extends": "stripe", "version": 2, "rules": .array(rules)]
    }

    @Test func `http-skip-is-final: what nothing maps keeps a reason and is mapped by the command`()
        async throws
    {
        try await BugWorld.run("http-skip-is-final") { bug in
            let world = bug.world
            try await bug.deliver(
                (
                    "stripe/basil/customer.subscription.deleted.json",
                    [("/type", "customer.subscription.entirely_new")]
                ))
            #expect(try await bug.outcomes() == ["processed connector.unknown"])
            let type = try await world.texts(
                "select event ->> 'provider_type' as value from journey.events")
            #expect(type == ["customer.subscription.entirely_new"])
            await bug.worker.service.drain()
            // The configuration is mended: the provider's definition learns the type.
            try await TemporaryFolder.with { folder in
                let mended = Self.stripe([
                    [
                        "when": ["/type": "customer.subscription.entirely_new"],
                        "outcome": "subscription.expired",
                    ]
                ])
                try BugBodies.write(mended.bytes, to: folder + "/stripe.json")
                let changes = JSONObject([
                    ("providers", ["files": [.string(folder + "/stripe.json")]]),
                    ("connectors", BugWorld.stripeOnly),
                ])
                try await world.withWorker(changes: changes) { _ in
                    let answer = await ReplayDeliveriesTests.run(
                        world,
                        [
                            "replay-deliveries", "--remap", "--where", "event=connector.unknown",
                            "--reason", "the mapping is mended", "--yes",
                        ])
                    #expect(answer.code == 0, "\(answer.errors)")
                    #expect(answer.rows.map { $0["after"] } == ["subscription.expired"])
                }
            }
            let names = try await world.texts(
                "select name as value from journey.events order by ordinal")
            #expect(names == ["connector.unknown", "subscription.expired"])
        }
    }

    @Test
    func `http-attempt-counter-reset: attempts are counted through redeliveries, to the limit`()
        async throws
    {
        try await BugWorld.run("http-attempt-counter-reset") { bug in
            let world = bug.world
            try await bug.deliver(("revenuecat/renewal.json", []))
            // Whatever this customer's turn would do, it fails.
            try await world.change("update journey.customers set attributes = '[]'")
            let body = try bug.bodies.body(
                "revenuecat/renewal.json", [("/event/id", "e-fails")])
            for attempt in 1...5 {
                // The provider sends it again before each attempt, and is told 200.
                let answer = try await bug.post(body, to: "revenuecat")
                #expect(answer.status == 200)
                #expect(answer.word == (attempt == 1 ? "accepted" : "duplicate"))
                try await world.change("update journey.set_aside set retry_at = now()")
                try await world.until(
                    "select coalesce(max(attempts), 0) from journey.set_aside", is: attempt)
            }
            #expect(
                try await world.texts(
                    "select (retry_at is null)::text as value from journey.set_aside") == ["true"])
            // Dead, kept, and still answered.
            #expect(try await bug.post(body, to: "revenuecat").status == 200)
            #expect(
                try await world.texts(
                    "select attempts::text as value from journey.set_aside") == ["5"])
            #expect(try await world.count("select count(*) from journey.inbox") == 1)
            #expect(
                try await world.count(
                    "select count(*) from journey.delivery_ids where provider_event_id = 'e-fails'")
                    == 1)
        }
    }

    @Test func `http-slow-handler: the answer waits for the store and for nothing else`()
        async throws
    {
        try await BugWorld.run("http-slow-handler", roles: [.ingest]) { bug in
            let body = try bug.bodies.body("apple/generated/subscribed_initial_buy.json")
            #expect(try await bug.post(body, to: "apple").status == 200)
            // Nobody works in this process: the answer came all the same.
            #expect(try await bug.world.count("select count(*) from journey.inbox") == 1)
        }
    }

    @Test func `http-2xx-not-200: success is exactly 200`() async throws {
        try await BugWorld.run("http-2xx-not-200") { bug in
            try await bug.deliver(("revenuecat/renewal.json", []))
        }
    }

    @Test func `http-expected-reject-alarms: bad signatures warn, once a minute`() async throws {
        try await BugWorld.run("http-expected-reject-alarms") { bug in
            for _ in 0..<5 {
                let answer = try await bug.post(
                    Array("{\"data\": 1}".utf8), to: "paddle",
                    headers: [("Paddle-Signature", "ts=1234;h1=invalid_signature")])
                #expect(answer.status == 401)
            }
            let lines = bug.world.log.lines.filter { $0.contains("a delivery was refused") }
            #expect(lines.count == 1)
            #expect(lines.allSatisfy { $0.contains("\"warning\"") || $0.contains("warn") })
        }
    }
}
