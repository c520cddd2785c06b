internal import FeatureModel
package import Postgres
package import TimeZones

/// Reads what customers may use. It has no verb that writes, and the role it runs under has `SELECT` on one
/// view and nothing else.
package struct AccessReader: Sendable {
    private let pool: PostgresPool

    /// - Parameter pool: of any role that may read `features.access`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The most customers, and the most features, that one question names.
    package static let most = 10_000

    /// What customers have of features at this moment, in one statement: one row for each that is or was
    /// held, an entity's beside the customer's own. What is missing is denied, of type `boolean`.
    ///
    /// - Parameters:
    ///   - customers: ids as the app gives them; traps past ``most``.
    ///   - features: keys of the catalogue; traps past ``most``.
    package func access(
        of customers: [String], features: [String], in environment: AccessEnvironment
    ) async throws(PostgresError) -> [AccessRow] {
        precondition(
            customers.count <= Self.most && features.count <= Self.most, "too much at once")
        if customers.isEmpty || features.isEmpty { return [] }
        let rows = try await pool.query(
            Self.selectAccess,
            [.text(environment.rawValue), .textArray(customers), .textArray(features)])
        return try Self.decode(rows)
    }

    /// All that customers have or had, for people who look; see ``access(of:features:in:)``.
    ///
    /// - Parameter limit: rows, 1 to 100,000.
    package func everything(
        of customers: [String], limit: Int = 1_000, in environment: AccessEnvironment
    ) async throws(PostgresError) -> [AccessRow] {
        precondition(customers.count <= Self.most, "too much at once")
        precondition((1...100_000).contains(limit), "\(limit) rows")
        if customers.isEmpty { return [] }
        return try Self.decode(
            try await pool.query(
                Self.selectEverything,
                [.text(environment.rawValue), .textArray(customers), .int4(Int32(limit))]))
    }

    /// What became another answer since an instant, by a write or by time alone, oldest first.
    ///
    /// A writer dates its rows before it commits, so ask with an overlap: a change may become visible as
    /// late as a writer's longest transaction (10 s) after its date.
    ///
    /// - Parameters:
    ///   - since: inclusive.
    ///   - cursor: where the page before ended.
    ///   - limit: rows of a page, 1 to 100,000.
    package func changed(
        since: Instant, after cursor: AccessCursor? = nil, limit: Int = 10_000,
        in environment: AccessEnvironment
    ) async throws(PostgresError) -> AccessPage {
        precondition((1...100_000).contains(limit), "a page of \(limit) rows")
        let found = try await pool.query(
            Self.selectChanges,
            [
                .text(environment.rawValue), .timestamptz(max(since, cursor?.changedAt ?? since)),
                .bool(cursor != nil), .text(cursor?.customer ?? ""),
                .text(cursor?.feature ?? ""), .text(cursor?.entity ?? ""), .int4(Int32(limit)),
            ])
        let rows = try Self.decode(found)
        let next = rows.count < limit ? nil : rows.last.map(AccessCursor.init(_:))
        return AccessPage(rows: rows, next: next)
    }

    /// The time by the clock that dates changes.
    package func now() async throws(PostgresError) -> Instant {
        try await pool.query(Self.selectNow).only().instant("now")
    }

    /// Whether there is a feature side in this database that this role may read.
    package func isInstalled() async throws(PostgresError) -> Bool {
        do throws(PostgresError) {
            return try await pool.query(Self.selectPresence).only().bool("is_readable")
        } catch {
            // 3F000: no such schema; 42P01: no such view; 42501: no right to look into the schema.
            if ["3F000", "42P01", "42501"].contains(error.sqlState) { return false }
            throw error
        }
    }

    private static func decode(_ rows: PostgresRows) throws(PostgresError) -> [AccessRow] {
        var read: [AccessRow] = []
        read.reserveCapacity(rows.count)
        for row in rows {
            let entity = try row.string("entity_id")
            let balance = try row.int64OrNil("balance")
            guard let environment = AccessEnvironment(rawValue: try row.string("environment")),
                let type = FeatureType(rawValue: try row.string("type"))
            else {
                throw PostgresError(
                    kind: .decoding,
                    message: "the view features.access holds an environment or a type that this "
                        + "program does not know; run the version that its feature-server runs")
            }
            read.append(
                AccessRow(
                    environment: environment, customer: try row.string("customer_id"),
                    feature: try row.string("feature_id"),
                    entity: entity.isEmpty ? nil : entity,
                    access: FeatureAccess(
                        allowed: try row.bool("allowed"), unlimited: try row.bool("unlimited"),
                        balance: balance.map { Int($0) }, type: type),
                    changedAt: try row.instant("changed_at"),
                    changesAt: try row.instantOrNil("changes_at")))
        }
        return read
    }

    private static let columns = """
        environment, customer_id, feature_id, entity_id, allowed, unlimited, balance, type, changed_at,
            changes_at
        """

    private static let selectAccess = SQLStatement(
        "access_of_customers",
        """
        select \(columns) from features.access
        where environment = $1 and customer_id = any($2) and feature_id = any($3)
        order by customer_id, feature_id, entity_id
        """)

    private static let selectEverything = SQLStatement(
        "access_everything",
        """
        select \(columns) from features.access
        where environment = $1 and customer_id = any($2)
        order by customer_id, feature_id, entity_id
        limit $3
        """)

    /// The upper bound keeps the index from walking over everything that is yet to happen.
    private static let selectChanges = SQLStatement(
        "access_changes",
        """
        select \(columns) from features.access
        where environment = $1 and changed_at >= $2
            and changed_at <= (select clock_timestamp()) + interval '1 minute'
            and (not $3 or (changed_at, customer_id, feature_id, entity_id) > ($2, $4, $5, $6))
        order by changed_at, customer_id, feature_id, entity_id
        limit $7
        """)

    private static let selectNow = SQLStatement(
        "access_now", "select clock_timestamp() as now")

    private static let selectPresence = SQLStatement(
        "access_presence",
        """
        select coalesce(has_table_privilege(to_regclass('features.access'), 'select'), false)
            as is_readable
        """)
}
