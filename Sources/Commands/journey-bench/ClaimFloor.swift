internal import Postgres
internal import Reactor

/// Rows of a bare table that are claimed and deleted: the least that consuming an input can cost.
struct ClaimFloor: Sendable {
    /// As many as a turn takes customers by default.
    private static let batch = 200
    private static let connections = 2

    let settings: PostgresSettings
    let world: BenchWorld
    let rows: Int

    static func make(
        _ settings: PostgresSettings, of world: BenchWorld, rows: Int
    ) async throws -> ClaimFloor {
        let connection = try await PostgresConnection.connect(settings, on: world.loop)
        try await connection.simple(
            """
            create table bench_inputs (
                id bigint generated always as identity primary key, customer bigint not null,
                body bytea compression lz4 not null
            )
            """, name: "bench_make")
        await connection.close()
        return ClaimFloor(settings: settings, world: world, rows: rows)
    }

    var contender: Contender {
        Contender(name: "claim and delete") { _ in
            let pool = PostgresPool(settings: settings, size: Self.connections, loop: world.loop)
            _ = try await pool.query(Self.emptying)
            let body = [UInt8](repeating: 0x61, count: WebhookTemplate.bodyBytes)
            _ = try await pool.query(Self.filling, [.int4(Int32(rows)), .bytea(body)])
            let sample = try await world.metered { try await drained(pool) }
            await pool.close()
            return sample
        }
    }

    private func drained(_ pool: PostgresPool) async throws -> Sample {
        let began = ContinuousClock.now
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<Self.connections {
                group.addTask {
                    var taken = 0
                    while true {
                        let claimed = try await pool.query(
                            Self.claiming, [.int4(Int32(Self.batch))]
                        ).count
                        if claimed == 0 { return taken }
                        taken += claimed
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        return Sample(operations: taken, seconds: (ContinuousClock.now - began) / .seconds(1))
    }

    private static let emptying = SQLStatement("bench_inputs_empty", "truncate bench_inputs")

    private static let filling = SQLStatement(
        "bench_inputs_fill",
        """
        insert into bench_inputs (customer, body)
        select n / 4, $2 from generate_series(1, $1) as n
        """, timeout: .seconds(120))

    private static let claiming = SQLStatement(
        "bench_inputs_claim",
        """
        with claimed as materialized (
            select id from bench_inputs order by id limit $1 for update skip locked
        )
        delete from bench_inputs b using claimed c where b.id = c.id
        returning b.id, b.customer, b.body
        """, timeout: .seconds(30))
}
