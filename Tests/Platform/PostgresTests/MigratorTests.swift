import Postgres
import Reactor
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct MigratorTests {
    private static let first = Migration(
        version: 1, name: "people", sql: "create table journey.people (id bigint, name text)")
    private static let second = Migration(
        version: 2, name: "people's names",
        sql: "create index concurrently if not exists people_name on journey.people (name)",
        runsOutsideTransaction: true)

    @Test func `up twice applies everything once`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let migrator = Migrator(migrations: [Self.first, Self.second])
            let before = try await migrator.status(settings, on: loop)
            #expect(before.current == 0 && before.pending == [Self.first, Self.second])
            let plan = try await migrator.plan(settings, on: loop)
            #expect(plan.contains("create table journey.people"))
            #expect(plan.contains("'people''s names'"))
            #expect(try await migrator.up(settings, on: loop) == [Self.first, Self.second])
            #expect(try await migrator.up(settings, on: loop).isEmpty)
            #expect(try await migrator.status(settings, on: loop).isCurrent)
        }
    }

    @Test func `the plan, run by hand, is the same as up`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let migrator = Migrator(migrations: [Self.first])
            let plan = try await migrator.plan(settings, on: loop)
            let connection = try await PostgresConnection.connect(settings, on: loop)
            try await connection.simple(plan)
            await connection.close()
            #expect(try await migrator.status(settings, on: loop).isCurrent)
        }
    }

    @Test func `two at once do not disturb each other`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let migrator = Migrator(migrations: [Self.first])
            async let one = migrator.up(settings, on: loop)
            async let two = migrator.up(settings, on: loop)
            let applied = try await one.count + two.count
            #expect(applied == 1)
        }
    }

    @Test func `an edited migration is refused`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            try await Migrator(migrations: [Self.first]).up(settings, on: loop)
            let edited = Migration(version: 1, name: "people", sql: "select 1")
            let error = await #expect(throws: PostgresError.self) {
                try await Migrator(migrations: [edited]).up(settings, on: loop)
            }
            #expect(error?.kind == .migration)
            #expect(error?.description.contains("edited afterwards") == true)
        }
    }

    @Test func `a schema newer than the program is refused`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            try await Migrator(migrations: [Self.first, Self.second]).up(settings, on: loop)
            let error = await #expect(throws: PostgresError.self) {
                try await Migrator(migrations: [Self.first]).up(settings, on: loop)
            }
            #expect(error?.description.contains("run the newer program") == true)
        }
    }

    @Test func `a migration that fails leaves nothing of itself`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let bad = Migration(
                version: 2, name: "bad", sql: "create table journey.half (); select 1 / 0")
            let migrator = Migrator(migrations: [Self.first, bad])
            let error = await #expect(throws: PostgresError.self) {
                try await migrator.up(settings, on: loop)
            }
            #expect(error?.sqlState == "22012")
            #expect(error?.description.contains("migration 2 (bad)") == true)
            let status = try await migrator.status(settings, on: loop)
            #expect(status.current == 1 && status.pending == [bad])
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let half = try await connection.query(
                SQLStatement("half", "select to_regclass('journey.half') is null as gone"))
            #expect(try half.only().bool("gone"))
            await connection.close()
        }
    }
}
