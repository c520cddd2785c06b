import FeatureLedger
import FeatureModel
import Glibc
import HTTPClient
import JSON
import Locks
import Postgres
import Reactor
import TestSupport
import Testing
import TimeZones

/// A migrated feature side with a catalogue, and processes of `feature-server` on it.
struct FeatureWorld: Sendable {
    let loop: EventLoop
    let conninfo: String
    let pool: PostgresPool
    let http: HTTPTransport
    let folder: String

    static let key = "pk_live_end_to_end"

    static func with(_ body: @escaping @Sendable (FeatureWorld) async throws -> Void) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: FeatureSchema.migrator) {
            settings, loop in
            try await TemporaryFolder.with { folder in
                let world = FeatureWorld(
                    loop: loop, conninfo: settings.connectionString,
                    pool: PostgresPool(settings: settings, size: 2, loop: loop),
                    http: HTTPTransport(loop: loop, userAgent: "end-to-end-tests"), folder: folder)
                let result: Result<Void, any Error>
                do {
                    _ = try await CatalogueStore(pool: world.pool).publish(
                        catalogue, by: "a test", reason: "a test")
                    try Process.write(world.configuration, to: "\(folder)/config.json")
                    result = .success(try await body(world))
                } catch {
                    result = .failure(error)
                }
                await world.http.shutdown()
                await world.pool.close()
                try result.get()
            }
        }
    }

    private static let catalogue: Catalogue = {
        let text = """
            {"dsl": 1,
             "features": {"credits": {"type": "creditSystem"}, "premium": {"type": "boolean"}},
             "products": {
               "coins": {"app_store": ["coins"], "entitlements": [
                 {"feature": "credits", "allowance": 1000}]},
               "pro": {"entitlements": [{"feature": "premium"}]}}}
            """
        let outcome = CatalogueReader.read([.init(name: "c.json", bytes: Array(text.utf8))])
        guard let catalogue = outcome.catalogue else { fatalError("\(outcome.diagnostics)") }
        return catalogue
    }()

    private var configuration: JSONValue {
        [
            "allow_literal_secrets": true,
            "database": ["url": .string(conninfo), "pool": 8],
            "listen": ["public": "127.0.0.1:0", "admin": "127.0.0.1:0"],
            "keys": [
                "app": [
                    "public_key": .string(Self.key), "rate_per_second": 100_000, "burst": 100_000,
                ]
            ],
        ]
    }

    /// Runs the program to its end.
    func run(_ words: String...) async throws -> (code: Int32, output: String, errors: String) {
        try await run(words)
    }

    func serve(_ name: String) throws -> Process {
        try Process(
            ["serve", "--config", "\(folder)/config.json"], of: "feature-server", in: folder,
            name: name)
    }

    /// The port of a server that is ready; waits at most twenty seconds.
    func port(of process: Process, _ key: String = "port") async throws -> UInt16 {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            if let port = process.port(key) { return port }
            if let code = process.code { throw World.Failure(what: "\(code): \(process.errors)") }
            try await loop.sleep(for: .milliseconds(5))
        }
        throw World.Failure(what: "not ready: \(process.errors)")
    }

    func post(
        _ path: String, _ body: JSONValue, port: UInt16, timeout: Duration = .seconds(10)
    ) async throws -> (status: Int, json: JSONValue) {
        var members = body.object ?? JSONObject()
        members["apiKey"] = .string(Self.key)
        let answer = try await http.send(
            HTTPCall(
                method: "POST", url: "http://127.0.0.1:\(port)\(path)",
                headers: [HTTPHeaderField(name: "Content-Type", value: "application/json")],
                body: JSONValue.object(members).bytes, timeout: timeout,
                destination: DestinationPolicy(allowsPrivate: true)))
        return (answer.status, answer.json)
    }

    func give(_ product: String, to customer: String) async throws {
        let catalogues = CatalogueStore(pool: pool)
        let found = try #require(
            try await catalogues.live().catalogue.products[ProductKey(checked: product)])
        _ = try await LedgerStore(pool: pool, catalogues: catalogues).grant(
            OperatorGrant(id: .byOperator("g-\(product)"), entitlements: found.entitlements),
            to: CustomerKey(checked: customer), in: .production,
            by: Authorship(who: "a test", reason: "a test"))
    }

    /// All that follows from the ledger, as text.
    func projection() async throws -> [String] {
        try await FeatureProjection.read(conninfo, on: loop)
    }

    func number(_ expression: String) async throws -> Int64 {
        let connection = try await PostgresConnection.connect(
            PostgresSettings(connectionString: conninfo), on: loop)
        let rows = try await connection.query(
            SQLStatement("question", "select (\(expression))::bigint as value"))
        await connection.close()
        return try rows.only().int64("value")
    }
}

/// The feature side as it stands in a database, row by row.
enum FeatureProjection {
    static func read(_ conninfo: String, on loop: EventLoop) async throws -> [String] {
        let connection = try await PostgresConnection.connect(
            PostgresSettings(connectionString: conninfo), on: loop)
        let rows = try await connection.query(
            SQLStatement(
                "projection",
                """
                select 'a ' || a::text as value from features.accounts as a
                union all select 's ' || s::text from features.access_steps as s
                union all select 'e ' || e::text from features.entries as e
                union all select 'o ' || o::text from features.operations as o
                union all select 'p ' || p::text from features.purchases as p
                order by 1
                """))
        await connection.close()
        return try rows.map { try $0.string("value") }
    }
}

extension FeatureWorld {
    func run(_ words: [String]) async throws -> (code: Int32, output: String, errors: String) {
        let process = try Process(
            words + ["--config", "\(folder)/config.json"], of: "feature-server", in: folder,
            name: "verb")
        let end = ContinuousClock.now + .seconds(60)
        while process.code == nil, ContinuousClock.now < end {
            try await loop.sleep(for: .milliseconds(10))
        }
        return (process.code ?? -1, process.output, process.errors)
    }

    func change(_ sql: String) async throws {
        let connection = try await PostgresConnection.connect(
            PostgresSettings(connectionString: conninfo), on: loop)
        try await connection.simple(sql)
        await connection.close()
    }

    func clearCatalogue() async throws {
        try await change("truncate features.catalogues, features.audit")
    }

    func get(_ url: String) async throws -> (status: Int, text: String) {
        let answer = try await http.send(
            HTTPCall(
                method: "GET", url: url, timeout: .seconds(15),
                destination: DestinationPolicy(allowsPrivate: true)))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }
}
