import Postgres
import Reactor
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ConnectionTests {
    private static let one = SQLStatement("one", "select 1::bigint as n")

    @Test func `an error in one of a hundred leaves its neighbours unharmed`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let divide = SQLStatement("divide", "select (100 / $1) as n")
            let good = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        let divisor: Int32 = index % 3 == 0 ? 0 : 1
                        do {
                            let rows = try await connection.query(divide, [.int4(divisor)])
                            return try rows.only().int64("n") == 100
                        } catch {
                            #expect((error as? PostgresError)?.sqlState == "22012")
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(good == 66)
            await connection.close()
        }
    }

    @Test func `a pipeline is one transaction`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            try await connection.simple("create table things (id bigint primary key)")
            let insert = SQLStatement("insert_thing", "insert into things values ($1)")
            let rows = try await connection.pipeline([
                (insert, [.int8(1)]), (Self.one, []), (insert, [.int8(2)]),
            ])
            #expect(rows.map(\.affected) == [1, 1, 1])
            await #expect(throws: PostgresError.self) {
                try await connection.pipeline([(insert, [.int8(3)]), (insert, [.int8(1)])])
            }
            let count = try await connection.query(
                SQLStatement("count_things", "select count(*) as n from things"))
            #expect(try count.only().int64("n") == 2)
            await connection.close()
        }
    }

    @Test func `an error tells SQLSTATE, statement and constraint but never values`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            try await connection.simple(
                "create table people (name text constraint people_name_once unique)")
            let insert = SQLStatement("add_person", "insert into people values ($1)")
            _ = try await connection.query(insert, [.text("hunter2")])
            let twice = await #expect(throws: PostgresError.self) {
                try await connection.query(insert, [.text("hunter2")])
            }
            #expect(twice?.sqlState == "23505")
            #expect(twice?.constraint == "people_name_once")
            #expect(twice?.statement == "add_person")
            let cast = await #expect(throws: PostgresError.self) {
                try await connection.query(
                    SQLStatement("cast_text", "select $1::text::bigint"), [.text("hunter2")])
            }
            #expect(cast?.sqlState == "22P02")
            for text in [twice, cast].compactMap({ $0?.description }) {
                #expect(!text.contains("hunter2"))
                #expect(text.contains("SQLSTATE 2"))
                #expect(text.contains("statement "))
            }
            await connection.close()
        }
    }

    @Test func `a statement's timeout cancels it and leaves the connection usable`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let slow = SQLStatement(
                "slow", "select pg_sleep(60)", timeout: .milliseconds(50))
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query(slow)
            }
            #expect(error?.kind == .timedOut)
            #expect(error?.statement == "slow")
            #expect(try await connection.query(Self.one).only().int64("n") == 1)
            await connection.close()
        }
    }

    @Test func `the server's own statement timeout is a timeout too`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            var settings = settings
            settings.statementTimeout = .milliseconds(50)
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query(SQLStatement("slow", "select pg_sleep(60)"))
            }
            #expect(error?.kind == .timedOut)
            await connection.close()
        }
    }

    @Test func `a cancelled task's statement is cancelled on the server`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let other = try await PostgresConnection.connect(settings, on: loop)
            let task = Task(executorPreference: loop.tasks) { () -> PostgresError? in
                do throws(PostgresError) {
                    _ = try await connection.query(
                        SQLStatement("slow", "select pg_sleep(60)", timeout: .seconds(90)))
                    return nil
                } catch { return error }
            }
            #expect(try await Self.isActive("select pg_sleep(60)", seenBy: other))
            task.cancel()
            #expect(await task.value?.kind == .cancelled)
            #expect(try await connection.query(Self.one).only().int64("n") == 1)
            await connection.close()
            await other.close()
        }
    }

    @Test func `a killed session is a lost connection with an honest outcome`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let other = try await PostgresConnection.connect(settings, on: loop)
            let task = Task(executorPreference: loop.tasks) { () -> PostgresError? in
                do throws(PostgresError) {
                    _ = try await connection.query(SQLStatement("slow", "select pg_sleep(60)"))
                    return nil
                } catch { return error }
            }
            #expect(try await Self.isActive("select pg_sleep(60)", seenBy: other))
            _ = try await other.query(
                SQLStatement(
                    "kill_slow",
                    """
                    select pg_terminate_backend(pid) from pg_stat_activity
                    where query = 'select pg_sleep(60)' and datname = current_database()
                    """))
            let error = await task.value
            #expect(error?.kind == .connectionLost)
            #expect(error?.isConnectionFailure == true)
            #expect(error?.sqlState == "57P01")
            #expect(error?.outcomeUnknown == false)
            #expect(await !connection.isOpen)
            await other.close()
        }
    }

    @Test func `statements survive DISCARD and a changed table`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            try await connection.simple(
                "create table shape (a bigint); insert into shape values (1)")
            let read = SQLStatement("read_shape", "select * from shape")
            #expect(try await connection.query(read).only().int64("a") == 1)
            try await connection.simple("discard all")
            #expect(try await connection.query(read).only().int64("a") == 1)
            try await connection.simple("alter table shape add column b text default 'x'")
            #expect(try await connection.query(read).only().string("b") == "x")
            await connection.close()
        }
    }

    @Test func `without preparation the same statements work`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            var settings = settings
            settings.preparation = .never
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let add = SQLStatement("add", "select $1 + 1 as n")
            for number in 0..<3 {
                let row = try await connection.query(add, [.int8(Int64(number))]).only()
                #expect(try row.int64("n") == Int64(number + 1))
            }
            let left = try await connection.query(
                SQLStatement("left", "select count(*) as n from pg_prepared_statements"))
            #expect(try left.only().int64("n") == 0)
            await connection.close()
        }
    }

    @Test func `nobody at the address is unreachable`() async throws {
        try await withEventLoop { loop in
            let settings = PostgresSettings(
                connectionString: "host=/nowhere user=x dbname=x password=hunter2")
            let error = await #expect(throws: PostgresError.self) {
                try await PostgresConnection.connect(settings, on: loop)
            }
            #expect(error?.kind == .unreachable)
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test func `a large result and a large parameter pass`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let large = [UInt8](repeating: 7, count: 20_000_000)
            let row = try await connection.query(
                SQLStatement("large", "select $1 as b, length($1) as n"), [.bytea(large)]
            ).only()
            #expect(try row.int64("n") == 20_000_000)
            #expect(try row.bytes("b") == large)
            await connection.close()
        }
    }

    /// Each question is a round trip.
    static func isActive(
        _ sql: String, seenBy connection: PostgresConnection
    ) async throws -> Bool {
        let look = SQLStatement(
            "look_active",
            """
            select count(*) as n from pg_stat_activity
            where query = $1 and state = 'active' and datname = current_database()
            """)
        return try await eventually {
            try await connection.query(look, [.text(sql)]).only().int64("n") > 0
        }
    }
}
