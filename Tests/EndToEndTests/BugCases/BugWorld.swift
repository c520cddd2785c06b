import Crypto
import HTTPClient
import JSON
import JourneyWorker
import TestMaterial
import TestSupport
import Testing
import TimeZones

/// The public bug cases against a worker with every provider's connector, over HTTP and PostgreSQL.
///
/// The bodies are those of the conformance collection; of those that the collection at hand leaves out,
/// ``BugBodies`` makes the like from those that it holds.
struct BugWorld: Sendable {
    let world: World
    let worker: Worker
    let bodies: BugBodies

    /// Runs a case, or says on one line that the collection is absent.
    static func run(
        _ id: String, workflows: [JSONValue] = [], roles: WorkerService.Roles = .all,
        changes: JSONObject = JSONObject(),
        clock: @escaping @Sendable () -> Instant = systemClock,
        _ body: @escaping @Sendable (BugWorld) async throws -> Void
    ) async throws {
        guard let folder = Conformance.folder("providers") else { return }
        let bodies = try BugBodies(folder: folder)
        let cases = try #require(try bodies.json("bug_cases.json").array)
        #expect(cases.contains { $0["id"]?.string == id }, "no such case: \(id)")
        let root = try #require(
            try bodies.json("vectors/apple_jws_generated.json")["root_der_base64"]?.string
                .flatMap { Base64.decode($0) })
        let keys = try #require(try bodies.json("vectors/google_oidc.json")["jwks"])
        try await TemporaryFolder.with { place in
            let file = place + "/root.der"
            try BugBodies.write(root, to: file)
            let connectors = connectors(root: file, keys: keys)
            try await World.with(workflows: workflows) { world in
                var all = JSONObject([("connectors", connectors)])
                for (key, value) in changes { all[key] = value }
                try await world.withWorker(roles: roles, changes: all, clock: clock) { worker in
                    try await body(BugWorld(world: world, worker: worker, bodies: bodies))
                }
            }
        }
    }

    private static let keyText = "whsec_bug-case-signing-key"

    private static func connectors(root: String, keys: JSONValue) -> JSONValue {
        func entry(_ scheme: String, _ secret: String) -> JSONValue {
            ["scheme": .string(scheme), "secret": .string(secret)]
        }
        func connector(_ provider: String, _ entry: JSONValue) -> JSONValue {
            ["provider": .string(provider), "authenticate": [entry]]
        }
        return [
            "revenuecat": connector("revenuecat", entry("authorization", Secrets.authorization)),
            "superwall": connector("superwall", entry("standard-webhooks", Secrets.superwall)),
            "shared-device": [
                "provider": "superwall", "identity": "/data/userAttributes/firebaseUid",
                "authenticate": [entry("standard-webhooks", Secrets.superwall)],
            ],
            "stripe": connector("stripe", entry("stripe", keyText)),
            "paddle": connector("paddle", entry("paddle", keyText)),
            "lemonsqueezy": connector("lemonsqueezy", entry("lemonsqueezy", keyText)),
            "adapty": connector("adapty", entry("authorization", Secrets.authorization)),
            // Push tokens run out, so the mapping is tried without them, on this loopback listener.
            "google": ["provider": "google", "authenticate": [["scheme": "none"]]],
            // Whom a notification is about is known by his purchase.
            "google-known": [
                "provider": "google", "authenticate": [["scheme": "none"]],
                "identity": "/message/data/subscriptionNotification/purchaseToken",
            ],
            "google-pushed": pushed(keys),
            "google-other-audience": pushed(keys, audience: "https://hooks.example.com/other"),
            "google-other-email": pushed(keys, email: "other@example.iam.gserviceaccount.com"),
            "apple": [
                "provider": "apple",
                "authenticate": [
                    [
                        "scheme": "apple-jws", "bundle_id": "com.example", "app_apple_id": 1_234,
                        "roots": [.string(root)],
                    ]
                ],
            ],
        ]
    }

    /// Stripe's connector alone.
    static let stripeOnly: JSONValue = [
        "stripe": [
            "provider": "stripe",
            "authenticate": [["scheme": "stripe", "secret": .string(keyText)]],
        ]
    ]

    private static func pushed(
        _ keys: JSONValue, audience: String = "https://hooks.example.com/google",
        email: String = "push@example-project.iam.gserviceaccount.com"
    ) -> JSONValue {
        [
            "provider": "google",
            "authenticate": [
                [
                    "scheme": "google-oidc", "audience": .string(audience),
                    "email": .string(email), "keys": keys,
                ]
            ],
        ]
    }

    // MARK: Posting

    /// Posts as the connector's provider would, signed now.
    func post(
        _ body: [UInt8], to connector: String, id: String = "msg_1"
    ) async throws(HTTPClientError) -> HTTPAnswer {
        let seconds = systemClock().milliseconds / 1_000
        func code(_ head: String) -> String {
            Hex.encode(
                HMACSHA256.authenticate(Array(head.utf8) + body, key: Array(Self.keyText.utf8)))
        }
        let headers: [(String, String)]
        switch connector {
        case "revenuecat", "adapty": headers = [("Authorization", Secrets.authorization)]
        case "superwall", "shared-device":
            let signature = StandardWebhooksSignature.sign(
                id: id, timestampSeconds: seconds, body: body,
                key: StandardWebhooksSignature.key(fromSecret: Secrets.superwall) ?? [])
            headers = [
                ("svix-id", id), ("svix-timestamp", "\(seconds)"), ("svix-signature", signature),
            ]
        case "stripe":
            headers = [("Stripe-Signature", "t=\(seconds),v1=\(code("\(seconds)."))")]
        case "paddle": headers = [("Paddle-Signature", "ts=\(seconds);h1=\(code("\(seconds):"))")]
        case "lemonsqueezy": headers = [("X-Signature", code(""))]
        case _: headers = []
        }
        return try await post(body, to: connector, headers: headers)
    }

    func post(
        _ body: [UInt8], to connector: String, headers: [(String, String)]
    ) async throws(HTTPClientError) -> HTTPAnswer {
        try await world.http.send(
            HTTPCall(
                url: "http://127.0.0.1:\(worker.door.port)/v1/webhooks/\(connector)",
                headers: headers.map { HTTPHeaderField(name: $0.0, value: $0.1) }, body: body,
                timeout: .seconds(30), destination: DestinationPolicy(allowsPrivate: true)))
    }

    /// Posts fixtures one after the other, each with changes, and expects exactly 200 for each.
    func deliver(
        _ fixtures: (String, [(String, JSONValue)])..., to connector: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for (name, changes) in fixtures {
            let body = try bodies.body(name, changes)
            let provider = String(name.prefix { $0 != "/" })
            let answer = try await post(body, to: connector ?? provider)
            #expect(answer.status == 200, "\(name)", sourceLocation: sourceLocation)
            // One after the other also in the worker: the order of arrival is the case's own.
            try await world.untilRead()
        }
    }

    // MARK: Looking

    /// What each delivery was found to be, in the order of arrival: state and event.
    func outcomes() async throws -> [String] {
        try await world.texts(
            """
            select coalesce(d.state, 'unread') || ' '
                || case when d.state = 'duplicate' then '-' else coalesce(e.name, '-') end as value
            from journey.deliveries d left join journey.events e on e.id = d.event
            order by d.received_at, d.id
            """)
    }

    func events() async throws -> [String] {
        try await outcomes().map { String($0.split(separator: " ").last ?? "") }
    }

    func customers(_ id: String, environment: String = "%") async throws -> Int {
        try await world.count(
            """
            select count(distinct customer) from journey.customer_ids
            where external_id = '\(id)' and environment like '\(environment)'
            """)
    }
}

extension World {
    /// Waits until every input was taken or set aside for want of a customer, and every transfer was told.
    func untilRead() async throws {
        try await until(
            "select (select count(*) from journey.inbox) "
                + "+ (select count(*) from journey.transfers where told_at is null)", is: 0)
        try await until("select count(*) from journey.inbox", is: 0)
    }
}
