package import Postgres
package import TimeZones

/// How long what is kept.
package struct RetentionPolicy: Sendable, Hashable {
    /// Bodies of deliveries.
    package var rawBodies: Duration
    /// The customers' logs, and the deliveries without their bodies.
    package var events: Duration
    /// After a run's end: its history, effects and attempts.
    package var history: Duration
    /// Ids by which repeats are known.
    package var ids: Duration

    package init(rawBodies: Duration, events: Duration, history: Duration, ids: Duration) {
        self.rawBodies = rawBodies
        self.events = events
        self.history = history
        self.ids = ids
    }
}

/// Lets go of what was kept long enough: whole months of the large tables, and small batches of the others.
package struct RetentionStore: Sendable {
    /// What was done to one table.
    package struct Cut: Sendable, Hashable {
        package var table: String
        /// The partition that was dropped, or that stays because too much of it is still needed.
        package var partition: String?
        package var removed: Int64
        /// Rows of the partition that stay.
        package var kept: Int64
        package var isDropped: Bool
    }

    /// Rows of one partition that may stay when it is dropped; with more it stays whole.
    package static let mostKept = 100_000
    /// Rows that one statement deletes, and statements a call: what they leave is vacuumed meanwhile.
    private static let batch: Int32 = 5_000
    private static let batches = 10
    /// Partitions of one table that one call drops.
    private static let partitions = 24

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Drops and deletes what is older than the policy says, bodies first.
    ///
    /// - Parameter now: the database's clock where nil.
    package func cut(_ policy: RetentionPolicy, at now: Instant? = nil) async throws -> [Cut] {
        var time = now
        if time == nil {
            time = try await pool.query(ScheduleStore.readingTime, []).only().instant("now")
        }
        guard let now = time else { return [] }
        var cuts: [Cut] = []
        for (table, length) in [
            ("delivery_bodies", policy.rawBodies), ("deliveries", policy.events),
            ("events", policy.events), ("effect_attempts", policy.history),
            ("history", policy.history),
        ] {
            cuts += try await dropPartitions(of: table, before: now - length, now)
        }
        for (table, statement, length) in [
            ("effects", Self.deletingEffects, policy.history),
            ("delivery_ids", Self.deletingDeliveryIDs, policy.ids),
            ("event_ids", Self.deletingEventIDs, policy.ids),
        ] {
            let removed = try await delete(statement, before: now - length, now)
            if removed > 0 {
                cuts.append(
                    Cut(table: table, partition: nil, removed: removed, kept: 0, isDropped: false))
            }
        }
        return cuts
    }

    /// Since when a table holds everything; nil where nothing was ever cut.
    package func horizon(of table: String) async throws(PostgresError) -> Instant? {
        try await pool.query(Self.readingHorizon, [.text(table)]).first?.instant("since")
    }

    private func dropPartitions(
        of table: String, before: Instant, _ now: Instant
    ) async throws -> [Cut] {
        var cuts: [Cut] = []
        for _ in 0..<Self.partitions {
            let made = try await pool.withTransaction { tx in
                // The session's own limit is for short statements; it would end this one.
                _ = try await tx.query(Self.allowingTime, [])
                return try await tx.query(
                    Self.dropping,
                    [
                        .text(table), .timestamptz(before), .timestamptz(now),
                        .int4(Int32(Self.mostKept)),
                    ]
                ).map { row in
                    Cut(
                        table: table, partition: try row.string("part"),
                        removed: try row.int64("removed"), kept: try row.int64("kept"),
                        isDropped: try row.bool("is_dropped"))
                }
            }
            cuts += made
            // What stays whole is told with each call; only what went makes another one worth while.
            if !made.contains(where: { $0.removed > 0 || $0.isDropped }) { break }
        }
        return cuts
    }

    private func delete(
        _ statement: SQLStatement, before: Instant, _ now: Instant
    ) async throws -> Int64 {
        var removed: Int64 = 0
        for _ in 0..<Self.batches {
            let count = try await pool.query(
                statement, [.timestamptz(before), .timestamptz(now), .int4(Self.batch)]
            ).only().int64("count")
            removed += count
            if count < Int64(Self.batch) { break }
        }
        return removed
    }

    static let allowingTime = SQLStatement(
        "retention_allow_time",
        """
        set local statement_timeout = '600s'
        """)

    static let dropping = SQLStatement(
        "retention_drop",
        """
        select part, removed, kept, is_dropped from journey.drop_partitions($1, $2, $3, $4)
        """, timeout: .seconds(600))

    static let readingHorizon = SQLStatement(
        "retention_horizon",
        """
        select since from journey.horizons where what = $1
        """)

    /// Ended effects of runs that ended before, or are gone. Lock order: none waited for.
    static let deletingEffects = SQLStatement(
        "retention_delete_effects",
        """
        with old as materialized (
            select e.customer, e.invocation
            from journey.effects e
            where e.requested_at < $1 and e.ended_at is not null
                and not exists (
                    select
                    from journey.runs r
                    where r.id = e.run
                        and (r.ended_at is null or r.ended_at >= $1 or r.open_until >= $2)
                )
            limit $3
            for update skip locked
        ), gone as (
            delete from journey.effects e
            using old o
            where e.customer = o.customer and e.invocation = o.invocation
            returning 1
        )
        select count(*) from gone
        """, timeout: .seconds(60))

    /// An id stays as long as something is to be done with its delivery.
    static let deletingDeliveryIDs = SQLStatement(
        "retention_delete_delivery_ids",
        """
        with old as materialized (
            select k.connector, k.provider_event_id
            from journey.delivery_ids k
            where k.received_at < $1 and $2::timestamptz is not null
                and not exists (select from journey.unassigned u where u.delivery = k.delivery)
            limit $3
            for update skip locked
        ), gone as (
            delete from journey.delivery_ids k
            using old o
            where k.connector = o.connector and k.provider_event_id = o.provider_event_id
            returning 1
        )
        select count(*) from gone
        """, timeout: .seconds(60))

    static let deletingEventIDs = SQLStatement(
        "retention_delete_event_ids",
        """
        with old as materialized (
            select i.id
            from journey.event_ids i
            where i.recorded_at < $1 and $2::timestamptz is not null
            limit $3
            for update skip locked
        ), gone as (
            delete from journey.event_ids i using old o where i.id = o.id returning 1
        )
        select count(*) from gone
        """, timeout: .seconds(60))
}
