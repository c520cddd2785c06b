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
        migration(6, "customer_state", PackageResources.m0006_customer_state_sql),
        migration(7, "entries", PackageResources.m0007_entries_sql),
        migration(8, "segments", PackageResources.m0008_segments_sql),
        migration(10, "effect limits", PackageResources.m0010_effect_limits_sql),
        concurrent(11, "effect leases", PackageResources.m0011_effect_leases_sql),
        migration(12, "late events", PackageResources.m0012_late_events_sql),
        migration(13, "processes", PackageResources.m0013_processes_sql),
        migration(14, "messages", PackageResources.m0014_messages_sql),
        migration(15, "identity", PackageResources.m0015_identity_sql),
        concurrent(
            16, "forwarded customers", PackageResources.m0016_forwarded_customers_sql),
        concurrent(
            17, "entry values by customer", PackageResources.m0017_entry_values_by_customer_sql),
        migration(18, "transfers", PackageResources.m0018_transfers_sql),
        migration(21, "connector activity", PackageResources.m0021_connector_activity_sql),
        migration(23, "batches", PackageResources.m0023_batches_sql),
        concurrent(
            24, "unassigned deliveries", PackageResources.m0024_unassigned_deliveries_sql),
        migration(25, "retention", PackageResources.m0025_retention_sql),
        concurrent(26, "old delivery ids", PackageResources.m0026_old_delivery_ids_sql),
        concurrent(27, "old event ids", PackageResources.m0027_old_event_ids_sql),
        migration(30, "feature watch", PackageResources.m0030_feature_watch_sql),
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

    /// Name of the connections of workers that hold effects back, by which others see that they do.
    package static let holdingName = "journey-worker, holding effects"

    /// What a health check wants to know, in one round trip on a connection that is there already.
    package static func standing(
        _ pool: PostgresPool
    ) async throws(PostgresError) -> (status: MigrationStatus, isReadOnly: Bool) {
        let answers = try await pool.pipeline([(askingReadOnly, []), (readingVersions, [])])
        var applied: Set<Int> = []
        for row in answers[1] { applied.insert(Int(try row.int32("version"))) }
        let status = MigrationStatus(
            current: applied.max() ?? 0, newest: migrations.last?.version ?? 0,
            pending: migrations.filter { !applied.contains($0.version) }, changed: [])
        return (status, try answers[0].only().bool("is_read_only"))
    }

    private static let askingReadOnly = SQLStatement(
        "schema_read_only",
        """
        select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean
            as is_read_only
        """, timeout: .seconds(5))

    private static let readingVersions = SQLStatement(
        "schema_versions",
        """
        select version from journey.migrations
        """, timeout: .seconds(5))

    private static func migration(_ version: Int, _ name: String, _ sql: [UInt8]) -> Migration {
        Migration(version: version, name: name, sql: String(decoding: sql, as: UTF8.self))
    }

    /// One statement that builds an index beside writers.
    private static func concurrent(_ version: Int, _ name: String, _ sql: [UInt8]) -> Migration {
        Migration(
            version: version, name: name, sql: String(decoding: sql, as: UTF8.self),
            runsOutsideTransaction: true)
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
