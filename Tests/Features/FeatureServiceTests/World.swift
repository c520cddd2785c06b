import Configuration
import FeatureLedger
import FeatureModel
import HTTPServer
import JSON
import Postgres
import Reactor
import Telemetry
import TestSupport
import Testing

@testable import FeatureService

/// The endpoints over a database of one test's own.
struct World: Sendable {
    let settings: PostgresSettings
    let loop: EventLoop
    let pool: PostgresPool
    let ledger: LedgerStore
    let endpoints: FeatureEndpoints
    let metrics: Metrics

    static let key = "pk_test_production"
    static let sandboxKey = "pk_test_sandbox"
    /// When everything happens here, unless a test says otherwise: that of the public cases.
    static let now: Int64 = 1_789_285_000_000

    static func with(
        at milliseconds: Int64? = now, mostInFlight: Int = 64, ratePerSecond: Int = 100_000,
        burst: Int = 100_000, roots: [[UInt8]]? = [AppStoreSigner.shared.root],
        catalogue: Catalogue = World.catalogue,
        _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: FeatureSchema.migrator) {
            settings, loop in
            let pool = PostgresPool(settings: settings, size: 4, loop: loop)
            let catalogues = CatalogueStore(pool: pool)
            let ledger: LedgerStore
            if let milliseconds {
                ledger = LedgerStore(pool: pool, catalogues: catalogues) {
                    Moment(milliseconds: milliseconds)
                }
            } else {
                ledger = LedgerStore(pool: pool, catalogues: catalogues)
            }
            let metrics = Metrics()
            let keys = try keys(ratePerSecond: ratePerSecond, burst: burst)
            let world = World(
                settings: settings, loop: loop, pool: pool, ledger: ledger,
                endpoints: FeatureEndpoints(
                    ledger: ledger, keys: keys,
                    judge: PurchaseJudge(bundleIDs: ["com.example"], roots: roots),
                    mostInFlight: mostInFlight, metrics: FeatureMetrics(metrics), log: .silent,
                    nowMilliseconds: { now }), metrics: metrics)
            do {
                _ = try await catalogues.publish(catalogue, by: "a test", reason: "a test")
                try await body(world)
            } catch {
                await pool.close()
                throw error
            }
            await pool.close()
        }
    }

    private static func keys(ratePerSecond: Int, burst: Int) throws -> [String: KeySettings] {
        let json: JSONValue = [
            "allow_literal_secrets": true, "database": ["url": "unused"],
            "keys": [
                "app": [
                    "public_key": .string(key), "rate_per_second": .integer(ratePerSecond),
                    "burst": .integer(burst),
                ],
                "testers": ["public_key": .string(sandboxKey), "environment": "sandbox"],
            ],
        ]
        return try FeatureSettings.read(
            ConfigurationSource(bytes: json.bytes, environment: [:])
        ).keys
    }

    static let catalogue = read(
        """
        {"dsl": 1,
         "features": {"premium": {"type": "boolean"}, "credits": {"type": "metered"},
           "wallet": {"type": "creditSystem", "costs": {"upscales": 3}},
           "upscales": {"type": "metered"}},
         "products": {
           "pro": {"app_store": ["com.example.pro", "com.example.pro.monthly"], "entitlements": [
             {"feature": "premium"},
             {"feature": "credits", "allowance": 100, "interval": "month"}]},
           "pro-yearly": {"app_store": ["com.example.pro.yearly"], "entitlements": [
             {"feature": "premium"}]},
           "coins": {"app_store": ["com.example.coins", "coins_100"], "entitlements": [
             {"feature": "wallet", "allowance": 100}]}}}
        """)

    static func read(_ text: String) -> Catalogue {
        let outcome = CatalogueReader.read([.init(name: "c.json", bytes: Array(text.utf8))])
        guard let catalogue = outcome.catalogue else { fatalError("\(outcome.diagnostics)") }
        return catalogue
    }

    /// Posts a body, with the key unless it brings one.
    func post(
        _ path: String, _ body: JSONValue, headers: HTTPFields = []
    ) async -> (status: Int, json: JSONValue, response: HTTPResponse) {
        var members = body.object ?? JSONObject()
        if members["apiKey"] == nil { members["apiKey"] = .string(Self.key) }
        return await postRaw(path, JSONValue.object(members).bytes, headers: headers)
    }

    func postRaw(
        _ path: String, _ bytes: [UInt8], headers: HTTPFields = [], method: String = "POST"
    ) async -> (status: Int, json: JSONValue, response: HTTPResponse) {
        let response = await endpoints.answer(
            HTTPRequest(method: method, target: path, headers: headers, body: bytes))
        let json = (try? JSONParser.parse(response.body)) ?? .null
        return (response.status, json, response)
    }

    func consume(
        _ feature: String, _ units: Int64, operation: String, changes: JSONObject = JSONObject()
    ) async -> (status: Int, json: JSONValue) {
        var json = JSONObject([
            ("customerId", "customer"), ("featureId", .string(feature)),
            ("operationId", .string(operation)), ("quantity", .integer(units)),
        ])
        for (name, value) in changes { json[name] = value }
        let answer = await post("/feature/consume", .object(json))
        return (answer.status, answer.json)
    }

    func give(
        _ feature: String, _ allowance: Allowance, entity: String? = nil, id: String = "g1"
    ) async throws {
        _ = try await ledger.grant(
            OperatorGrant(
                id: .byOperator(id),
                entitlements: [Entitlement(feature: Key(checked: feature), allowance: allowance)],
                entity: entity.map { Key(checked: $0) }), to: Key(checked: "customer"),
            in: .production, by: Authorship(who: "a test", reason: "a test"))
    }

    func number(_ expression: String) async throws -> Int64 {
        // On a connection of its own: a name stands for one text on each.
        let connection = try await PostgresConnection.connect(settings, on: loop)
        let result: Result<PostgresRows, any Error>
        do {
            let text = "select (\(expression))::bigint as value"
            result = .success(try await connection.query(SQLStatement("question", text)))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get().only().int64("value")
    }
}
