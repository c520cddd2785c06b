import Postgres
import Reactor
import TestSupport
import Testing
import TimeZones

@Suite(.timeLimit(.minutes(2)))
struct ValueTests {
    private let moment = Instant(milliseconds: 1_764_496_800_123)

    @Test func `every scalar comes back as it was sent`() async throws {
        let moment = moment
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let statement = SQLStatement(
                "scalars",
                """
                select $1 as a, $2 as b, $3 as c, $4 as d, $5 as e, $6 as f, $7 as g, $8 as h,
                    $9::text as i
                """)
            let row = try await connection.query(
                statement,
                [
                    .bool(true), .int4(.min), .int8(.max), .text("ä\u{1F600}'\""),
                    .bytea([0, 1, 255]), .jsonb(Array(#"{"a": 1}"#.utf8)),
                    .timestamptz(moment), .double(-0.5), .null,
                ]
            ).only()
            #expect(try row.bool("a"))
            #expect(try row.int32("b") == .min)
            #expect(try row.int64("b") == Int64(Int32.min))
            #expect(try row.int64("c") == .max)
            #expect(try row.string("d") == "ä\u{1F600}'\"")
            #expect(try row.bytes("e") == [0, 1, 255])
            #expect(try row.json("f") == Array(#"{"a": 1}"#.utf8))
            #expect(try row.instant("g") == moment)
            #expect(try row.double("h") == -0.5)
            #expect(try row.stringOrNil("i") == nil)
            #expect(try row.int64(2) == .max)
            await connection.close()
        }
    }

    @Test func `every array comes back with its nulls`() async throws {
        let moment = moment
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let statement = SQLStatement(
                "arrays", "select $1 as a, $2 as b, $3 as c, $4 as d, $5 as e, $6 as f, $7 as g")
            let json = Array("[1, 2]".utf8)
            let row = try await connection.query(
                statement,
                [
                    .boolArray([true, nil, false]), .int4Array([1, nil]), .int8Array([nil, .min]),
                    .textArray(["", nil, "x"]), .byteaArray([[], nil, [9]]),
                    .jsonbArray([json, nil]), .timestamptzArray([moment, nil]),
                ]
            ).only()
            #expect(try row.bools("a") == [true, nil, false])
            #expect(try row.int64s("b") == [1, nil])
            #expect(try row.int64s("c") == [nil, .min])
            #expect(try row.strings("d") == ["", nil, "x"])
            #expect(try row.byteArrays("e") == [[], nil, [9]])
            #expect(try row.jsons("f") == [json, nil])
            #expect(try row.instants("g") == [moment, nil])
            let empty = try await connection.query(
                SQLStatement("empty", "select $1 as a"), [.textArray([])])
            #expect(try empty.only().strings("a") == [])
            await connection.close()
        }
    }

    @Test func `instants before 2000 are cut down to the millisecond`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let row = try await connection.query(
                SQLStatement(
                    "old",
                    """
                    select timestamptz '1969-12-31 23:59:59.999500+00' as a,
                        timestamptz 'infinity' as b, $1 as c, $2 as d
                    """), [.timestamptz(.earliest), .timestamptz(.latest)]
            ).only()
            #expect(try row.instant("a") == Instant(milliseconds: -1))
            #expect(throws: PostgresError.self) { try row.instant("b") }
            #expect(try row.instant("c") == .earliest)
            #expect(try row.instant("d") == .latest)
            await connection.close()
        }
    }

    @Test func `a wrong type, a null and a missing column name statement and column`() async throws
    {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let row = try await connection.query(
                SQLStatement("look_here", "select 1::numeric as total, null::text as word")
            ).only()
            let type = #expect(throws: PostgresError.self) { try row.int64("total") }
            #expect(type?.kind == .decoding)
            #expect(type?.description.contains("statement look_here") == true)
            #expect(type?.description.contains("column total") == true)
            let null = #expect(throws: PostgresError.self) { try row.string("word") }
            #expect(null?.description.contains("column word is null") == true)
            let missing = #expect(throws: PostgresError.self) { try row.string("nothing") }
            #expect(missing?.description.contains("no column nothing") == true)
            await connection.close()
        }
    }

    @Test func `null may come before or after a typed value`() async throws {
        try await TestDatabase.withDatabaseAndLoop { settings, loop in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            let statement = SQLStatement("either", "select $1::bigint is null as gone")
            for value in [PostgresValue.null, .int8(1), .null, .int4(2), .text("3"), .null] {
                let row = try await connection.query(statement, [value]).only()
                #expect(try row.bool("gone") == (value == .null))
            }
            await connection.close()
        }
    }
}
