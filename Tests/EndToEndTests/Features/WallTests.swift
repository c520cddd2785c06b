import FeatureLedger
import FeatureModel
import FeatureReading
import JSON
import JourneyStorage
import Postgres
import Reactor
import TestMaterial
import TestSupport
import Testing
import TimeZones

/// The wall between the houses: in the database's rights, in the programs, and in what webhooks do.
struct WallTests {
    /// A database with both schemas and the roles of `deploy/roles.sql`, and something on each side.
    private func withBothSides(
        _ body: @escaping @Sendable (PostgresSettings, EventLoop) async throws -> Void
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            try await JourneySchema.migrator.up(settings, on: loop)
            try await FeatureSchema.migrator.up(settings, on: loop)
            try await Roles.apply(settings, on: loop)
            let pool = PostgresPool(settings: settings, size: 1, loop: loop)
            let catalogues = CatalogueStore(pool: pool)
            _ = try await catalogues.publish(catalogue, by: "a test", reason: "a test")
            try await give(LedgerStore(pool: pool, catalogues: catalogues))
            await pool.close()
            try await body(settings, loop)
        }
    }

    private let catalogue = Catalogue(features: [
        Key(checked: "premium"): FeatureDefinition(key: Key(checked: "premium"), type: .boolean),
        Key(checked: "credits"): FeatureDefinition(
            key: Key(checked: "credits"), type: .creditSystem),
    ])

    private func give(_ ledger: LedgerStore, id: String = "g1") async throws {
        _ = try await ledger.grant(
            OperatorGrant(
                id: .byOperator(id),
                entitlements: [
                    Entitlement(feature: Key(checked: "premium"), allowance: .access),
                    Entitlement(
                        feature: Key(checked: "credits"),
                        allowance: .units(try #require(Quantity(10)))),
                ]), to: Key(checked: "user-1042"), in: .production,
            by: Authorship(who: "a test", reason: "a test"))
    }

    /// The SQLSTATE of a statement under a role; nil when it went through.
    private func state(
        of sql: String, as role: String, _ settings: PostgresSettings, _ loop: EventLoop
    ) async throws -> String? {
        let connection = try await PostgresConnection.connect(
            Roles.settings(settings, as: role), on: loop)
        var state: String?
        do throws(PostgresError) {
            _ = try await connection.query(SQLStatement("attempt", sql))
        } catch {
            state = error.sqlState ?? "none: \(error)"
        }
        await connection.close()
        return state
    }

    private func tables(
        of schema: String, _ settings: PostgresSettings, _ loop: EventLoop
    ) async throws -> [String] {
        let connection = try await PostgresConnection.connect(settings, on: loop)
        let rows = try await connection.query(
            SQLStatement(
                "tables",
                """
                select c.relname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
                where n.nspname = $1 and c.relkind in ('r', 'p', 'v') order by 1
                """), [.text(schema)])
        await connection.close()
        return try rows.map { try $0.string("relname") }
    }

    @Test func `the journey roles read one view and may do nothing else on the feature side`()
        async throws
    {
        try await withBothSides { settings, loop in
            let tables = try await tables(of: "features", settings, loop)
            #expect(tables.count == 9)
            for role in ["journey_worker", "journey_look", "journey_owner"] {
                for table in tables {
                    let name = "features.\(table)"
                    let mayRead = table == "access" && role != "journey_owner"
                    let read = try await state(
                        of: "select * from \(name)", as: role, settings, loop)
                    #expect(
                        read == (mayRead ? nil : "42501"), "\(role) reads \(name): \(read ?? "-")")
                    for sql in [
                        "delete from \(name)", "truncate \(name)",
                        "insert into \(name) default values",
                        "drop \(table == "access" ? "view" : "table") \(name)",
                    ] {
                        let found = try await state(of: sql, as: role, settings, loop)
                        // No right to truncate a view is needed: there is no such thing.
                        let isStopped =
                            found == "42501" || (table == "access" && sql.hasPrefix("truncate"))
                        #expect(isStopped, "\(role): \(sql): \(found ?? "done")")
                    }
                }
                for sql in [
                    "select features.forget('production', 'user-1042')",
                    "create table features.mine (id integer)",
                    "update features.access set allowed = true",
                    "update features.accounts set revision = 0",
                ] {
                    let found = try await state(of: sql, as: role, settings, loop)
                    #expect(
                        found == "42501",
                        "\(role): \(sql): \(found ?? "done")")
                }
            }
            let writes = [
                "update features.access_steps set allowed = true",
                "insert into features.entries values ('production', 'c', 1, now(), 'used', 'f', '', 1)",
                "delete from features.accounts", "update features.purchases set granted = true",
            ]
            for sql in writes {
                #expect(try await state(of: sql, as: "journey_worker", settings, loop) == "42501")
            }
        }
    }

    @Test func `the feature roles see nothing of the journey side`() async throws {
        try await withBothSides { settings, loop in
            let tables = try await tables(of: "journey", settings, loop)
            #expect(tables.count > 10)
            for role in ["feature_server", "feature_owner"] {
                for table in tables {
                    let found = try await state(
                        of: "select * from journey.\(table)", as: role, settings, loop)
                    #expect(found == "42501", "\(role) reads \(table)")
                }
            }
        }
    }

    @Test func `the worker's role reads access through the reader`() async throws {
        try await withBothSides { settings, loop in
            let pool = PostgresPool(
                settings: Roles.settings(settings, as: "journey_worker"), size: 1, loop: loop)
            let reader = AccessReader(pool: pool)
            let isInstalled = try await reader.isInstalled()
            #expect(isInstalled)
            let rows = try await reader.access(
                of: ["user-1042"], features: ["premium", "credits"], in: .production)
            #expect(rows.map(\.access.balance) == [10, nil])
            let page = try await reader.changed(since: Instant(milliseconds: 0), in: .production)
            #expect(page.rows.count == 2)
            await pool.close()
        }
    }

    @Test func `the server's role does all its work, and cannot change what the ledger says`()
        async throws
    {
        try await withBothSides { settings, loop in
            let pool = PostgresPool(
                settings: Roles.settings(settings, as: "feature_server"), size: 1, loop: loop)
            let catalogues = CatalogueStore(pool: pool)
            let ledger = LedgerStore(pool: pool, catalogues: catalogues)
            try await give(ledger, id: "g2")
            let command = ConsumeCommand(
                customer: Key(checked: "user-1042"), feature: Key(checked: "credits"),
                operation: Key(checked: "o1"), quantity: .one)
            let outcome = try await ledger.consume(command, in: .production)
            #expect(outcome != .conflict)
            let auditor = LedgerAuditor(pool: pool)
            let subject = LedgerAuditor.Subject(
                environment: .production, customer: Key(checked: "user-1042"))
            let findings = try await auditor.check(subject)
            #expect(findings.isEmpty)
            let author = Authorship(who: "a test", reason: "a test")
            _ = try await auditor.rebuild(subject, by: author)
            var more = catalogue
            more.features[Key(checked: "x")] = FeatureDefinition(
                key: Key(checked: "x"), type: .metered)
            _ = try await catalogues.publish(more, by: "a test", reason: "a test")
            for sql in [
                "update features.entries set amount = 0", "delete from features.entries",
                "update features.operations set fingerprint = ''",
                "delete from features.operations", "update features.catalogues set digest = ''",
                "delete from features.audit", "delete from features.purchases",
                "delete from features.accounts", "truncate features.entries",
                "update features.migrations set checksum = ''",
            ] {
                let found = try await state(of: sql, as: "feature_server", settings, loop)
                #expect(found == "42501", "\(sql): \(found ?? "done")")
            }
            let deleted = try await ledger.forget(
                Key(checked: "user-1042"), in: .production, by: author)
            #expect(deleted > 5)
            await pool.close()
        }
    }

    @Test func `no part of the ledger is linked into the journey side's programs`() throws {
        // Symbols name their module with its length, and are in the binary's table of names.
        let mark = Array("13FeatureLedger".utf8)
        for (program, expected) in [
            ("journey-worker", false), ("journey-replay", false), ("feature-server", true),
        ] {
            let bytes = try #require(Conformance.bytes(of: "\(Process.folder)/\(program)"))
            #expect(bytes.count > 1_000_000)
            #expect(holds(bytes, mark) == expected, "\(program)")
        }
    }

    private func holds(_ bytes: [UInt8], _ mark: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            let last = bytes.count - mark.count
            var place = 0
            while place <= last {
                if bytes[place] == mark[0],
                    mark.indices.allSatisfy({ bytes[place + $0] == mark[$0] })
                {
                    return true
                }
                place += 1
            }
            return false
        }
    }
}

/// `deploy/roles.sql` without psql.
enum Roles {
    static func apply(_ settings: PostgresSettings, on loop: EventLoop) async throws {
        let path = Webhook.root + "/deploy/roles.sql"
        guard let bytes = Conformance.bytes(of: path) else { throw World.Failure(what: path) }
        let connection = try await PostgresConnection.connect(settings, on: loop)
        let name = try await connection.query(
            SQLStatement("own_name", "select quote_ident(current_database()) as name")
        ).only().string("name")
        let sql = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("\\") }.joined(separator: "\n")
            .split(separator: ":\"DBNAME\"", omittingEmptySubsequences: false)
            .joined(separator: name)
        try await connection.simple(sql, name: "roles")
        await connection.close()
    }

    /// Sessions that act as a role from their start.
    static func settings(_ settings: PostgresSettings, as role: String) -> PostgresSettings {
        var settings = settings
        settings.connectionString += " options='-c role=\(role)'"
        return settings
    }
}
