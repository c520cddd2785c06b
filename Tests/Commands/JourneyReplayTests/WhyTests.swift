import JSON
import JourneyEngine
import JourneyModel
import JourneyStorage
import Postgres
import TestSupport
import Testing
import TimeZones

/// Why a run does not move: each cause there is, told by what is stored.
@Suite(.timeLimit(.minutes(2)))
struct WhyTests {
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

    private static func process(
        _ id: String = "one", holds: Bool = false, account: String = "crm",
        concurrency: Int = 1, rate: Double? = nil, most: Int = 4
    ) -> WorkerProcess {
        WorkerProcess(
            id: id, host: "here", roles: [.worker, .dispatch], holdsEffects: holds,
            dispatchConcurrency: most,
            accounts: [
                WorkerProcess.Account(
                    tool: "http", name: account, concurrency: concurrency, ratePerSecond: rate)
            ])
    }

    /// A world in which one run waits for an effect that is due.
    private func withWaitingRun(
        _ body: @escaping @Sendable (StoryWorld, _ run: String) async throws -> Void
    ) async throws {
        try await StoryWorld.with { world in
            try await world.publish(Self.workflow)
            try await world.deliver("trial-started")
            let run = try #require(
                try await world.rows("list", "--where", "workflow=tell").first?["id"]?.string)
            try await body(world, run)
        }
    }

    // S20.seen
    @Test func `each cause that keeps an effect is told`() async throws {
        try await withWaitingRun { world, run in
            let processes = ProcessStore(pool: world.pool)
            #expect(try await world.why(run) == ["no_dispatcher", "effect", "no_worker"])
            // Who tells that it holds effects back.
            try await processes.tell(Self.process(holds: true))
            #expect(try await world.why(run) == ["held", "effect"])
            try await processes.end("one")
            let stopped = try await world.run("show", run)
            #expect(stopped.output.contains("no dispatcher runs: the last was seen 2"))
            // Another configuration than the workflow's.
            try await processes.tell(Self.process("two", account: "other"))
            #expect(try await world.why(run) == ["no_account", "effect"])
            let absent = try await world.run("show", run)
            #expect(absent.output.contains("no dispatcher serves the account crm"))
            // Somebody serves it: it is taken up at once, and nothing else is in its way.
            try await processes.tell(Self.process("three"))
            #expect(try await world.why(run) == ["effect"])
            try await world.sql("test_why_1", Self.leasingAnother)
            #expect(try await world.why(run) == ["account_concurrency", "effect"])
            try await world.sql(
                "test_why_2", "update journey.effect_queue set account = 'x' where run = 'other'")
            try await processes.end("three")
            try await processes.tell(Self.process("four", concurrency: 9, most: 1))
            #expect(try await world.why(run) == ["dispatch_concurrency", "effect"])
            try await processes.end("four")
            try await processes.tell(Self.process("five", concurrency: 9, rate: 0.001))
            try await world.sql(
                "test_why_3",
                "insert into journey.account_limits values ('http', 'crm', clock_timestamp())")
            #expect(try await world.why(run) == ["account_rate", "effect"])
            try await processes.end("five")
            var troubled = Self.process("six", concurrency: 9)
            troubled.dispatchTrouble = "no space left"
            try await processes.tell(troubled)
            #expect(try await world.why(run) == ["dispatch_trouble", "effect"])
        }
    }

    /// An attempt of the same account that is under way.
    private static let leasingAnother = """
        insert into journey.effect_queue (
            customer, invocation, run, tool, account, due_at, deadline, attempt_timeout_ms, lease_until
        )
        values (999, 'other', 'other', 'http', 'crm', now() + interval '1 hour',
            now() + interval '1 day', 1000, now() + interval '1 hour')
        """

    @Test func `a closed window is told, and is when the run wakes`() async throws {
        try await withWaitingRun { world, run in
            try await ProcessStore(pool: world.pool).tell(Self.process())
            // Two to three hours from now, whatever the clock says.
            try await world.sql(
                "test_why_4",
                """
                with w as (
                    select date_trunc('hour', now() at time zone 'UTC') + interval '2 hours' as opens
                ), e as (
                    update journey.effects set send_window = json_build_object(
                        'start', to_char(opens, 'HH24:MI'),
                        'end', to_char(opens + interval '1 hour', 'HH24:MI'), 'timezone', 'Etc/UTC')
                    from w
                )
                update journey.effect_queue set due_at = opens at time zone 'UTC' from w
                """)
            #expect(try await world.why(run) == ["window", "effect"])
            let shown = try #require(try await world.rows("show", run).first)
            let wake = try #require(shown["next_wake"]?.string)
            #expect(wake.hasSuffix(":00:00.000Z"), "\(wake)")
            let listed = try await world.rows("list", "--where", "workflow=tell")
            #expect(listed.map { $0["wake_at"]?.string } == [wake])
        }
    }

    @Test func `what keeps a turn is told, and the number of inputs before it`() async throws {
        try await withWaitingRun { world, run in
            let processes = ProcessStore(pool: world.pool)
            try await processes.tell(Self.process())
            try await world.sql(
                "test_why_5",
                """
                insert into journey.inbox (customer, kind, payload, environment)
                select id, 'command', '{}'::json, 'production' from journey.customers
                """)
            #expect(try await world.why(run).first == "unread_inputs")
            var troubled = Self.process()
            troubled.turnTrouble = "the database is full"
            try await processes.tell(troubled)
            #expect(try await world.why(run).prefix(2) == ["turn_trouble", "unread_inputs"])
            try await processes.end("one")
            #expect(try await world.why(run).prefix(2) == ["no_worker", "unread_inputs"])
        }
    }

    @Test func `a run that failed says with what, and what attempts it again`() async throws {
        try await withWaitingRun { world, run in
            try await world.endEffect(.failed(error: "http_500", detail: .null))
            #expect(try await world.why(run) == ["ended", "dead_effect"])
            let shown = try await world.run("show", run)
            #expect(shown.output.contains("ended failed with http_500 after 1 attempt"))
            #expect(shown.output.contains("journey-replay retry "))
        }
    }

    @Test func `a run that nothing would move is told as a fault`() async throws {
        try await withWaitingRun { world, run in
            try await ProcessStore(pool: world.pool).tell(Self.process())
            try await world.sql("test_why_6", "delete from journey.effect_queue")
            #expect(try await world.why(run) == ["fault", "effect"])
        }
    }

    // MARK: Ids

    @Test func `effects and events go by eight characters of their id`() async throws {
        try await withWaitingRun { world, run in
            try await world.endEffect(.failed(error: "http_500", detail: .null))
            let effect = try #require(
                try await world.rows("effects", run).first?["id"]?.string)
            #expect(
                try await world.rows("effects", String(effect.prefix(8))).map {
                    $0["id"]?.string
                } == [effect])
            let short = try await world.run("effects", String(effect.prefix(7)))
            #expect(short.code == 2 && short.error.contains("at least 8"), "\(short.error)")
            let event = try #require(try await world.rows("events").first?["id"]?.string)
            #expect(
                try await world.rows("events", String(event.prefix(12))).map {
                    $0["id"]?.string
                } == [event])
            #expect(try await world.run("events", String(event.prefix(8))).code == 2)
            #expect(try await world.run("events", "evt_0000000000").code == 4)
            let again = try await world.run(
                "retry", String(effect.prefix(8)), "--yes", "--no-wait", "--reason", "it is back")
            #expect(again.code == 7, "\(again.error)")
            // A second effect whose id differs in its last character.
            try await world.sql(
                "test_why_7",
                """
                insert into journey.effects (
                    customer, invocation, run, step, attempt_group, tool, account, request,
                    requested_at, deadline, attempt_timeout_ms, retry
                )
                select customer, left(invocation, 63)
                        || case right(invocation, 1) when '0' then '1' else '0' end,
                    run, step, 1, tool, account, request, requested_at, deadline,
                    attempt_timeout_ms, retry
                from journey.effects
                """)
            let shared = try await world.run(
                "dead", "discard", String(effect.prefix(20)), "--yes", "--reason", "settled")
            #expect(shared.code == 2)
            #expect(shared.error.contains(effect), "\(shared.error)")
            let whole = try await world.rows("effects", effect)
            #expect(whole.map { $0["id"]?.string } == [effect])
        }
    }

    // MARK: Audit

    @Test func `the audit tells who changed what, why and how many`() async throws {
        try await withWaitingRun { world, run in
            let cancelled = try await world.run(
                "cancel", run, "--yes", "--no-wait", "--reason", "asked by support",
                in: ReplayWorld(environment: ["USER": "ada"]))
            #expect(cancelled.code == 7, "\(cancelled.error)")
            try await world.takeTurns()
            let rows = try await world.rows("audit")
            #expect(rows.map { $0["verb"]?.string } == ["cancel", "publish"])
            let row = try #require(rows.first)
            #expect(row["who"]?.string == "ada")
            #expect(row["reason"]?.string == "asked by support")
            #expect(row["count"]?.integer == 1)
            #expect(row["done"]?.integer == 1)
            #expect(row["detail"]?["ids"]?.array?.compactMap(\.string) == [run])
            #expect(rows.last?["what"]?.string == "tell v1")
            let number = try #require(row["id"]?.integer)
            #expect(try await world.rows("audit", "\(number)").count == 1)
            #expect(try await world.rows("audit", "--where", "verb=cancel who=ada").count == 1)
            #expect(try await world.rows("audit", "--where", "until=2020-01-01T00:00:00Z").isEmpty)
            let table = try await world.run("audit", "--where", "verb=cancel")
            #expect(table.output.contains("1 run: \(run.prefix(12))"), "\(table.output)")
            #expect(try await world.run("audit", "999").code == 4)
            #expect(try await world.run("audit", "x").code == 2)
        }
    }

    @Test(arguments: [
        ["cancel", "3f2a"], ["retry", "3f2a3f2a"], ["dead", "discard", "3f2a3f2a"],
        ["start", "tell", "--customer", "u"],
    ])
    func `a reason that is too long is refused with the limit`(verb: [String]) async throws {
        let reason = String(repeating: "x", count: 1_001)
        let answer = try await ReplayWorld().run(verb + ["--yes", "--reason", reason])
        #expect(answer.code == 2)
        #expect(answer.error.contains("at most 1000"), "\(answer.error)")
    }
}

extension StoryWorld {
    /// The words for what holds a run, the foremost first.
    func why(_ run: String) async throws -> [String] {
        let shown = try await rows("show", run).first
        return shown?["why"]?.array?.compactMap { $0["hold"]?.string } ?? []
    }

    /// A change behind the product's back.
    func sql(_ name: StaticString, _ text: String) async throws {
        _ = try await pool.query(SQLStatement(name, text))
    }
}
