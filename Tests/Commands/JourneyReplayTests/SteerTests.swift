import JSON
import JourneyEngine
import JourneyModel
import JourneyStorage
import Postgres
import TestSupport
import Testing

/// Verbs that change what customers go through, and the guards before them.
@Suite(.timeLimit(.minutes(2)))
struct SteerTests {
    private let user = "user-1042"

    /// A customer whose run failed, because its receiver answered 500 to the last attempt.
    private func withFailedRun(
        outcome: EffectOutcome = .failed(error: "http_500", detail: .null),
        _ body:
            @escaping @Sendable (StoryWorld, _ run: String, _ effect: String) async throws ->
            Void
    ) async throws {
        try await StoryWorld.with { world in
            try await world.publish(Self.workflow)
            try await world.deliver("trial-started")
            try await world.endEffect(outcome)
            let run = try #require(
                try await world.rows("list", "--where", "workflow=tell").first?["id"]?.string)
            let effect = try #require(
                try await world.rows("effects", "--where", "customer=\(user)").first?["id"]?.string)
            try await body(world, run, effect)
        }
    }

    private static let workflow: JSONValue = [
        "dsl": 1, "id": "tell", "kind": "automation",
        "entry": ["trigger": ["event": "trial.started"], "reentry": "every_time"],
        "start": "tell",
        "steps": [
            "tell": [
                "type": "action", "tool": "http", "account": "crm",
                "with": ["path": "/tell", "json": ["run": ["ref": "/run/id"]]], "next": "end",
            ]
        ],
    ]

    @Test func `no id, or an empty one, never means everybody`() async throws {
        try await StoryWorld.with { world in
            try await world.publish(Self.workflow)
            for verb in [["cancel"], ["retry"], ["dead", "discard"]] {
                for word in ["", "-"] {
                    let answer = try await ReplayWorld().run(
                        ["--database", world.settings.connectionString] + verb
                            + [word, "--reason", "x", "--yes"])
                    #expect(answer.code == 6, "\(verb) \(word): \(answer.error)")
                    #expect(answer.error.contains("no id was given"))
                }
            }
        }
    }

    // S13.5 S13.8
    @Test func `an effect that its run failed with is attempted again under its own id`()
        async throws
    {
        try await withFailedRun { world, run, effect in
            let dead = try await world.rows("dead", "list")
            #expect(dead.map { $0["id"]?.string } == [effect])
            #expect(dead.first?["repairable"]?.bool == true)
            #expect(dead.first?["error"]?.string == "http_500")
            let answer = try await world.run(
                "retry", effect, "--yes", "--reason", "it is back", "--no-wait")
            // Stored, and not yet decided.
            #expect(answer.code == 7, "\(answer.error)")
            #expect(answer.error.contains("1 undecided"))
            try await world.takeTurns()
            #expect(
                try await world.rows("list", "--where", "workflow=tell").map {
                    $0["status"]?.string
                } == ["waiting"])
            let leased = try await world.endEffect(.succeeded(["status": 200]))
            #expect(leased.map(\.request.invocation.text) == [effect])
            #expect(leased.map(\.attempt) == [1])
            #expect(leased.map(\.fence) == [2])
            let ended = try await world.rows("list", "--where", "workflow=tell")
            #expect(ended.map { $0["status"]?.string } == ["completed"])
            #expect(try await world.rows("dead", "list").isEmpty)
            // The history says who asked, by the audit's number.
            let history = try await world.run("history", run, "-o", "json")
            #expect(history.output.contains(#""command": "retry""#), "\(history.output)")
            #expect(history.output.contains(#""audit": 2"#))
        }
    }

    @Test func `a run whose place was taken is not repaired`() async throws {
        try await withFailedRun { world, run, effect in
            try await world.deliver("trial-started", id: "another")
            let answer = try await world.run(
                "retry", run, "--yes", "--reason", "try", "--no-wait", "-o", "jsonl")
            #expect(answer.code == 7)
            try await world.takeTurns()
            let store = CommandStore(pool: world.pool)
            let audit = try #require(
                try JSONParser.parse(answer.output)["audit"]?.integer)
            let outcome = try #require(try await store.outcomes(of: audit).first)
            #expect(outcome.word == "refused")
            #expect(outcome.sentence?.contains("place was taken") == true)
        }
    }

    // S13.4
    @Test func `what may have arrived is listed until somebody settles it`() async throws {
        try await withFailedRun(outcome: .unknown) { world, _, effect in
            #expect(try await world.rows("dead", "list", "--ambiguous").count == 1)
            let answer = try await world.run(
                "dead", "discard", "--ambiguous", "--all", "--yes", "--reason", "told by phone")
            #expect(answer.code == 0, "\(answer.error)")
            #expect(answer.error.contains("1 effect settled"))
            #expect(try await world.rows("dead", "list").isEmpty)
            let again = try await world.run(
                "dead", "discard", effect, "--yes", "--reason", "again")
            #expect(again.code == 4)
        }
    }

    @Test func `a live run is cancelled, and its effect taken back`() async throws {
        try await StoryWorld.with { world in
            try await world.publish(Self.workflow)
            try await world.deliver("trial-started")
            let run = try #require(
                try await world.rows("list", "--where", "workflow=tell").first?["id"]?.string)
            let dry = try await world.run("cancel", "--where", "workflow=tell", "--dry-run")
            #expect(dry.code == 0 && dry.output.contains(run))
            #expect(dry.error.contains("1 run selected"))
            let answer = try await world.run(
                "cancel", run, "--yes", "--reason", "asked for", "--no-wait")
            #expect(answer.code == 7)
            try await world.takeTurns()
            let ended = try await world.rows("list", "--where", "workflow=tell")
            #expect(ended.map { $0["status"]?.string } == ["cancelled"])
            #expect(ended.map { $0["reason"]?.string } == ["asked for"])
            #expect(
                try await world.rows("effects", "--where", "customer=\(user)").map {
                    $0["status"]?.string
                } == ["withdrawn"])
            let late = try await world.run("cancel", run, "--yes", "--reason", "again")
            #expect(late.code == 6 && late.error.contains("has ended"))
        }
    }

    @Test func `a stuck customer is set free`() async throws {
        try await StoryWorld.with { world in
            try await world.publish(Self.workflow)
            try await world.deliver("trial-started")
            _ = try await world.pool.query(
                SQLStatement(
                    "test_stick",
                    """
                    insert into journey.set_aside (customer, since, attempts, error)
                    select id, now(), 5, 'refused' from journey.customers
                    """))
            let none = try await world.run("retry", "--stuck", "--yes", "--reason", "mended")
            #expect(none.code == 6 && none.error.contains("--all"))
            let answer = try await world.run(
                "retry", "--stuck", "--all", "--yes", "--reason", "mended")
            #expect(answer.code == 0, "\(answer.error)")
            #expect(answer.error.contains("1 customer set free"))
            let again = try await world.run(
                "retry", "--stuck", "--all", "--yes", "--reason", "mended")
            #expect(again.code == 4)
        }
    }

    @Test func `guards stand before every change`() async throws {
        try await withFailedRun { world, run, effect in
            for (words, code, part) in [
                (["retry", effect, "--yes"], 2, "--reason"),
                (["retry", "--yes", "--reason", "r"], 6, "--all"),
                (
                    ["retry", "nothing-of-that-name", "--yes", "--reason", "r"], 4,
                    "journey-replay effects"
                ),
                (
                    ["retry", effect, "--yes", "--expect", "2", "--reason", "r"], 6,
                    "--expect says 2"
                ),
                (["retry", effect, "--reason", "r"], 6, "--yes"),
                (["cancel", "--where", "workflow=other", "--yes", "--reason", "r"], 4, "selected"),
                (["cancel", run, "--yes", "--reason", "r"], 6, "has ended"),
                (["dead", "discard", "--yes", "--reason", "r"], 6, "--all"),
            ] as [([String], Int32, String)] {
                let answer = try await ReplayWorld().run(
                    ["--database", world.settings.connectionString] + words)
                #expect(answer.code == code, "\(words): \(answer.error)")
                #expect(answer.error.contains(part), "\(words): \(answer.error)")
            }
            // None of them left anything behind.
            #expect(
                try await world.count(
                    SQLStatement("test_inputs", "select count(*) from journey.inbox")) == 0)
            #expect(
                try await world.count(
                    SQLStatement(
                        "test_audit",
                        "select count(*) from journey.audit where verb <> 'publish'")) == 0)
        }
    }
}

extension StoryWorld {
    func publish(_ workflow: JSONValue) async throws {
        let answer = try await TemporaryFolder.with { folder in
            let path = write(workflow.text, to: "\(workflow["id"]?.string ?? "").json", in: folder)
            return try await run("publish", path, "--yes", "--reason", "the test's")
        }
        #expect(answer.code == 0, "\(answer.error)")
    }

    /// Ends the effect that waits, as its last attempt, and takes the turn of its result.
    @discardableResult
    func endEffect(_ outcome: EffectOutcome) async throws -> [LeasedEffect] {
        let store = EffectStore(pool: pool)
        let leased = try await store.lease([
            EffectCapacity(tool: "http", account: "crm", free: 10)
        ])
        #expect(leased.count == 1)
        _ = try await store.finish(
            leased.map { FinishedAttempt(lease: $0, outcome: "x", next: .end(outcome)) })
        try await takeTurns()
        return leased
    }

    func count(_ statement: SQLStatement) async throws -> Int64 {
        try await pool.query(statement).only().int64("count")
    }
}
