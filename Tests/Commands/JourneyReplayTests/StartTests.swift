import JSON
import JourneyEngine
import JourneyModel
import JourneyStorage
import Postgres
import TestSupport
import Testing

/// Starting one customer, a segment, or whoever a condition holds for.
@Suite(.timeLimit(.minutes(3)))
struct StartTests {
    private static func workflow(_ id: String, key: JSONValue? = nil) -> JSONValue {
        var entry = JSONObject([
            ("trigger", ["event": "trial.started"]), ("reentry", "every_time"),
            ("where", ["exists": ["ref": "/customer/plan"]]),
        ])
        entry["key"] = key
        return .object(
            JSONObject([
                ("dsl", 1), ("id", .string(id)), ("kind", "journey"), ("entry", .object(entry)),
                ("start", "rest"),
                ("steps", ["rest": ["type": "delay", "for": "P1D", "next": "end"]]),
            ]))
    }

    /// Twelve customers, every third of them without a plan; even ones are in the segment `even`, and
    /// the first two have subscriptions.
    private func withCustomers(
        _ body: @escaping @Sendable (StoryWorld) async throws -> Void
    ) async throws {
        try await StoryWorld.with { world in
            try await world.publish(Self.workflow("win-back"))
            try await world.publish(Self.workflow("renewal", key: "subscription"))
            let statements: [SQLStatement] = [
                SQLStatement(
                    "start_test_customers",
                    """
                    insert into journey.customers (id, environment, app, attributes)
                    select n, case when n = 12 then 'sandbox' else 'production' end, null,
                        case when n % 3 = 0 then '{}' else '{"plan":"pro"}' end::json
                    from generate_series(1, 12) n
                    """),
                SQLStatement(
                    "start_test_ids",
                    """
                    insert into journey.customer_ids (environment, app, external_id, customer, is_own)
                    select environment, '', 'user-' || id, id, true from journey.customers
                    """),
                SQLStatement(
                    "start_test_segments",
                    """
                    insert into journey.segments (id, live_version) values ('even', 1)
                    """),
                SQLStatement(
                    "start_test_versions",
                    """
                    insert into journey.segment_versions
                        (segment, version, digest, canonical, published_at, published_by, reason)
                    values ('even', 1, 'd', convert_to(
                        '{"dsl":1,"id":"even","if":{"exists":{"ref":"/customer/even"}}}', 'UTF8'),
                        now(), 'test', 'test')
                    """),
                SQLStatement(
                    "start_test_members",
                    """
                    insert into journey.segment_members (customer, segment, entered_at)
                    select n, 'even', now() from generate_series(2, 12, 2) n
                    """),
                SQLStatement(
                    "start_test_subscriptions",
                    """
                    insert into journey.subscriptions
                        (customer, connector, subscription_key, environment, state, changed_at)
                    select n, 'till', 'sub-' || n || '-' || k, 'production', '{"format":1,"fields":{}}', now()
                    from generate_series(1, 2) n, generate_series(1, n) k
                    """),
            ]
            for statement in statements { _ = try await world.pool.query(statement, []) }
            try await body(world)
        }
    }

    private func runs(_ world: StoryWorld) async throws -> Int64 {
        try await world.pool.query(
            SQLStatement("start_test_runs", "select count(*) as n from journey.runs"), []
        ).only().int64("n")
    }

    private func inputs(_ world: StoryWorld) async throws -> Int64 {
        try await world.pool.query(
            SQLStatement("start_test_inputs", "select count(*) as n from journey.inbox"), []
        ).only().int64("n")
    }

    private func audits(of cause: String, _ world: StoryWorld) async throws -> Int64 {
        try await world.pool.query(
            SQLStatement(
                "start_test_audits",
                "select count(*) as n from journey.audit where detail ->> 'cause' = $1"),
            [.text(cause)]
        ).only().int64("n")
    }

