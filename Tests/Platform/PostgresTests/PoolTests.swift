import Postgres
import PrivateCluster
import Reactor
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct PoolTests {
    private static let one = SQLStatement("one", "select 1::bigint as n")

    @Test func `so many callers may wait and no more`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(
                settings: settings, size: 1, loop: loop, mostWaiting: 1, waitLimit: .seconds(60))
            let second = try await pool.withTransaction { transaction in
                _ = try await transaction.query(Self.one)
                let second = Task(executorPreference: loop.tasks) {
                    try await pool.query(Self.one)
                }
                #expect(await eventually { await pool.statistics.waiting == 1 })
                let tooMany = await #expect(throws: PostgresError.self) {
                    try await pool.query(Self.one)
                }
                #expect(tooMany?.kind == .exhausted)
                #expect(tooMany?.description.contains("pool is exhausted") == true)
                return second
            }
            #expect(try await second.value.only().int64("n") == 1)
            #expect(await pool.statistics.inUse == 0)
            await pool.close()
            let late = await #expect(throws: PostgresError.self) { try await pool.query(Self.one) }
            #expect(late?.kind == .closed)
        }
    }

    @Test func `a caller waits so long and no longer`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(
                settings: settings, size: 1, loop: loop, waitLimit: .milliseconds(1))
            // The one connection takes longer to open than anyone waits here.
            #expect(
                await eventually(tries: 100_000) { (try? await pool.query(Self.one)) != nil })
            try await pool.withTransaction { transaction in
                _ = try await transaction.query(Self.one)
                let tooLate = await #expect(throws: PostgresError.self) {
                    try await pool.query(Self.one)
                }
                #expect(tooLate?.kind == .exhausted)
            }
            await pool.close()
        }
    }

    @Test func `a cancelled caller stops waiting`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(
                settings: settings, size: 1, loop: loop, waitLimit: .seconds(60))
            try await pool.withTransaction { transaction in
                _ = try await transaction.query(Self.one)
                let second = Task(executorPreference: loop.tasks) {
                    try await pool.query(Self.one)
                }
                #expect(await eventually { await pool.statistics.waiting == 1 })
                second.cancel()
                let error = await #expect(throws: PostgresError.self) { try await second.value }
                #expect(error?.kind == .cancelled)
            }
            #expect(await pool.statistics.waiting == 0)
            await pool.close()
        }
    }

    @Test func `a connection given back is used again, also after errors`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 4, loop: loop)
            let identity = SQLStatement("identity", "select pg_backend_pid() as id")
            let first = try await pool.query(identity).only().int64("id")
            _ = try? await pool.query(SQLStatement("oops", "select 1 / 0"))
            _ = try? await pool.withTransaction { transaction in
                try await transaction.query(SQLStatement("oops", "select 1 / 0"))
            }
            let slow = SQLStatement("slow", "select pg_sleep(60)", timeout: .milliseconds(20))
            _ = try? await pool.withTransaction { try await $0.query(slow) }
            let last = try await pool.withTransaction { transaction in
                try await transaction.query(identity).only().int64("id")
            }
            #expect(first == last)
            #expect(await pool.statistics.open == 1)
            await pool.close()
        }
    }

    @Test func `a transaction whose plan is outdated runs again with a new one`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 1, loop: loop)
            let other = try await PostgresConnection.connect(settings, on: loop)
            try await other.simple("create table s (a bigint); insert into s values (1)")
            let read = SQLStatement("read_s", "select * from s")
            _ = try await pool.query(read)
            try await other.simple("alter table s add column b text default 'x'")
            let value = try await pool.withTransaction { transaction in
                try await transaction.query(read).only().string("b")
            }
            #expect(value == "x")
            await pool.close()
            await other.close()
        }
    }

    @Test func `many callers share few connections`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 3, loop: loop)
            try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<200 {
                    group.addTask { try await pool.query(Self.one).only().int64("n") }
                }
                let total = try await group.reduce(0, +)
                #expect(total == 200)
            }
            #expect(await pool.statistics.open <= 3)
            await pool.close()
        }
    }

    @Test func `a transaction that throws leaves nothing and a clean connection`() async throws {
        struct Refusal: Error {}
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 1, loop: loop)
            let create = SQLStatement("create_t", "create table t (n bigint)")
            let insert = SQLStatement("insert_t", "insert into t values ($1)")
            let count = SQLStatement("count_t", "select count(*) as n from t")
            _ = try await pool.query(create)
            await #expect(throws: Refusal.self) {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.query(insert, [.int8(1)])
                    throw Refusal()
                }
            }
            #expect(try await pool.query(count).only().int64("n") == 0)
            try await pool.withTransaction { transaction in
                _ = try await transaction.query(insert, [.int8(1)])
                let rows = try await transaction.pipelineAndCommit([(insert, [.int8(2)])])
                #expect(rows.map(\.affected) == [1])
                let over = await #expect(throws: PostgresError.self) {
                    try await transaction.query(count)
                }
                #expect(over?.kind == .closed)
            }
            #expect(try await pool.query(count).only().int64("n") == 2)
            #expect(await pool.statistics.open == 1)
            await pool.close()
        }
    }

    @Test func `a swallowed error cannot be committed`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 1, loop: loop)
            let error = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { transaction in
                    _ = try? await transaction.query(SQLStatement("oops", "select 1 / 0"))
                }
            }
            #expect(error?.sqlState == "25P02")
            let after = try await pool.query(Self.one)
            #expect(after.count == 1)
            await pool.close()
        }
    }

    @Test func `a cancelled transaction is rolled back and its connection reused`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 1, loop: loop)
            let other = try await PostgresConnection.connect(settings, on: loop)
            try await other.simple("create table t (n bigint)")
            let task = Task(executorPreference: loop.tasks) {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.query(
                        SQLStatement("insert_t", "insert into t values (1)"))
                    _ = try await transaction.query(
                        SQLStatement("slow", "select pg_sleep(60)", timeout: .seconds(90)))
                }
            }
            #expect(
                try await ConnectionTests.isActive("select pg_sleep(60)", seenBy: other))
            task.cancel()
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
            let count = SQLStatement("count_t", "select count(*) as n from t")
            #expect(try await pool.query(count).only().int64("n") == 0)
            #expect(await pool.statistics.open == 1)
            await pool.close()
            await other.close()
        }
    }

    @Test func `serialization failures are retried when asked for`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let pool = PostgresPool(settings: settings, size: 2, loop: loop)
            let other = try await PostgresConnection.connect(settings, on: loop)
            try await other.simple("create table c (n bigint); insert into c values (0)")
            let read = SQLStatement("read_c", "select n from c")
            let write = SQLStatement("write_c", "update c set n = $1")
            let tries = TestSignal<Int>()
            try await pool.withTransaction(.repeatableRead, retries: 3) { transaction in
                let n = try await transaction.query(read).only().int64("n")
                tries.send(1)
                if tries.values.count == 1 {
                    _ = try await other.query(SQLStatement("bump_c", "update c set n = n + 10"))
                }
                _ = try await transaction.pipelineAndCommit([(write, [.int8(n + 1)])])
            }
            #expect(tries.values.count == 2)
            #expect(try await pool.query(read).only().int64("n") == 11)
            await pool.close()
            await other.close()
        }
    }

    @Test func `the pool outlives its server`() async throws {
        try await TemporaryFolder.with { folder in
            let cluster = try PrivateCluster.start(
                home: folder + "/c", settings: TestCluster.fastSettings)
            defer { cluster.stop() }
            try await withEventLoop { loop in
                let settings = PostgresSettings(connectionString: cluster.connectionString)
                let pool = PostgresPool(settings: settings, size: 2, loop: loop)
                _ = try await pool.query(Self.one)
                cluster.kill()
                let error = await #expect(throws: PostgresError.self) {
                    try await pool.query(Self.one)
                }
                #expect(error?.isConnectionFailure == true)
                try cluster.restart()
                let isBack = await eventually(tries: 50) {
                    (try? await pool.query(Self.one)) != nil
                }
                #expect(isBack)
                await pool.close()
            }
        }
    }
}
