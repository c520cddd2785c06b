import JSON
import Postgres
import TestSupport
import Testing

/// One trial from its first day to its conversion, asked about at every turn of it.
@Suite(.timeLimit(.minutes(2)))
struct StoryTests {
    private let user = "user-1042"

    @Test func `a waiting run says for what and until when`() async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            try await world.deliver("trial-started")
            let runs = try await world.rows("list", "--where", "customer=\(user)")
            #expect(runs.map { $0["status"]?.string } == ["waiting"])
            #expect(runs.map { $0["step"]?.string } == ["first-days"])
            let id = try #require(runs.first?["id"]?.string)
            let shown = try await world.run("show", String(id.prefix(6)))
            #expect(shown.code == 0, "\(shown.error)")
            #expect(shown.output.contains("waits for trial.converted or trial.cancelled"))
            #expect(shown.output.contains("(in 1 d 23 h)"), "\(shown.output)")
            #expect(shown.output.contains("Next wake 2"))
            #expect(shown.error.contains("database: "))
            let json = try #require(try await world.rows("show", id).first)
            #expect(json["why"]?.array?.first?["hold"]?.string == "events")
            #expect(json["next_wake"]?.string != nil)
            #expect(json["history"]?.array?.isEmpty == false)
        }
    }

    @Test func `an unanswered effect is why a run stands still`() async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            try await world.deliver("trial-started")
            try await world.deliver("trial-converted")
            let id = try #require(
                try await world.rows("list", "--where", "workflow=trial-onboarding").first?["id"]?
                    .string)
            let shown = try await world.run("show", id)
            #expect(shown.output.contains("it waits for effect"), "\(shown.output)")
            #expect(shown.output.contains("no dispatcher runs: none was ever seen"))
            let effects = try await world.rows(
                "effects", "--where", "customer=\(user) status=pending")
            #expect(effects.contains { $0["step"]?.string == "tell-converted" })
        }
    }

    @Test func `the timeline tells everything in order`() async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            try await world.deliver("trial-started")
            try await world.deliver("trial-converted")
            try await world.answerEffect()
            let lines = try await world.rows("customer", user)
            let journey = lines.filter {
                ($0["workflow"]?.string ?? "trial-onboarding") == "trial-onboarding"
            }
            #expect(
                journey.map { $0["what"]?.string ?? "" } == [
                    "delivery", "event", "entered", "waiting",
                    "delivery", "event", "input", "moved", "requested", "waiting",
                    "effect", "input", "moved", "ended",
                ], "\(lines.map(\.text).joined(separator: "\n"))")
            let times = lines.compactMap { $0["at"]?.string }
            #expect(times == times.sorted())
            let told = try await world.run("customer", user)
            #expect(told.output.contains("Known as user-1042"))
            #expect(told.output.contains("trial.started (revenuecat), occurred 2026-03-02T09:00"))
            #expect(told.output.contains("first-days -> tell-converted by converted"))
            #expect(told.output.contains("tell-converted succeeded after 1 attempt"))
            let json = try JSONParser.parse(
                try await world.run("customer", user, "-o", "json").output)
            #expect(json["runs"]?.array?.isEmpty == false)
            #expect(json["timeline"]?.array?.count == lines.count)
            let short = try await world.run("customer", user, "--limit", "2", "-o", "jsonl")
            #expect(short.output.split(separator: "\n").count == 2)
        }
    }

    @Test func `deliveries are listed, shown and written out as received`() async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            try await world.deliver("trial-started")
            let rows = try await world.rows("deliveries", "--where", "connector=revenuecat")
            let id = try #require(rows.first?["id"]?.integer)
            #expect(rows.first?["state"]?.string == "processed")
            let raw = try await world.run("deliveries", "raw", "\(id)")
            #expect(Array(raw.output.utf8) == (try StoryWorld.body("trial-started")))
            let shown = try JSONParser.parse(
                try await world.run("deliveries", "show", "\(id)").output)
            #expect(shown["body"]?["event"]?["type"]?.string == "INITIAL_PURCHASE")
            #expect(try await world.rows("deliveries", "--where", "customer=\(user)").count == 1)
            #expect(try await world.rows("deliveries", "--where", "status=unread").isEmpty)
            #expect(try await world.run("deliveries", "show", "999999999").code == 4)
            #expect(try await world.run("deliveries", "show", "first").code == 2)
        }
    }

    @Test func `events and history are listed`() async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            try await world.deliver("trial-started")
            let events = try await world.rows("events", "--where", "event=trial.started")
            #expect(events.map { $0["customer"]?["id"]?.string } == [user])
            let id = try #require(events.first?["id"]?.string)
            #expect(try await world.rows("events", String(id.prefix(12))).count == 1)
            #expect(try await world.rows("events", "--where", "event=trial.expired").isEmpty)
            let run = try #require(
                try await world.rows("list", "--where", "customer=\(user)").first?["id"]?.string)
            let history = try await world.run("history", run)
            #expect(history.output.contains("entered version 1 by trial.started"))
            let decisions = try await world.rows("history", run)
            #expect(decisions.first?["decision"]?.integer == 1)
            #expect(decisions.first?["entries"]?.array?.isEmpty == false)
        }
    }

    @Test func `ids of one verb are the next one's standard input`() async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            try await world.deliver("trial-started")
            let ids = try await world.run("list", "-o", "ids").output
            let lines = ids.split(separator: "\n").map(String.init)
            #expect(lines.count == 1)
            let listed = try await world.run(
                "list", "-", "-o", "ids", in: ReplayWorld(lines: lines))
            #expect(listed.output == ids)
            // No line is no run, never all of them.
            let none = try await world.run("list", "-", "-o", "ids", in: ReplayWorld())
            #expect(none.output.isEmpty)
        }
    }

    @Test func `what is not there ends with 4`() async throws {
        try await StoryWorld.with { world in
            for words in [
                ["show", "ffffffff"], ["history", "x"], ["customer", "nobody"],
                ["events", "evt_none"], ["effects", "none"], ["list", "none"],
            ] {
                let answer = try await ReplayWorld().run(
                    ["--database", world.settings.connectionString] + words)
                #expect(answer.code == 4, "\(words): \(answer.error)")
                #expect(answer.output.isEmpty)
            }
        }
    }

    @Test func `a beginning that several runs share is refused with their ids`() async throws {
        try await StoryWorld.with { world in
            _ = try await world.pool.query(
                SQLStatement(
                    "seven_runs",
                    """
                    insert into journey.runs (
                        customer, id, workflow, version, digest, slot, cause, rerun, environment,
                        status, entered_at, ended_at, decisions, state
                    )
                    select 1, id, 'welcome', 1, '', 0, id, 0, 'production', 'completed', now(),
                        now(), 1, '{}'
                    from unnest(array['abc1', 'abc2', 'abc3', 'abc4', 'abc5', 'abc6', 'abd1']) id
                    """))
            let shared = try await world.run("show", "abc")
            #expect(shared.code == 2)
            #expect(
                shared.error.contains("abc1, abc2, abc3, abc4, abc5 and others"), "\(shared.error)")
            #expect(try await world.rows("list", "abd").map { $0["id"]?.string } == ["abd1"])
        }
    }

    @Test func `ids and terms are not mixed, and a wrong term names the right ones`() async throws {
        let both = try await ReplayWorld().run("list", "a", "--where", "status=waiting")
        #expect(both.code == 2)
        let wrong = try await ReplayWorld().run("list", "--where", "statsu=waiting")
        #expect(wrong.code == 2)
        #expect(wrong.error.contains("did you mean \"status\"?"))
    }
}
