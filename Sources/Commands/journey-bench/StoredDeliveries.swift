internal import Postgres
internal import Reactor

/// Looks whether what was answered 200 is in the database, each once.
struct StoredDeliveries: Sendable {
    let settings: PostgresSettings
    let loop: EventLoop

    /// Makes every second person a known customer, as in a database that has run for a while.
    func makePeopleKnown() async throws {
        try await connected {
            _ = try await $0.query(Self.seeding, [.int4(Int32(WebhookTemplate.people))])
            try await $0.simple("analyze journey.customers, journey.customer_ids")
        }
    }

    func emptyInbox() async throws {
        try await connected {
            try await $0.simple("truncate journey.inbox, journey.unrouted_ids", name: "bench_empty")
        }
    }

    /// - Parameters:
    ///   - run: whose deliveries, by their ids; the inbox holds no others.
    ///   - count: the 200s.
    /// - Throws: when an answered delivery is missing, or there is more than one of it.
    func requireOnce(run: String, count: Int) async throws {
        let found = try await connected { connection in
            let row = try await connection.query(
                Self.counting,
                [.text(WebhookTemplate.eventID(run: run, number: 0).prefix(15) + "%")]
            ).only()
            return [
                ("delivery_ids", try row.int64("ids")), ("deliveries", try row.int64("deliveries")),
                ("delivery_bodies", try row.int64("bodies")), ("inbox", try row.int64("inputs")),
                ("inbox, by delivery", try row.int64("deliveries_of_inputs")),
            ]
        }
        for (table, rows) in found where rows != Int64(count) {
            throw BenchFailure(
                description: "\(count) deliveries were answered 200 and \(rows) are stored in "
                    + "\(table): the numbers of this run are void, and this is a fault to report")
        }
    }

    private func connected<Value: Sendable>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await PostgresConnection.connect(settings, on: loop)
        defer { Task(executorPreference: loop.tasks) { await connection.close() } }
        return try await body(connection)
    }

    private static let seeding = SQLStatement(
        "bench_seed_people",
        """
        with people as (
            insert into journey.customers (id, environment)
            select n + 1, 'production' from generate_series(0, $1 - 1, 2) as n
            returning id
        )
        insert into journey.customer_ids (environment, app, external_id, customer, is_own)
        select 'production', '', 'user-' || lpad((id - 1)::text, 7, '0'), id, true from people
        """, timeout: .seconds(120))

    private static let counting = SQLStatement(
        "bench_count_deliveries",
        """
        with ours as materialized (
            select id, received_at, provider_event_id
            from journey.deliveries
            where provider_event_id like $1
        )
        select (select count(*) from journey.delivery_ids where provider_event_id like $1) as ids,
            (select count(*) from ours) as deliveries,
            (
                select count(*)
                from ours o
                join journey.delivery_bodies b on b.id = o.id and b.received_at = o.received_at
            ) as bodies,
            (select count(*) from journey.inbox) as inputs,
            (
                select count(distinct i.delivery)
                from journey.inbox i
                join ours o on o.id = i.delivery
            ) as deliveries_of_inputs
        """, timeout: .seconds(120))
}
