import FeatureLedger
import FeatureModel
import JSON
import Locks
import Postgres
import Testing

struct AuditTests {
    private let subject = LedgerAuditor.Subject(
        environment: .production, customer: Key(checked: "c"))

    /// A customer with something of everything.
    private func live(in world: World) async throws {
        let start = Moment(milliseconds: 1_769_817_600_000)
        world.time.withLock { $0 = start }
        try await world.give("pro")
        try await world.give("coins", id: "g2")
        for number in 0..<8 {
            world.time.withLock {
                $0 = Moment(milliseconds: start.milliseconds + Int64(number) * 1_500_000)
            }
            _ = try await world.ledger.consume(
                world.command("generations", 4, operation: "o\(number)"), in: .production)
        }
        _ = try await world.ledger.revoke(
            .byOperator("g2"), of: subject.customer, in: .production, by: world.author)
        world.time.withLock { $0 = nil }
    }

    @Test func `what is kept is what the ledger makes, byte for byte`() async throws {
        try await World.with { world in
            try await live(in: world)
            let before = try await world.everything()
            #expect(before.count > 10)
            try await world.run(
                "truncate features.accounts; truncate features.access_steps")
            #expect(try await world.auditor.check(subject).count == 2)
            #expect(try await world.auditor.rebuild(subject, by: world.author))
            #expect(try await world.everything() == before)
            try await world.expectSound()
        }
    }

    @Test(arguments: [
        "update features.accounts set state = '{}'",
        "update features.access_steps set balance = balance + 1 where balance is not null",
        "update features.access_steps set changed_at = changed_at + interval '1 s'",
        "delete from features.access_steps where feature_id = 'premium'",
        """
        insert into features.access_steps select environment, customer_id, 'other', entity_id, step,
            valid_from, valid_until, changed_at, allowed, unlimited, balance, type
        from features.access_steps limit 1
        """,
        "update features.entries set amount = amount - 1 where kind = 'used'",
        "update features.entries set document = '{}' where kind = 'used'",
        "delete from features.entries where number = 2",
        "delete from features.operations where operation_id = 'o3'",
    ])
    func `tampering is found`(sql: String) async throws {
        try await World.with { world in
            try await live(in: world)
            #expect(try await world.auditor.check(subject).isEmpty)
            try await world.run(sql)
            #expect(try await !world.auditor.check(subject).isEmpty)
        }
    }

    @Test func `an account without a ledger is no account`() async throws {
        try await World.with { world in
            try await live(in: world)
            try await world.run("delete from features.entries")
            #expect(try await !world.auditor.check(subject).isEmpty)
            #expect(try await world.auditor.rebuild(subject, by: world.author))
            #expect(try await world.number("select count(*) from features.access_steps") == 0)
        }
    }

    @Test func `a person who was forgotten leaves nothing, and grants nobody else anything`()
        async throws
    {
        try await World.with { world in
            try await live(in: world)
            let ledger = world.ledger
            _ = try await ledger.record(
                world.purchase("t1", product: "coins"), for: subject.customer, in: .production)
            #expect(
                try await ledger.forget(subject.customer, in: .production, by: world.author) > 10)
            for table in ["accounts", "entries", "operations", "access_steps"] {
                #expect(try await world.number("select count(*) from features.\(table)") == 0)
            }
            let traces = try await world.texts(
                "select p::text as value from features.purchases as p")
            #expect(traces.count == 1)
            #expect(!traces[0].contains(",c,"))
            await #expect(throws: PurchaseRefusal.otherCustomer) {
                try await ledger.record(
                    world.purchase("t1", product: "coins"), for: Key(checked: "d"),
                    in: .production)
            }
            #expect(
                try await ledger.forget(subject.customer, in: .production, by: world.author) == 0)
        }
    }

    @Test func `every change by hand is told with who and why`() async throws {
        try await World.with { world in
            try await live(in: world)
            let rows = try await world.texts(
                "select verb || ' ' || who || ' ' || reason as value from features.audit order by id"
            )
            #expect(
                rows == [
                    "publish a test a test", "grant a test a test", "grant a test a test",
                    "revoke a test a test",
                ])
        }
    }

    @Test
    func `the same catalogue is published once, and one that takes a feature away is refused`()
        async throws
    {
        try await World.with { world in
            let again = try await world.catalogues.publish(
                World.catalogue, by: "a test", reason: "again")
            #expect(again.version == 1 && !again.isNew)
            var less = World.catalogue
            less.products = [:]
            less.features[Key(checked: "premium")] = nil
            await #expect(throws: PublishRefusal.self) {
                try await world.catalogues.publish(less, by: "a test", reason: "less")
            }
            var more = World.catalogue
            more.features[Key(checked: "exports")] = FeatureDefinition(
                key: Key(checked: "exports"), type: .metered)
            let next = try await world.catalogues.publish(more, by: "a test", reason: "more")
            #expect(next.version == 2 && next.isNew)
            #expect(try await world.catalogues.live().catalogue == more)
        }
    }

    @Test func `the schema's migrations are in order and their SQL stands`() async throws {
        try await World.with { world in
            let status = try await FeatureSchema.migrator.status(world.settings, on: world.loop)
            #expect(status.isCurrent)
            #expect(status.newest == 3)
        }
    }
}