    private func file(
        _ text: String, _ world: StoryWorld, _ words: String...
    ) async throws -> Answer {
        try await TemporaryFolder.with { folder in
            let path = write(text, to: "who.json", in: folder)
            return try await ReplayWorld().run(
                ["--database", world.settings.connectionString, "start", "win-back", "--if", path]
                    + words)
        }
    }

    // S4.2
    @Test func `a segment, a condition or everybody is counted first, and started once`()
        async throws
    {
        try await withCustomers { world in
            let why = ["--reason", "sale"]
            // Nothing said is nobody; two ways at once are none.
            #expect(try await world.run("start", "win-back", "--reason", "sale").code == 2)
            #expect(
                try await world.run(
                    "start", "win-back", "--all", "--segment", "even", "--reason", "x"
                ).code == 2)
            #expect(try await world.run("start", "win-back", "--all").code == 2)
            let dry = try await world.run("start", "win-back", "--segment", "even", "--dry-run")
            #expect(dry.code == 0, "\(dry.error)")
            #expect(dry.error.contains("5 customers selected"), "\(dry.error)")
            #expect(dry.output.contains("user-10"))
            #expect(!dry.output.contains("user-12"))
            #expect(try await inputs(world) == 0)
            // A script says how many.
            let many = ["start", "win-back", "--segment", "even", "--yes"] + why
            #expect(try await ReplayWorld().run(database(world) + many).code == 6)
            let wrong = try await ReplayWorld().run(database(world) + many + ["--expect", "4"])
            #expect(wrong.code == 6)
            #expect(wrong.error.contains("--expect says 4, and 5 customers"), "\(wrong.error)")
            let once = many + ["--expect", "5", "--idempotency-key", "sale-1", "-o", "jsonl"]
            let started = try await ReplayWorld().run(database(world) + once)
            #expect(started.code == 0, "\(started.error)")
            let row = try JSONParser.parse(started.output)
            #expect(row["asked"]?.integer == 5)
            #expect(row["batch"]?.string == "sale-1")
            // The same batch again, before and after the turns, asks nobody twice.
            let again = try await ReplayWorld().run(database(world) + once)
            #expect(try JSONParser.parse(again.output)["before"]?.integer == 5)
            try await world.takeTurns()
            // The entry's own filter keeps out who has no plan.
            #expect(try await runs(world) == 4)
            let third = try await ReplayWorld().run(database(world) + once)
            #expect(try JSONParser.parse(third.output)["before"]?.integer == 4)
            try await world.takeTurns()
            #expect(try await runs(world) == 4)
            #expect(
                try await audits(of: "sale-1", world) == 3)
            // Live runs are in the way of another batch.
            let other = try await world.run(
                "start", "win-back", "--all", "--yes", "--expect", "11", "--reason", "x", "-o",
                "jsonl")
            #expect(try JSONParser.parse(other.output)["live"]?.integer == 4)
            #expect(try JSONParser.parse(other.output)["asked"]?.integer == 7)
        }
    }

    private func database(_ world: StoryWorld) -> [String] {
        ["--database", world.settings.connectionString]
    }

    @Test func `a condition reads customers, subscriptions and segments, and no more`() async throws
    {
        try await withCustomers { world in
            for (text, count) in [
                (#"{"eq": [{"ref": "/customer/plan"}, "pro"]}"#, "8 customers"),
                (#"{"segment": {"id": "even", "member": false}}"#, "6 customers"),
                (#"{"subscription": {"exists": {"ref": "/now"}}}"#, "2 customers"),
            ] {
                let answer = try await file(text, world, "--dry-run")
                #expect(answer.error.contains("\(count) selected"), "\(text): \(answer.error)")
            }
            for (text, code, words) in [
                (#"{"eq": [{"ref": "/event/store"}, "x"]}"#, 1 as Int32, "who.json:1:"),
                (#"{"segment": {"id": "evn", "member": true}}"#, 1, "even"),
                (#"{"feature": {"id": "pro", "allowed": true}}"#, 6, "publish a segment"),
                (#"{"exists": {"ref": "/customer/nothing"}}"#, 4, "No customer"),
                ("{", 1, "who.json"),
            ] {
                let answer = try await file(text, world, "--dry-run")
                #expect(answer.code == code, "\(text): \(answer.error)")
                #expect(answer.error.contains(words), "\(text): \(answer.error)")
            }
            let missing = try await world.run("start", "win-back", "--segment", "evn", "--dry-run")
            #expect(missing.code == 4)
        }
    }

    @Test func `a workflow told apart by subscriptions starts a run for each, or for one named`()
        async throws
    {
        try await withCustomers { world in
            let all = try await world.run(
                "start", "renewal", "--all", "--yes", "--expect", "11", "--reason", "x", "-o",
                "jsonl")
            #expect(all.code == 0, "\(all.error)")
            #expect(try JSONParser.parse(all.output)["asked"]?.integer == 3)
            #expect(try JSONParser.parse(all.output)["without_subscription"]?.integer == 9)
            try await world.takeTurns()
            let runs = try await world.rows("list", "--where", "workflow=renewal")
            #expect(
                runs.compactMap { $0["key"]?.string }.sorted() == [
                    "sub-1-1", "sub-2-1", "sub-2-2",
                ])
            let words = ["start", "renewal", "--customer", "user-2", "--reason", "x", "--yes"]
            let unsaid = try await ReplayWorld().run(database(world) + words)
            #expect(unsaid.code == 6)
            #expect(unsaid.error.contains("till/sub-2-1, till/sub-2-2"), "\(unsaid.error)")
            let taken = try await ReplayWorld().run(
                database(world) + words + ["--subscription", "sub-2-2"])
            #expect(taken.code == 6)
            #expect(taken.error.contains("--supersede"), "\(taken.error)")
            let unknown = try await ReplayWorld().run(
                database(world) + words + ["--subscription", "other"])
            #expect(unknown.code == 4)
            let ended = try await ReplayWorld().run(
                database(world) + words + ["--subscription", "sub-2-2", "--supersede"])
            #expect(ended.code == 0, "\(ended.error)")
            try await world.takeTurns()
            #expect(
                try await world.rows("list", "--where", "workflow=renewal status=superseded").count
                    == 1)
        }
    }

    @Test func `publishing a segment says whom it takes in and lets go`() async throws {
        try await withCustomers { world in
            try await TemporaryFolder.with { folder in
                let parts = [
                    (
                        "even.json",
                        #"{"dsl":1,"id":"even","if":{"eq":[{"ref":"/customer/plan"},"pro"]}}"#
                    ),
                    (
                        "both.json",
                        #"{"dsl":1,"id":"both","if":{"segment":{"id":"even","member":true}}}"#
                    ),
                    (
                        "paid.json",
                        #"{"dsl":1,"id":"paid","if":{"events":{"event":"trial.started","within":"P1D"}}}"#
                    ),
                ]
                for (name, text) in parts { _ = write(text, to: "segments/" + name, in: folder) }
                let path = folder + "/segments"
                let answer = try await world.run("publish", path, "--dry-run", "-o", "jsonl")
                #expect(answer.code == 0, "\(answer.error)")
                let rows = try answer.output.split(separator: "\n").map {
                    try JSONParser.parse(String($0))
                }
                func count(_ id: String, _ key: String) -> Int64? {
                    rows.first { $0["workflow"]?.string == "segments/\(id)" }?[key]?.integer
                }
                // Of the even ones 2, 4, 8 and 10 have a plan, 6 and 12 have none.
                #expect(count("even", "enters") == 4)
                #expect(count("even", "leaves") == 2)
                #expect(count("both", "enters") == 8)
                #expect(count("paid", "enters") == nil)
                #expect(answer.error.contains("Not counted"), "\(answer.error)")
            }
        }
    }
}
