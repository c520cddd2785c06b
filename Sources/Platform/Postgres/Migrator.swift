internal import FailPoints
package import Reactor

/// Brings a schema forward, one transaction a migration, one process at a time.
///
/// What was applied is kept in `SCHEMA.migrations` with a checksum of its SQL. It needs a direct
/// connection: through pgbouncer in transaction mode the lock would not hold.
package struct Migrator: Sendable {
    package let schema: String
    package let migrations: [Migration]
    private let lockTimeout: Duration

    /// - Parameters:
    ///   - schema: of `[a-z_0-9]`; traps on others.
    ///   - lockTimeout: how long a migration waits for a table's lock before it gives up.
    package init(
        migrations: [Migration], schema: String = "journey", lockTimeout: Duration = .seconds(5)
    ) {
        precondition(
            schema.utf8.allSatisfy { $0 == 95 || (48...57 ~= $0) || (97...122 ~= $0) },
            "\(schema) is not a schema's name")
        let versions = migrations.map(\.version)
        precondition(
            versions.first ?? 1 == 1 && zip(versions, versions.dropFirst()).allSatisfy(<),
            "migrations must be numbered upwards from 1")
        self.schema = schema
        self.migrations = migrations
        self.lockTimeout = lockTimeout
    }

    /// Looks, and changes nothing.
    package func status(
        _ settings: PostgresSettings, on loop: EventLoop
    ) async throws(PostgresError) -> MigrationStatus {
        try await withConnection(settings, loop) { (connection) async throws(PostgresError) in
            try await status(connection)
        }
    }

    /// The SQL that ``up(_:on:)`` would run now, to be read or run by hand.
    package func plan(
        _ settings: PostgresSettings, on loop: EventLoop
    ) async throws(PostgresError) -> String {
        let status = try await status(settings, on: loop)
        var text = ""
        if status.current == 0 { text += bookkeeping + "\n\n" }
        for migration in status.pending {
            text += "-- \(migration.version) \(migration.name)\n"
            let body = migration.sql + "\n;\n" + record(migration) + ";\n"
            text += migration.runsOutsideTransaction ? body : "begin;\n" + body + "commit;\n"
            text += "\n"
        }
        return text
    }

    /// Applies what is pending; returns it. Two at once: the second waits and finds nothing to do.
    ///
    /// - Throws: kind `.migration` when the schema is newer than this program, when an applied migration
    ///   was edited, or when one fails (those before it stay).
    @discardableResult
    package func up(
        _ settings: PostgresSettings, on loop: EventLoop
    ) async throws(PostgresError) -> [Migration] {
        try await withConnection(settings, loop) { (connection) async throws(PostgresError) in
            try await apply(connection)
        }
    }

    // MARK: Steps

    private func withConnection<Value: Sendable>(
        _ settings: PostgresSettings, _ loop: EventLoop,
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        var direct = settings
        // An index may take long to build.
        direct.statementTimeout = .zero
        let connection = try await PostgresConnection.connect(direct, on: loop)
        do throws(PostgresError) {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    private func status(
        _ connection: PostgresConnection
    ) async throws(PostgresError) -> MigrationStatus {
        var applied: [Int: String] = [:]
        let table = "\(schema).migrations"
        let exists = try await connection.query(
            SQLStatement(
                named: "migrations_exist", "select to_regclass($1) is not null as there",
                isPrepared: false), [.text(table)])
        if try exists.only().bool("there") {
            let rows = try await connection.query(
                SQLStatement(
                    named: "migrations_read", "select version, checksum from \(table)",
                    isPrepared: false))
            for row in rows {
                applied[Int(try row.int32("version"))] = try row.string("checksum")
            }
        }
        return MigrationStatus(
            current: applied.keys.max() ?? 0, newest: migrations.last?.version ?? 0,
            pending: migrations.filter { applied[$0.version] == nil },
            changed: migrations.filter { migration in
                applied[migration.version].map { $0 != migration.checksum } ?? false
            })
    }

    private func apply(
        _ connection: PostgresConnection
    ) async throws(PostgresError) -> [Migration] {
        // The lock goes with the session. Another process may be building an index meanwhile.
        let lock = SQLStatement(
            named: "migrations_lock", "select pg_advisory_lock(hashtextextended($1, 0))",
            timeout: .seconds(600), isPrepared: false)
        _ = try await connection.query(lock, [.text("migrations of " + schema)])
        let status = try await status(connection)
        try refuse(status)
        if status.pending.isEmpty { return [] }
        try await connection.simple(
            "set lock_timeout = '\(lockTimeout.components.seconds * 1_000)ms'; "
                + (status.current == 0 ? bookkeeping : ""), name: "migrations_bookkeeping")
        for migration in status.pending { try await apply(migration, connection) }
        return status.pending
    }

    private func refuse(_ status: MigrationStatus) throws(PostgresError) {
        if status.isNewer {
            throw PostgresError(
                kind: .migration,
                message: "schema \(schema) is at version \(status.current), which is newer than "
                    + "the \(status.newest) of this program: run the newer program")
        }
        if let changed = status.changed.first {
            throw PostgresError(
                kind: .migration,
                message: "migration \(changed.version) (\(changed.name)) was applied to schema "
                    + "\(schema) and edited afterwards: restore it and add a new migration")
        }
    }

    private func apply(
        _ migration: Migration, _ connection: PostgresConnection
    ) async throws(PostgresError) {
        let limit = Duration.seconds(3_600)
        do throws(PostgresError) {
            if migration.runsOutsideTransaction {
                try await connection.simple(migration.sql, name: "migration", timeout: limit)
                failPoint("migrate.changed")
                try await connection.simple(record(migration), name: "migration_record")
            } else {
                try await connection.simple("begin", name: "begin")
                try await connection.simple(migration.sql, name: "migration", timeout: limit)
                failPoint("migrate.changed")
                try await connection.simple(record(migration), name: "migration_record")
                try await connection.simple("commit", name: "commit")
            }
        } catch {
            // The session ends here, and the open transaction with it.
            var failure = error
            failure.kind = error.isConnectionFailure ? error.kind : .migration
            failure.message =
                "migration \(migration.version) (\(migration.name)) of schema \(schema) failed: "
                + error.message
            throw failure
        }
    }

    private var bookkeeping: String {
        """
        create schema if not exists \(schema);
        create table if not exists \(schema).migrations (
            version integer primary key,
            name text not null,
            checksum text not null,
            applied_at timestamptz not null default now()
        );
        """
    }

    private func record(_ migration: Migration) -> String {
        let name = migration.name.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        return "insert into \(schema).migrations (version, name, checksum) values "
            + "(\(migration.version), '\(name)', '\(migration.checksum)')"
    }
}
