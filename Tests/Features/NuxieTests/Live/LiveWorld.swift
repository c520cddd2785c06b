import Configuration
import FeatureLedger
import FeatureModel
import FeatureService
import Glibc
import JSON
import Postgres
import Telemetry
import TestSupport
import TimeZones

@testable import Nuxie

/// A feature server on a database of its own, and SDKs that ask it over real connections.
struct LiveWorld: Sendable {
    let ledger: LedgerStore
    let endpoint: String
    let folder: String

    static let key = "pk_test_live_sdk"

    static func with(
        _ body: @escaping @Sendable (LiveWorld) async throws -> Void
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: FeatureSchema.migrator) {
            settings, loop in
            try await TemporaryFolder.with { folder in
                let root = folder + "/root.der"
                try write(AppStoreSigner.shared.root, to: root)
                let pool = PostgresPool(settings: settings, size: 2, loop: loop)
                let catalogues = CatalogueStore(pool: pool)
                _ = try await catalogues.publish(catalogue, by: "a test", reason: "a test")
                let server = try FeatureServer(
                    settings: try configuration(settings.connectionString, root: root),
                    loop: loop, log: .silent, clock: now)
                let addresses = try await server.start()
                let world = LiveWorld(
                    ledger: LedgerStore(pool: pool, catalogues: catalogues),
                    endpoint: "http://127.0.0.1:\(addresses.port)", folder: folder)
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body(world))
                } catch {
                    result = .failure(error)
                }
                await server.drain()
                await pool.close()
                try result.get()
            }
        }
    }

    /// Sets an SDK up over real connections, runs `body`, and shuts it down.
    func withSDK(
        _ sdk: NuxieSDK = NuxieSDK(), customer: String = "customer",
        changes: (inout NuxieConfiguration) -> Void = { _ in },
        _ body: (NuxieSDK) async throws -> Void
    ) async throws {
        var configuration = NuxieConfiguration(apiKey: Self.key, apiEndpoint: endpoint)
        // No worker is here: events fail, and are kept.
        configuration.storageFolder = folder + "/sdk"
        configuration.logLevel = .none
        changes(&configuration)
        try sdk.setup(with: configuration)
        try sdk.identify(customer)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(sdk))
        } catch {
            result = .failure(error)
        }
        await sdk.shutdown()
        try result.get()
    }

    func give(
        _ feature: String, _ allowance: Allowance, entity: String? = nil,
        to customer: String = "customer", id: String = "g1"
    ) async throws {
        _ = try await ledger.grant(
            OperatorGrant(
                id: .byOperator(id),
                entitlements: [Entitlement(feature: Key(checked: feature), allowance: allowance)],
                entity: entity.map { Key(checked: $0) }), to: Key(checked: customer),
            in: .production, by: Authorship(who: "a test", reason: "a test"))
    }

    static func units(_ count: Int64) -> Allowance { Quantity(count).map { .units($0) } ?? .access }

    private static let catalogue: Catalogue = {
        let text = """
            {"dsl": 1,
             "features": {"premium-content": {"type": "boolean"},
               "ai-generations": {"type": "metered"}, "analytics-event": {"type": "metered"},
               "exports": {"type": "metered"}, "upscales": {"type": "metered"},
               "credits": {"type": "creditSystem", "costs": {"upscales": 3}}},
             "products": {
               "pro": {"app_store": ["com.example.pro"], "entitlements": [
                 {"feature": "premium-content"}, {"feature": "exports", "allowance": "unlimited"},
                 {"feature": "ai-generations", "allowance": 10}]}}}
            """
        let outcome = CatalogueReader.read([.init(name: "c.json", bytes: Array(text.utf8))])
        guard let catalogue = outcome.catalogue else { fatalError("\(outcome.diagnostics)") }
        return catalogue
    }()

    private static func configuration(
        _ conninfo: String, root: String
    ) throws -> FeatureSettings {
        let json: JSONValue = [
            "allow_literal_secrets": true,
            "database": ["url": .string(conninfo), "pool": 4],
            "listen": ["public": "127.0.0.1:0", "admin": "127.0.0.1:0"],
            "keys": ["app": ["public_key": .string(key), "rate_per_second": 100_000]],
            "app_store": ["bundle_ids": ["com.example"], "roots": [.string(root)]],
        ]
        return try FeatureSettings.read(ConfigurationSource(bytes: json.bytes, environment: [:]))
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "wb") else { throw TransportFailure(description: path) }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    @Sendable private static func now() -> Instant {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Instant(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
    }
}
