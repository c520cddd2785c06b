package import Postgres
package import TimeZones

/// Has customers looked at whose feature access has changed (S22).
package struct FeatureWakeStore: Sendable {
    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Sees to it that the customers behind these ids have a turn now.
    ///
    /// - Parameters:
    ///   - ids: external ids of one environment, at most 10,000.
    ///   - workflows: those that read features; only customers with a live run of one are woken.
    ///   - wakesAll: whether a segment reads features, so that anybody may be concerned.
    /// - Returns: how many customers are to have a turn.
    package func wake(
        _ ids: [String], environment: String, workflows: [String], wakesAll: Bool
    ) async throws -> Int {
        if ids.isEmpty || workflows.isEmpty && !wakesAll { return 0 }
        return try await pool.withTransaction(retries: 3) { tx in
            let row = try await tx.query(
                Self.waking,
                [
                    .textArray(ids.map(storable)), .text(storable(environment)),
                    .textArray(workflows), .bool(wakesAll),
                ]
            ).only()
            return Int(try row.int64("woken"))
        }
    }

    /// Up to when changes have woken those whom they concern, by the feature house's clock; nil when nobody
    /// has looked yet.
    package func seenUntil() async throws(PostgresError) -> Instant? {
        try await pool.query(Self.readingPlace).first?.instant("seen_until")
    }

    /// Keeps the place; one that another worker has kept further on stays.
    package func keep(seenUntil: Instant) async throws(PostgresError) {
        _ = try await pool.query(Self.keepingPlace, [.timestamptz(seenUntil)])
    }

    private static let readingPlace = SQLStatement(
        "wake_features_place", "select seen_until from journey.feature_watch")

    private static let keepingPlace = SQLStatement(
        "wake_features_keep",
        """
        insert into journey.feature_watch (seen_until) values ($1)
        on conflict (place) do update set seen_until = excluded.seen_until
        where feature_watch.seen_until < excluded.seen_until
        """)

    /// Lock order: timers by customer, waiting for turns.
    static let waking = SQLStatement(
        "wake_features",
        """
        with concerned as materialized (
            select distinct coalesce(c.forwards_to, c.id) as id
            from unnest($1::text[]) w (external_id)
            join journey.customer_ids i
                on i.environment = $2 and i.external_id = w.external_id
            join journey.customers c on c.id = i.customer
        ), woken as (
            insert into journey.timers (customer, due_at)
            select c.id, date_trunc('milliseconds', clock_timestamp())
            from concerned c
            where $4
                or exists (
                    select from journey.runs r
                    where r.customer = c.id and r.ended_at is null and r.workflow = any ($3::text[])
                )
            order by c.id
            on conflict (customer) do update
            set due_at = least(timers.due_at, excluded.due_at)
            returning 1
        )
        select count(*) as woken from woken
        """)
}
