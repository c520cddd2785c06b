package import Postgres

/// The schema `journey`: its migrations, and the partitions that are made ahead of time.
package enum JourneySchema {
    /// Append-only: a released migration is never edited.
    package static let migrations: [Migration] = [
        migration(1, "definitions", PackageResources.m0001_definitions_sql),
        migration(2, "arrivals", PackageResources.m0002_arrivals_sql),
        migration(3, "runs", PackageResources.m0003_runs_sql),
        migration(4, "effects", PackageResources.m0004_effects_sql),
        migration(5, "partitions", PackageResources.m0005_partitions_sql),
    ]

    /// Brings the schema forward or says where it stands.
    package static let migrator = Migrator(migrations: migrations, schema: "journey")

    /// Makes the monthly partitions from this month on; the worker asks for it daily.
    /// - Parameter monthsAhead: 0 to 24.
    /// A table whose partitions cannot be made now, such as one that somebody locks, is left for the
    /// next call; the others are made.
    /// - Returns: how many partitions were made.
    @discardableResult
    package static func ensurePartitions(
        monthsAhead: Int = 3, _ pool: PostgresPool
    ) async throws(PostgresError) -> Int {
        precondition((0...24).contains(monthsAhead), "\(monthsAhead) months ahead")
        do {
            return try await pool.withTransaction { tx in
                // The session's own limit is for short statements; it would end this one.
                _ = try await tx.query(allowingTime, [])
                let row = try await tx.query(ensuring, [.int4(Int32(monthsAhead))]).only()
                return Int(try row.int32("made"))
            }
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(kind: .cancelled, message: String(describing: error))
        }
    }

    /// Whether the database takes no writes now: a standby, or set read-only.
    package static func isReadOnly(_ pool: PostgresPool) async throws(PostgresError) -> Bool {
        try await pool.query(askingReadOnly, []).only().bool("is_read_only")
    }

    private static let askingReadOnly = SQLStatement(
        "schema_read_only",
        """
        select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean
            as is_read_only
        """, timeout: .seconds(5))

    private static func migration(_ version: Int, _ name: String, _ sql: [UInt8]) -> Migration {
        Migration(version: version, name: name, sql: String(decoding: sql, as: UTF8.self))
    }

    private static let allowingTime = SQLStatement(
        "partitions_allow_time",
        """
        set local statement_timeout = '60s'
        """)

    private static let ensuring = SQLStatement(
        "partitions_ensure",
        """
        select journey.ensure_partitions($1) as made
        """, timeout: .seconds(60))
}
