import FeatureLedger
import FeatureModel
import FeatureReading
import Postgres
import Reactor
import TestSupport
import Testing
import TimeZones

struct AccessReaderTests {
    /// A ledger that lives at some time before now, and a reader that lives now.
    private func with(
        ago milliseconds: Int64,
        _ body: @escaping @Sendable (LedgerStore, AccessReader, PostgresPool) async throws -> Void
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: FeatureSchema.migrator) {
            settings, loop in
            let pool = PostgresPool(settings: settings, size: 4, loop: loop)
            do {
                let clock = SQLStatement("test_now", "select clock_timestamp() as now")
                let now = try await pool.query(clock).only().instant("now").milliseconds
                let catalogues = CatalogueStore(pool: pool)
                _ = try await catalogues.publish(Self.catalogue, by: "a test", reason: "a test")
                let ledger = LedgerStore(pool: pool, catalogues: catalogues) {
                    Moment(milliseconds: now - milliseconds)
                }
                try await body(ledger, AccessReader(pool: pool), pool)
            } catch {
                await pool.close()
                throw error
            }
            await pool.close()
        }
    }

    private static let catalogue = Catalogue(features: [
        Key(checked: "premium"): FeatureDefinition(key: Key(checked: "premium"), type: .boolean),
        Key(checked: "generations"): FeatureDefinition(
            key: Key(checked: "generations"), type: .metered),
    ])

    private func give(
        _ ledger: LedgerStore, to customer: String = "c", units: Int64 = 10,
        interval: ResetInterval.Unit? = .hour, entity: String? = nil, endsAt: Moment? = nil,
        id: String = "g1", in environment: LedgerEnvironment = .production
    ) async throws {
        let size = try #require(Quantity(units))
        _ = try await ledger.grant(
            OperatorGrant(
                id: .byOperator(id),
                entitlements: [
                    Entitlement(feature: Key(checked: "premium"), allowance: .access),
                    Entitlement(
                        feature: Key(checked: "generations"), allowance: .units(size),
                        interval: interval.flatMap { ResetInterval($0) }),
                ], entity: entity.map { Key(checked: $0) }, endsAt: endsAt),
            to: Key(checked: customer), in: environment,
            by: Authorship(who: "a test", reason: "a test"))
    }

    private func use(_ ledger: LedgerStore, _ units: Int64, operation: String = "o1") async throws {
        _ = try await ledger.consume(
            ConsumeCommand(
                customer: Key(checked: "c"), feature: Key(checked: "generations"),
                operation: Key(checked: operation), quantity: try #require(Quantity(units))),
            in: .production)
    }

    private func rows(
        _ reader: AccessReader, customers: [String] = ["c"]
    ) async throws -> [AccessRow] {
        try await reader.access(
            of: customers, features: ["generations", "premium", "other"], in: .production)
    }

    @Test func `one statement answers for several customers and features`() async throws {
        try await with(ago: 0) { ledger, reader, _ in
            try await give(ledger)
            try await give(ledger, to: "d", units: 5)
            try await give(ledger, to: "d", units: 2, entity: "project-a", id: "g2")
            try await give(ledger, to: "e", in: .sandbox)
            let rows = try await rows(reader, customers: ["c", "d", "e", "nobody"])
            #expect(
                rows.map { "\($0.customer) \($0.feature) \($0.entity ?? "-")" } == [
                    "c generations -", "c premium -", "d generations -",
                    "d generations project-a", "d premium -", "d premium project-a",
                ])
            #expect(rows.map(\.access.balance) == [10, nil, 5, 2, nil, nil])
            #expect(!rows.contains { !$0.access.allowed })
            #expect(rows.map(\.access.type).filter { $0 == .boolean }.count == 3)
        }
    }

    @Test func `an allowance is whole again when it is read, although nobody wrote`() async throws {
        try await with(ago: 3_700_000) { ledger, reader, _ in
            try await give(ledger)
            try await use(ledger, 10)
            let row = try #require(try await rows(reader).first)
            #expect(row.access.balance == 10)
            #expect(row.access.allowed)
            #expect(row.changesAt == nil)
            let written = try await ledger.view(of: Key(checked: "c"), in: .production).now
            #expect(row.changedAt.milliseconds == written.milliseconds + 3_600_000)
        }
    }

    @Test func `before the reset the reader knows when it will be`() async throws {
        try await with(ago: 60_000) { ledger, reader, _ in
            try await give(ledger)
            try await use(ledger, 4)
            let row = try #require(try await rows(reader).first)
            let written = try await ledger.view(of: Key(checked: "c"), in: .production).now
            #expect(row.access.balance == 6)
            #expect(row.changedAt.milliseconds == written.milliseconds)
            #expect(row.changesAt?.milliseconds == written.milliseconds + 3_600_000)
        }
    }

    @Test func `an end is seen when it has come`() async throws {
        try await with(ago: 60_000) { ledger, reader, _ in
            let written = try await ledger.view(of: Key(checked: "c"), in: .production).now
            try await give(
                ledger, endsAt: Moment(milliseconds: written.milliseconds + 30_000))
            let rows = try await rows(reader)
            #expect(rows.map(\.access.allowed) == [false, false])
            #expect(rows.allSatisfy { $0.changedAt.milliseconds == written.milliseconds + 30_000 })
        }
    }

    @Test func `changes by time are heard of like those that were written`() async throws {
        try await with(ago: 3_700_000) { ledger, reader, _ in
            try await give(ledger)
            try await use(ledger, 10)
            let written = try await ledger.view(of: Key(checked: "c"), in: .production).now
            let atWriting = Instant(milliseconds: written.milliseconds)
            let page = try await reader.changed(since: atWriting, in: .production)
            // `premium` as it was written; `generations` as it became by itself.
            #expect(page.rows.map(\.feature) == ["premium", "generations"])
            let later = try await reader.changed(
                since: Instant(milliseconds: written.milliseconds + 1), in: .production)
            #expect(later.rows.map(\.feature) == ["generations"])
            let after = try await reader.changed(
                since: Instant(milliseconds: written.milliseconds + 3_600_001), in: .production)
            #expect(after.rows.isEmpty)
            #expect(try await reader.changed(since: atWriting, in: .sandbox).rows.isEmpty)
        }
    }

    @Test func `pages of changes follow each other without a gap or a double`() async throws {
        try await with(ago: 0) { ledger, reader, _ in
            for number in 0..<7 { try await give(ledger, to: "c\(number)") }
            var found: [String] = []
            var cursor: AccessCursor?
            repeat {
                let page = try await reader.changed(
                    since: Instant(milliseconds: 0), after: cursor, limit: 3, in: .production)
                found += page.rows.map { "\($0.customer) \($0.feature)" }
                cursor = page.next
            } while cursor != nil
            #expect(found.count == 14)
            #expect(Set(found).count == 14)
        }
    }

    @Test func `changes are found by the index, without a walk over what is yet to happen`()
        async throws
    {
        try await with(ago: 0) { ledger, _, pool in
            try await give(ledger)
            let plan = try await pool.pipeline([
                (SQLStatement("test_off", "set local enable_seqscan = off"), []),
                (
                    SQLStatement(
                        "test_explain",
                        """
                        explain select customer_id from features.access
                        where environment = 'production' and changed_at >= now()
                            and changed_at <= (select clock_timestamp())
                        """), []
                ),
            ])
            let text = try plan[1].map { try $0.string(0) }.joined(separator: "\n")
            #expect(text.contains("access_steps_by_change"), "\(text)")
            let condition = text.split(separator: "\n").first { $0.contains("Index Cond") } ?? ""
            #expect(condition.contains("changed_at >=") && condition.contains("changed_at <="))
        }
    }

    @Test func `a database without a feature side says so`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 1, loop: loop)
            let reader = AccessReader(pool: pool)
            #expect(try await !reader.isInstalled())
            try await FeatureSchema.migrator.up(settings, on: loop)
            #expect(try await reader.isInstalled())
            await pool.close()
        }
    }
}
