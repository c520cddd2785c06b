import Crypto
import Glibc
import HTTPClient
import HTTPServer
import JSON
import JourneyStorage
import JourneyWorker
import Postgres
import Reactor
import Settings
import Telemetry
import TestSupport
import Testing
import TimeZones
import WorkflowDefinitions

/// A migrated database, a loop, and everything that a story needs around a worker.
///
/// What any worker of it logs is searched at the end for the secrets and bodies that went through.
struct World: Sendable {
    let loop: EventLoop
    let conninfo: String
    /// For the test's own questions.
    let pool: PostgresPool
    let http: HTTPTransport
    let log = LogLines()

    /// Runs `body` with a world on a database of its own, and closes everything.
    static func with(
        workflows: [JSONValue] = [], _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: JourneySchema.migrator) {
            settings, loop in
            try await with(settings.connectionString, on: loop, workflows: workflows, body)
        }
    }

    /// The same on a database that exists.
    static func with(
        _ conninfo: String, on loop: EventLoop, workflows: [JSONValue] = [],
        _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        var settings = PostgresSettings(connectionString: conninfo)
        settings.preparation = .never
        let world = World(
            loop: loop, conninfo: conninfo,
            pool: PostgresPool(settings: settings, size: 2, loop: loop),
            http: HTTPTransport(loop: loop, userAgent: "end-to-end-tests"))
        let result: Result<Void, any Error>
        do {
            try await JourneySchema.migrator.up(settings, on: loop)
            try await world.publish(workflows)
            result = .success(try await body(world))
        } catch {
            result = .failure(error)
        }
        await world.http.shutdown()
        await world.pool.close()
        Secrets.expectNone(in: world.log.lines)
        try result.get()
    }

    /// Publishes definitions as they stand in files.
    func publish(_ definitions: [JSONValue]) async throws {
        if definitions.isEmpty { return }
        var workflows: [PublishedWorkflow] = []
        for definition in definitions {
            let outcome = WorkflowParser.read(
                definition.bytes, file: "\(definition["id"]?.string ?? "").json",
                events: EventDeclarations())
            guard let published = outcome.published else {
                throw Failure(what: "\(outcome.diagnostics)")
            }
            workflows.append(published)
        }
        _ = try await DefinitionStore(pool: pool).publish(
            workflows, by: "a test", reason: "a test")
    }

    // MARK: Waiting

    /// Asks until the answer is yes, at most twenty seconds unless told otherwise.
    func until(
        _ what: String, within limit: Duration = .seconds(20),
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if try await condition() { return }
            try await loop.sleep(for: .milliseconds(5))
        }
        Issue.record("waited in vain for: \(what)", sourceLocation: sourceLocation)
        throw Failure(what: what)
    }

    /// Waits until a question about the database is answered with the number.
    func until(
        _ sql: String, is number: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await until("\(number) = \(sql)", sourceLocation: sourceLocation) {
            try await count(sql) == number
        }
    }

    /// Waits until every input was taken and no effect is left to be attempted.
    func untilQuiet(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await until(
            """
            (select count(*) from journey.inbox) + (select count(*) from journey.effect_queue)
            """, is: 0, sourceLocation: sourceLocation)
    }

    // MARK: The database

    /// The number that an SQL expression gives.
    func count(_ expression: String) async throws(PostgresError) -> Int {
        let rows = try await pool.query(
            SQLStatement("e2e_count", "select (\(expression))::bigint as number"))
        return Int(try rows.only().int64("number"))
    }

    /// The texts that a query gives in its column `value`; null is "null".
    func texts(_ query: String) async throws(PostgresError) -> [String] {
        var texts: [String] = []
        for row in try await pool.query(SQLStatement("e2e_texts", query)) {
            texts.append(try row.stringOrNil("value") ?? "null")
        }
        return texts
    }

    func change(_ sql: String) async throws(PostgresError) {
        _ = try await pool.query(SQLStatement("e2e_change", sql))
    }

    /// `workflow status reason` of every run, in order.
    func runs() async throws -> [String] {
        try await texts(
            """
            select workflow || ' ' || status || coalesce(' ' || reason, '') as value
            from journey.runs order by 1
            """)
    }

    /// `step status` of every effect, in order.
    func effects() async throws -> [String] {
        try await texts(
            "select step || ' ' || status as value from journey.effects order by requested_at, 1")
    }

    struct Failure: Error {
        let what: String
    }
}

/// What must never be printed.
enum Secrets {
    static let authorization = "Bearer e2e-authorization-4711"
    static let superwall = "whsec_" + Base64.encode(Array("superwall-signing-key-of-tests".utf8))
    static let signing = "whsec_" + Base64.encode(Array("account-signing-key-of-the-tests".utf8))
    static let token = "Bearer e2e-account-token-4712"

    /// Secrets, and pieces of every body that tests send or receivers answer.
    static let marks = [
        authorization, superwall, signing, token, "e2e-authorization", "e2e-account-token",
        "@example.com", "app_user_id", "subscriber_attributes", "Robin", "originalAppUserId",
        "person-", "answer-of-the-receiver",
    ]

    static func expectNone(
        in lines: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for line in lines {
            for mark in marks where line.contains(mark) {
                Issue.record("the log holds \(mark): \(line)", sourceLocation: sourceLocation)
            }
        }
    }
}

/// The system's clock.
@Sendable func systemClock() -> Instant {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Instant(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
}
