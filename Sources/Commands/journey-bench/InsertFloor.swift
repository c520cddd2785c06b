internal import Postgres
internal import Reactor

/// Durable inserts of webhook bodies into a bare table: what PostgreSQL does for the same work.
struct InsertFloor: Sendable {
    /// Rows of one statement of the batched floor; two connections reach the disk's ceiling.
    static let batch = 100
    private static let batchConnections = 2
    /// The server takes 100 sessions in all.
    private static let mostSingles = 64

    let settings: PostgresSettings
    let world: BenchWorld
    let bodies: [[UInt8]]

    static func make(
        _ settings: PostgresSettings, of world: BenchWorld, bodies: [[UInt8]]
    ) async throws -> InsertFloor {
        let floor = InsertFloor(settings: settings, world: world, bodies: bodies)
        try await floor.script(
            """
            create table bench_rows (
                id bigint generated always as identity, body bytea compression lz4 not null
            )
            """)
        return floor
    }

    /// Statements of ``batch`` rows on two connections.
    var batched: Contender {
        Contender(name: "insert of \(Self.batch)") { duration in
            let rows = (0..<Self.batch).map { bodies[$0 % bodies.count] }
            return try await race(Self.batchConnections, for: duration, rows: Self.batch) {
                try await $0.query(Self.insertingBatch, [.byteaArray(rows)])
            }
        }
    }

    /// Statements of one row on as many connections as there are senders, within bounds.
    func single(senders: Int) -> Contender {
        let count = min(senders, Self.mostSingles)
        return Contender(name: "\(count) × insert of 1") { duration in
            try await race(count, for: duration, rows: 1) {
                try await $0.query(Self.insertingOne, [.bytea(bodies[0])])
            }
        }
    }

    private func race(
        _ count: Int, for duration: Duration, rows: Int,
        _ insert: @escaping @Sendable (PostgresConnection) async throws -> PostgresRows
    ) async throws -> Sample {
        try await script("truncate bench_rows")
        var connections: [PostgresConnection] = []
        for _ in 0..<count {
            connections.append(try await PostgresConnection.connect(settings, on: world.loop))
        }
        let sample = try await world.metered {
            try await timed(connections, for: duration, rows: rows, insert)
        }
        for connection in connections { await connection.close() }
        return sample
    }

    private func timed(
        _ connections: [PostgresConnection], for duration: Duration, rows: Int,
        _ insert: @escaping @Sendable (PostgresConnection) async throws -> PostgresRows
    ) async throws -> Sample {
        let began = ContinuousClock.now
        let statements = try await withThrowingTaskGroup(of: Int.self) { group in
            for connection in connections {
                group.addTask {
                    var done = 0
                    while ContinuousClock.now - began < duration {
                        _ = try await insert(connection)
                        done += 1
                    }
                    return done
                }
            }
            return try await group.reduce(0, +)
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        return Sample(operations: statements * rows, seconds: seconds)
    }

    private func script(_ sql: String) async throws {
        let connection = try await PostgresConnection.connect(settings, on: world.loop)
        defer { Task(executorPreference: world.loop.tasks) { await connection.close() } }
        try await connection.simple(sql, name: "bench_script")
    }

    private static let insertingBatch = SQLStatement(
        "bench_insert_batch", "insert into bench_rows (body) select unnest($1::bytea[])")

    private static let insertingOne = SQLStatement(
        "bench_insert_one", "insert into bench_rows (body) values ($1)")
}
