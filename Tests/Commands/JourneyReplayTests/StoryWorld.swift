import Connectors
import Crypto
import JSON
import JourneyEngine
import JourneyModel
import JourneyStorage
import JourneyTurns
import Postgres
import Reactor
import TestMaterial
import TestSupport
import Testing
import TimeZones
import WorkflowDefinitions

/// A migrated database with the stores that a worker would use, and the command over it.
struct StoryWorld: Sendable {
    let settings: PostgresSettings
    let pool: PostgresPool
    let connector: Connector
    private let cache = DefinitionCache { try WorkflowParser.load(canonical: $0).definition }

    static func with(_ body: @escaping @Sendable (StoryWorld) async throws -> Void) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: JourneySchema.migrator) {
            settings, loop in
            let provider = try #require(ProviderDefinition.shipped(named: "revenuecat"))
            let connector = try Connector(
                name: "revenuecat", provider: provider,
                authentication: [Authentication(scheme: .none, secrets: [])],
                allowsUnauthenticated: true)
            let pool = PostgresPool(settings: settings, size: 2, loop: loop)
            do {
                try await body(
                    StoryWorld(settings: settings, pool: pool, connector: connector))
            } catch {
                await pool.close()
                throw error
            }
            await pool.close()
        }
    }

    /// Runs the command over this database.
    func run(_ words: String..., in world: ReplayWorld = ReplayWorld()) async throws -> Answer {
        try await world.run(["--database", settings.connectionString] + words)
    }

    /// The rows that the command prints as JSON.
    func rows(_ words: String...) async throws -> [JSONValue] {
        let answer = try await ReplayWorld().run(
            ["--database", settings.connectionString] + words + ["-o", "jsonl"])
        #expect(answer.code == 0, "\(answer.error)")
        return try answer.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    }

    func publishShipped() async throws {
        let answer = try await run(
            "publish", PackageFiles.path("Workflows"), "--yes", "--reason", "the test's")
        #expect(answer.code == 0, "\(answer.error)")
    }

    static func body(_ name: String) throws -> [UInt8] {
        try #require(
            Conformance.bytes(
                of: PackageFiles.path("Tests/Fixtures/webhooks/revenuecat/\(name).json")))
    }

    /// Stores a webhook and takes the customer's turn.
    /// - Parameter id: another id for the provider's event than the file's.
    func deliver(_ name: String, id: String? = nil) async throws {
        var body = try Self.body(name)
        if let id {
            var json = try JSONParser.parse(body).object ?? JSONObject()
            var event = json["event"]?.object ?? JSONObject()
            event["id"] = .string(id)
            json["event"] = .object(event)
            body = JSONValue.object(json).bytes
        }
        let envelope = connector.envelope(of: try JSONParser.parse(body))
        _ = try await DeliveryStore(pool: pool).store([
            ArrivedDelivery(
                connector: connector.name,
                providerEventID: Connector.deduplicationID(envelope, body: body),
                content: .body(body, digest: SHA256.digest(body)),
                environment: envelope.environment, person: envelope.person,
                occurredAt: envelope.occurredAt)
        ])
        try await takeTurns()
    }

    func takeTurns() async throws {
        _ = try await RoutingStore(pool: pool).route(limit: 100)
        let connectors = [connector.name: connector]
        let report = try await TurnStore(pool: pool, definitions: cache).turn(limit: 100) {
            TurnDecider(definitions: $1, connectors: connectors).decide($0)
        }
        #expect(report.failed.isEmpty, "\(report.failed)")
    }

    /// Makes one attempt of the effect that waits, and takes the turn of its result.
    func answerEffect() async throws {
        let store = EffectStore(pool: pool)
        let leased = try await store.lease([
            EffectCapacity(tool: "http", account: "crm", free: 10)
        ])
        #expect(leased.count == 1)
        _ = try await store.finish(
            leased.map {
                FinishedAttempt(
                    lease: $0, outcome: "200", next: .end(.succeeded(["status": 200])))
            })
        try await takeTurns()
    }
}
