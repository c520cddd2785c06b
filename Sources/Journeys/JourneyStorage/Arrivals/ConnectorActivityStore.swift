package import Postgres
package import TimeZones

/// When connectors last delivered, and which of them are silent for longer than expected.
package struct ConnectorActivityStore: Sendable {
    /// One connector that ever delivered.
    package struct Activity: Sendable, Hashable {
        package var connector: String
        package var lastAt: Instant
        /// How long it may be silent; nil for as long as it likes.
        package var silence: Duration?
        /// The database's time of the look.
        package var now: Instant

        package var isSilent: Bool { silence.map { now - lastAt > $0 } ?? false }
    }

    /// What one call found out.
    package struct Report: Sendable, Hashable {
        package var activities: [Activity] = []
        /// Connectors whose silence nobody has told of yet: the caller does, and nobody after it.
        package var fellSilent: [String] = []
        /// Connectors that delivered again.
        package var spokeAgain: [String] = []
    }

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Writes what arrived since the last call, and looks who is silent.
    ///
    /// - Parameters:
    ///   - arrived: the newest delivery of each connector, by the caller's clock; one that is ahead of the
    ///     database's counts as now.
    ///   - silences: how long each configured connector may be silent; zero for as long as it likes.
    package func note(
        _ arrived: [String: Instant], silences: [String: Duration]
    ) async throws(PostgresError) -> Report {
        let fresh = arrived.sorted { $0.key < $1.key }
        let known = silences.sorted { $0.key < $1.key }
        let limits = [
            PostgresValue.textArray(known.map { storable($0.key) }),
            .int8Array(known.map(\.value.wholeMilliseconds)),
        ]
        let answers = try await pool.pipeline([
            (
                Self.arriving,
                [
                    .textArray(fresh.map { storable($0.key) }),
                    .timestamptzArray(fresh.map(\.value)),
                ]
            ), (Self.limiting, limits), (Self.telling, limits), (Self.reading, []),
        ])
        var report = Report()
        for row in answers[0] where try row.bool("was_told") {
            report.spokeAgain.append(try row.string("connector"))
        }
        for row in answers[2] { report.fellSilent.append(try row.string("connector")) }
        report.activities = try Self.activities(answers[3])
        return report
    }

    /// Every connector that ever delivered, by name.
    package func activities() async throws(PostgresError) -> [Activity] {
        try Self.activities(try await pool.query(Self.reading, []))
    }

    static func activities(_ rows: PostgresRows) throws(PostgresError) -> [Activity] {
        var activities: [Activity] = []
        for row in rows {
            let silence = try row.int64("silence_ms")
            activities.append(
                Activity(
                    connector: try row.string("connector"), lastAt: try row.instant("last_at"),
                    silence: silence > 0 ? .milliseconds(silence) : nil,
                    now: try row.instant("now")))
        }
        return activities
    }

    /// Lock order: connector.
    private static let arriving = SQLStatement(
        "activity_arrive",
        """
        with told as materialized (
            select a.connector from journey.connector_activity a
            where a.connector = any ($1::text[]) and a.told_at is not null
        ), noted as (
            insert into journey.connector_activity (connector, last_at)
            select n.connector,
                least(n.at, date_trunc('milliseconds', clock_timestamp()))
            from unnest($1, $2::timestamptz[]) n (connector, at)
            order by n.connector
            on conflict (connector) do update
            set last_at = greatest(connector_activity.last_at, excluded.last_at), told_at = null
            returning connector
        )
        select n.connector, exists (select from told t where t.connector = n.connector) as was_told
        from noted n
        order by n.connector
        """)

    private static let limiting = SQLStatement(
        "activity_limit",
        """
        update journey.connector_activity a
        set silence_ms = c.silence_ms
        from unnest($1::text[], $2::bigint[]) c (connector, silence_ms)
        where a.connector = c.connector and a.silence_ms <> c.silence_ms
        """)

    private static let telling = SQLStatement(
        "activity_tell",
        """
        update journey.connector_activity a
        set told_at = date_trunc('milliseconds', clock_timestamp())
        from unnest($1::text[], $2::bigint[]) c (connector, silence_ms)
        where a.connector = c.connector and c.silence_ms > 0 and a.told_at is null
            and a.last_at < clock_timestamp() - c.silence_ms * interval '1 millisecond'
        returning a.connector
        """)

    static let reading = SQLStatement(
        "activity_read",
        """
        select a.connector, a.last_at, a.silence_ms,
            date_trunc('milliseconds', clock_timestamp()) as now
        from journey.connector_activity a
        order by a.connector
        limit 1000
        """)
}
