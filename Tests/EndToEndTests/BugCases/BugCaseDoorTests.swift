import Configuration
import HTTPClient
import JSON
import JourneyWorker
import Settings
import Telemetry
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

    @Test func `sig-bad-secret-empty-key: a secret that is no key stops the start`() {
        for secret in ["whsec_!!!!", "whsec_", ""] {
            let text = problems(
                [["scheme": "standard-webhooks", "secret": .string(secret)]], provider: "superwall")
            #expect(text.contains("shop"), "\(secret)")
        }
    }

    @Test func `sig-signature-pasted-as-secret: the start says what is wrong`() {
        let text = problems(
            [
                [
                    "scheme": "standard-webhooks",
                    "secret": "v1,whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz",
                ]
            ], provider: "superwall")
        #expect(text.contains("as a signature does"))
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

    @Test func `sig-google-no-auth: every push without the right token is 401, alike`() async throws
    {
        try await BugWorld.run("sig-google-no-auth") { bug in
            let vectors = try #require(
                try bug.bodies.json("vectors/google_oidc.json")["vectors"]?.array)
            let body = try bug.bodies.body("google/subscription_04_purchased.json")
            var answers: Set<[UInt8]> = []
            var headers = vectors.filter { $0["expect"] == "reject" }.map { vector in
                (vector["headers"]?.object ?? JSONObject()).map { ($0.key, $0.value.string ?? "") }
            }
            headers.append([])
            for header in headers {
                let answer = try await bug.post(body, to: "google-pushed", headers: header)
                #expect(answer.status == 401)
                answers.insert(answer.body)
            }
            #expect(answers.count == 1)
            #expect(try await stored(bug) == 0)
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

    @Test func `http-skip-is-final: what nothing maps keeps its body and can be mapped again`()
        async throws
    {
        try await BugWorld.run("http-skip-is-final") { bug in
            try await bug.deliver(
                (
                    "stripe/basil/customer.subscription.deleted.json",
                    [("/type", "customer.subscription.entirely_new")]
                ))
            #expect(try await bug.outcomes() == ["processed connector.unknown"])
            #expect(try await bug.world.count("select count(*) from journey.delivery_bodies") == 1)
        }
    }

    @Test func `http-attempt-counter-reset: a redelivery leaves the count of attempts alone`()
        async throws
    {
        try await BugWorld.run("http-attempt-counter-reset") { bug in
            try await bug.deliver(("revenuecat/renewal.json", []))
            try await bug.world.change(
                """
                insert into journey.set_aside (customer, since, attempts, error)
                select id, now(), 5, 'a test' from journey.customers
                """)
            let body = try bug.bodies.body("revenuecat/renewal.json")
            #expect(try await bug.post(body, to: "revenuecat").status == 200)
            #expect(
                try await bug.world.texts(
                    "select attempts::text as value from journey.set_aside") == ["5"])
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
