import Connectors
import Crypto
import FeatureLedger
import FeatureModel
import HTTPClient
import JSON
import Postgres
import TestMaterial
import TestSupport
import Testing

/// Whatever providers send, no feature changes.
struct WebhookWallTests {
    @Test(.timeLimit(.minutes(3)))
    func `every known webhook leaves a customer's features byte for byte as they were`()
        async throws
    {
        try await World.with { world in
            let settings = PostgresSettings(connectionString: world.conninfo)
            try await FeatureSchema.migrator.up(settings, on: world.loop)
            let people = try await fill(world)
            #expect(people > 0)
            let before = try await FeatureProjection.read(world.conninfo, on: world.loop)
            #expect(before.count > 10)
            try await TemporaryFolder.with { folder in
                let file = folder + "/root.der"
                try BugBodies.write(try Self.appleRoot(), to: file)
                let changes = Self.connectors(appleRoot: file)
                try await world.withWorker(changes: changes) { worker in
                    var taken = 0
                    let bodies = Self.bodies()
                    for (provider, body) in bodies {
                        let answer = try await worker.door.post(
                            body, authorization: [], path: "/v1/webhooks/\(provider)")
                        if answer.status == 200 { taken += 1 }
                    }
                    // Files of expectations and bodies without what their scheme reads are refused; the
                    // project's own fixtures alone are fifteen.
                    #expect(taken >= 15, "\(taken) webhooks were taken")
                    #expect(taken * 2 > bodies.count, "\(taken) of \(bodies.count) were taken")
                    try await world.untilQuiet()
                }
            }
            let events = try await world.count("select count(*) from journey.deliveries")
            #expect(events >= 15)
            let after = try await FeatureProjection.read(world.conninfo, on: world.loop)
            #expect(before == after)
        }
    }

    /// Gives features to the very people that the fixtures speak of.
    private func fill(_ world: World) async throws -> Int {
        let pool = PostgresPool(
            settings: PostgresSettings(connectionString: world.conninfo), size: 1, loop: world.loop)
        let catalogues = CatalogueStore(pool: pool)
        let catalogue = Catalogue(features: [
            FeatureKey(checked: "credits"): FeatureDefinition(
                key: FeatureKey(checked: "credits"), type: .creditSystem)
        ])
        _ = try await catalogues.publish(catalogue, by: "a test", reason: "a test")
        let ledger = LedgerStore(pool: pool, catalogues: catalogues)
        let size = try #require(Quantity(100))
        let people = [
            "user-1042", "user-2077", "user_1001", "1234567890", "account-a",
            "7e3fb20b-4cdb-47cc-936d-99d65f608138",
            "$RCAnonymousID:0123456789abcdef0123456789abcdef",
        ]
        for person in people {
            _ = try await ledger.grant(
                OperatorGrant(
                    id: .byOperator("g1"),
                    entitlements: [
                        Entitlement(
                            feature: FeatureKey(checked: "credits"), allowance: .units(size))
                    ]), to: CustomerKey(checked: person), in: .production,
                by: Authorship(who: "a test", reason: "a test"))
            _ = try await ledger.consume(
                ConsumeCommand(
                    customer: CustomerKey(checked: person),
                    feature: FeatureKey(checked: "credits"),
                    operation: OperationID(checked: "o1"), quantity: .one), in: .production)
        }
        await pool.close()
        return people.count
    }

    /// Every shipped provider under its own name: without authentication, since this listens on loopback,
    /// but for Apple's, whose bodies nobody reads without it.
    private static func connectors(appleRoot: String) -> JSONObject {
        var connectors = JSONObject()
        for name in ProviderDefinition.shipped.map(\.name) {
            let entry: JSONValue =
                name == "apple"
                ? [
                    "scheme": "apple-jws", "bundle_id": "com.example", "app_apple_id": 1_234,
                    "roots": [.string(appleRoot)],
                ] : ["scheme": "none"]
            connectors[name] = [
                "provider": .string(name), "authenticate": [entry],
                "unknown_environment": "production",
            ]
        }
        return JSONObject([("connectors", .object(connectors))])
    }

    /// The root of the generated notifications; without the public cases another one, which none leads to.
    private static func appleRoot() throws -> [UInt8] {
        guard let folder = Conformance.folder("providers/vectors"),
            let bytes = Conformance.bytes(of: "\(folder)/apple_jws_generated.json")
        else { return AppStoreSigner.shared.root }
        let text = try JSONParser.parse(bytes)["root_der_base64"]?.string
        return try #require(text.flatMap { Base64.decode($0) })
    }

    /// Fixtures of the project, and the public ones where they are, with their folders.
    private static func bodies() -> [(provider: String, body: [UInt8])] {
        var bodies: [(String, [UInt8])] = []
        let own = Webhook.root + "/Tests/Fixtures/webhooks"
        for root in [own, Conformance.folder("providers/fixtures")].compactMap(\.self) {
            for provider in ProviderDefinition.shipped.map(\.name) {
                let top = "\(root)/\(provider)"
                for folder in [top] + Conformance.names(in: top).map({ "\(top)/\($0)" }) {
                    for name in Conformance.names(in: folder) where name.hasSuffix(".json") {
                        guard let bytes = Conformance.bytes(of: "\(folder)/\(name)") else {
                            continue
                        }
                        bodies.append((provider, bytes))
                    }
                }
            }
        }
        return bodies
    }
}
