import FeatureLedger
import FeatureModel
import JSON
import Locks
import Postgres
import Reactor
import TestSupport
import Testing
import TimeZones

/// A migrated database of one test's own with a catalogue, and a ledger that lives at a time of the
/// test's choice.
struct World: Sendable {
    let settings: PostgresSettings
    let loop: EventLoop
    let pool: PostgresPool
    /// Nil is the database's time.
    let time = Guarded<Moment?>(nil)

    var catalogues: CatalogueStore { CatalogueStore(pool: pool) }
    var auditor: LedgerAuditor { LedgerAuditor(pool: pool) }
    let author = Authorship(who: "a test", reason: "a test")

    static func with(
        connections: Int = 4, _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: FeatureSchema.migrator) {
            settings, loop in
            let pool = PostgresPool(settings: settings, size: connections, loop: loop)
            let world = World(settings: settings, loop: loop, pool: pool)
            do {
                _ = try await world.catalogues.publish(
                    catalogue, by: "a test", reason: "a test")
                try await body(world)
            } catch {
                await pool.close()
                throw error
            }
            await pool.close()
        }
    }

    static let catalogue: Catalogue = {
        let text = """
            {"dsl": 1,
             "features": {"premium": {"type": "boolean"}, "generations": {"type": "metered"},
               "credits": {"type": "creditSystem", "costs": {"generations": 2}}},
             "products": {
               "pro": {"app_store": ["pro.monthly"], "entitlements": [{"feature": "premium"},
                 {"feature": "generations", "allowance": 10, "interval": "hour"}]},
               "coins": {"app_store": ["coins"], "entitlements": [
                 {"feature": "credits", "allowance": 1000}]}}}
            """
        let outcome = CatalogueReader.read([.init(name: "c.json", bytes: Array(text.utf8))])
        guard let catalogue = outcome.catalogue else { fatalError("\(outcome.diagnostics)") }
        return catalogue
    }()

    /// A ledger; its time is the world's if that is set when it is made.
    var ledger: LedgerStore {
        guard let fixed = time.withLock({ $0 }) else {
            return LedgerStore(pool: pool, catalogues: catalogues)
        }
        return LedgerStore(pool: pool, catalogues: catalogues) { fixed }
    }

    @discardableResult
    func give(
        _ product: String, to customer: String = "c", id: String = "g1",
        in environment: LedgerEnvironment = .production
    ) async throws -> LedgerStore.View {
        let found = try #require(Self.catalogue.products[Key(checked: product)])
        return try await ledger.grant(
            OperatorGrant(id: .byOperator(id), entitlements: found.entitlements),
            to: Key(checked: customer), in: environment, by: author)
    }

    func command(
        _ feature: String, _ units: Int64, operation: String, customer: String = "c"
    ) throws -> ConsumeCommand {
        ConsumeCommand(
            customer: Key(checked: customer), feature: Key(checked: feature),
            operation: Key(checked: operation), quantity: try #require(Quantity(units)))
    }

    func purchase(
        _ id: String, product: String, changes: JSONObject = JSONObject()
    ) throws -> VerifiedPurchase {
        var json = JSONObject([
            ("transactionId", .string(id)), ("originalTransactionId", .string(id)),
            ("bundleId", "com.example"), ("productId", .string(product)),
            ("environment", "Production"), ("purchaseDate", .integer(Int64(1_769_817_600_000))),
            ("signedDate", .integer(Int64(1_769_817_600_000))),
        ])
        for (name, value) in changes { json[name] = value }
        return VerifiedPurchase(
            transaction: try AppStoreTransaction(payload: .object(json)), payload: .object(json))
    }

    func balance(_ feature: String, of customer: String = "c") async throws -> Int? {
        let view = try await ledger.view(of: Key(checked: customer), in: .production)
        return view.account.access(
            to: Key(checked: feature), in: view.catalogue, at: view.now
        ).access.balance
    }

    /// Whatever everyone's accounts, steps and entries are, as text.
    func everything() async throws -> [String] {
        try await texts(
            """
            select a::text as value from features.accounts as a
            union all select s::text from features.access_steps as s
            union all select e::text from features.entries as e order by 1
            """)
    }

    func texts(_ sql: String) async throws -> [String] {
        try await question(sql).map { try $0.stringOrNil("value") ?? "null" }
    }

    func number(_ expression: String) async throws -> Int64 {
        try await question("select (\(expression))::bigint as value").only().int64("value")
    }

    /// On a connection of its own: a name stands for one text on each.
    private func question(_ sql: String) async throws -> PostgresRows {
        let connection = try await PostgresConnection.connect(settings, on: loop)
        let result: Result<PostgresRows, any Error>
        do {
            result = .success(try await connection.query(SQLStatement("question", sql)))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    func run(_ sql: String) async throws {
        let connection = try await PostgresConnection.connect(settings, on: loop)
        do { try await connection.simple(sql) } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// Expects that every customer is as their ledger says, and that rebuilding changes nothing.
    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let before = try await everything()
        for environment in LedgerEnvironment.allCases {
            for subject in try await auditor.subjects(in: environment, after: nil) {
                let findings = try await auditor.check(subject)
                #expect(findings.isEmpty, sourceLocation: sourceLocation)
                let isChanged = try await auditor.rebuild(subject, by: author)
                #expect(!isChanged, sourceLocation: sourceLocation)
            }
        }
        let after = try await everything()
        #expect(before == after, sourceLocation: sourceLocation)
    }
}

extension LedgerStore.ConsumeOutcome {
    var receipt: Receipt? { if case .decided(let receipt, _) = self { receipt } else { nil } }
    var isReplay: Bool { if case .decided(_, let isReplay) = self { isReplay } else { false } }
}
