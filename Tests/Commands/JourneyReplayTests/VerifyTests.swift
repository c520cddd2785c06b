import JSON
import Postgres
import TestMaterial
import TestSupport
import Testing

/// Stored runs, made again, asked about, carried away and read back.
@Suite(.timeLimit(.minutes(2)))
struct VerifyTests {
    /// A world in which one trial converted, and its run has ended.
    private func withStory(
        _ body:
            @escaping @Sendable (StoryWorld, _ run: String, _ folder: String) async throws -> Void
    ) async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            try await world.deliver("trial-started")
            try await world.deliver("trial-converted")
            try await world.answerEffect()
            let run = try #require(
                try await world.rows("list", "--where", "workflow=trial-onboarding").first?["id"]?
                    .string)
            try await TemporaryFolder.with { try await body(world, run, $0) }
        }
    }

    /// Alters what every row of history says.
    private static func alter(_ old: String, _ new: String, _ world: StoryWorld) async throws {
        _ = try await world.pool.query(
            SQLStatement(
                "test_alter_history",
                """
                update journey.history
                set entries = replace(entries::text, $1::text, $2::text)::json
                """), [.text(old), .text(new)])
    }

    @Test func `a run whose history is past its retention is told, and is no divergence`()
        async throws
    {
        try await withStory { world, run, folder in
            _ = try await world.pool.query(
                SQLStatement("test_cut", "delete from journey.history where decision = 1"))
            _ = try await world.pool.query(
                SQLStatement(
                    "test_horizon",
                    "insert into journey.horizons values ('history', now() + interval '1 day')"))
            let answer = try await world.run("verify", run, "-o", "json")
            #expect(answer.code == 0, "\(answer.error)")
            #expect(answer.output.contains("not_kept"))
            #expect(answer.error.contains("1 cannot be checked (erased, or past retention)"))
            // Without the horizon a missing row is what it always was.
            _ = try await world.pool.query(
                SQLStatement("test_uncut", "delete from journey.horizons"))
            #expect(try await world.run("verify", run).code == 5)
        }
    }

    // S19.2
    @Test func `what the worker decided is what its history makes`() async throws {
        try await withStory { world, run, folder in
            let all = try await world.run("verify")
            #expect(all.code == 0, "\(all.output)\(all.error)")
            #expect(all.output.isEmpty)
            #expect(all.error.contains("verified: "), "\(all.error)")
            let one = try await world.run("verify", String(run.prefix(8)), "-o", "json")
            #expect(one.code == 0)
            #expect(try JSONParser.parse(one.output) == .array([]))
            let none = try await world.run("verify", "--where", "workflow=trial-onboarding step=x")
            #expect(none.error.contains("0 runs verified"))
            #expect(try await world.run("verify", "ffffffff").code == 4)
            let typed = try await world.run("verify", "-", in: ReplayWorld(lines: [run]))
            #expect(typed.error.contains("1 run verified: 1 agree"), "\(typed.error)")
            let watched = try await world.run("verify", in: ReplayWorld(isInteractive: true))
            #expect(watched.error.contains("of 2 verified"), "\(watched.error)")
        }
    }

    // S19.2
    @Test func `an altered history ends with 5, and step, expected, actual and input are told`()
        async throws
    {
        try await withStory { world, run, folder in
            try await Self.alter(
                #""outlet":"converted""#, #""outlet":"cancelled""#, world)
            let report = folder + "/report.xml"
            let found = try await world.run(
                "verify", "--where", "workflow=trial-onboarding", "--junit", report, "-o", "jsonl")
            #expect(found.code == 5, "\(found.error)")
            let row = try JSONParser.parse(String(found.output.split(separator: "\n")[0]))
            #expect(row["run"]?.string == run)
            #expect(row["result"]?.string == "differs")
            #expect(row["step"]?.string == "first-days")
            #expect(row["expected"]?.string == "cancelled")
            #expect(row["actual"]?.string == "converted")
            #expect(row["input"]?["name"]?.string == "trial.converted")
            #expect(row["decision"]?.integer == 2)
            let xml = try #require(
                Conformance.bytes(of: report).map { String(decoding: $0, as: UTF8.self) })
            #expect(xml.contains("tests=\"0000000001\" failures=\"0000000001\""))
            #expect(xml.contains("classname=\"trial-onboarding.v1\""))
            let table = try await world.run("verify")
            #expect(table.output.contains("cancelled"), "\(table.output)")
            #expect(table.error.contains("1 differs"))
            #expect(try await world.run("verify", "-o", "ids").output == run + "\n")
        }
    }

    @Test func `a run's row that does not follow from its history is found`() async throws {
        try await withStory { world, run, folder in
            _ = try await world.pool.query(
                SQLStatement(
                    "test_alter_reason",
                    "update journey.runs set reason = 'bored' where id = $1 returning id"),
                [.text(run)])
            let found = try await world.run("verify", run, "-o", "jsonl")
            #expect(found.code == 5)
            #expect(found.output.contains(#""place":"/reason""#), "\(found.output)")
        }
    }

    @Test func `an effect's result that was altered afterwards is found`() async throws {
        try await withStory { world, run, folder in
            try await Self.alter(
                #""result":{"status":200}"#, #""result":{"status":204}"#, world)
            let found = try await world.run("verify", run, "-o", "jsonl")
            #expect(found.code == 5)
            #expect(found.output.contains(#""step":"tell-converted""#), "\(found.output)")
        }
    }

    // S19.3 S19.4
    @Test func `diff says where a changed definition would have led`() async throws {
        try await withStory { world, run, folder in
            let bytes = try #require(
                Conformance.bytes(of: PackageFiles.path("Workflows/trial-onboarding.json")))
            let text = String(decoding: bytes, as: UTF8.self)
            let same = write(text, to: "same/trial-onboarding.json", in: folder)
            let equal = try await world.run("diff", run, "--definition", same)
            #expect(equal.code == 0, "\(equal.output)\(equal.error)")
            #expect(equal.output.contains("the same"))
            let changed = write(
                text.replacing(
                    #"{"id": "converted", "event": "trial.converted", "next": "tell-converted"}"#,
                    with: #"{"id": "converted", "event": "trial.converted", "next": "settle"}"#,
                    maxReplacements: 1),
                to: "changed/trial-onboarding.json", in: folder)
            let other = try await world.run("diff", run, "--definition", changed)
            #expect(other.code == 5, "\(other.output)\(other.error)")
            #expect(other.output.contains("tell-converted"))
            #expect(other.output.contains("settle"))
            let verified = try await world.run("verify", "--definition", changed)
            #expect(verified.code == 5)
            let reading = write(
                text.replacing(
                    #"{"event": "trial.expired", "reason": "trial_expired"}"#,
                    with:
                        #"{"event": "trial.expired", "reason": "trial_expired"}, {"if": {"eq": [{"ref": "/customer/plan"}, "pro"]}, "reason": "pro"}"#
                ), to: "reading/trial-onboarding.json", in: folder)
            let unknown = try await world.run("diff", run, "--definition", reading, "-o", "jsonl")
            #expect(unknown.code == 5, "\(unknown.output)\(unknown.error)")
            #expect(unknown.output.contains("not_recorded"), "\(unknown.output)")
        }
    }

    @Test func `an export is read back without a database, and verified`() async throws {
        try await withStory { world, run, folder in
            let exported = try await world.run("export", "--where", "workflow=trial-onboarding")
            #expect(exported.code == 0, "\(exported.error)")
            let file = write(exported.output, to: "runs.jsonl", in: folder)
            let read = try await ReplayWorld().run(["import", file])
            #expect(read.code == 0, "\(read.output)\(read.error)")
            #expect(read.output.contains("agrees"))
            let told = try await ReplayWorld().run(["import", file, String(run.prefix(8))])
            #expect(told.output.contains("first-days -> tell-converted by converted"))
            #expect(told.output.contains("attempt 1 of "), "\(told.output)")
            let altered = write(
                exported.output.replacing(#""outlet":"converted""#, with: #""outlet":"cancelled""#),
                to: "altered.jsonl", in: folder)
            #expect(try await ReplayWorld().run(["import", altered]).code == 5)
            let cut = write(
                exported.output.split(separator: "\n").dropLast().joined(separator: "\n"),
                to: "cut.jsonl", in: folder)
            let half = try await ReplayWorld().run(["import", cut])
            #expect(half.code == 1)
            #expect(half.error.contains("cut off"), "\(half.error)")
            #expect(try await world.run("export").code == 2)
        }
    }

    @Test func `a redacted export tells how runs went and nobody's data`() async throws {
        try await withStory { world, run, folder in
            let exported = try await world.run("export", run, "--redact")
            #expect(exported.code == 0, "\(exported.error)")
            #expect(!exported.output.contains("user-1042"), "\(exported.output)")
            #expect(!exported.output.contains("com.example"), "\(exported.output)")
            #expect(exported.output.contains("tell-converted"))
            let file = write(exported.output, to: "runs.jsonl", in: folder)
            let read = try await ReplayWorld().run(["import", file])
            #expect(read.code == 0, "\(read.output)\(read.error)")
            #expect(read.output.contains("redacted"))
        }
    }

    @Test func `runs are counted, traced, and followed to their end`() async throws {
        try await withStory { world, run, folder in
            #expect(
                try await world.run("count", "--where", "workflow=trial-onboarding").output == "1\n"
            )
            #expect(
                try await world.run("count", "--where", "error=nothing", "-o", "json").output
                    == #"{"runs":0}"# + "\n")
            #expect(
                try await world.run("count", "--where", "event=trial.started connector=revenuecat")
                    .output == "1\n")
            let spans = try await world.rows("trace", run)
            #expect(spans.contains { $0["kind"]?.string == "effect" })
            #expect(spans.contains { $0["kind"]?.string == "attempt" })
            #expect(spans.first?["outcome"]?.string == "completed")
            #expect(spans.contains { $0["name"]?.string == "first-days" })
            let trace = try await world.run("trace", run)
            #expect(trace.output.contains("  step first-days"), "\(trace.output)")
            let followed = try await world.run("history", run, "--follow")
            #expect(followed.code == 0)
            #expect(followed.output.contains("completed"), "\(followed.output)")
        }
    }

    @Test func `a run whose definition is gone says so, and is not verified`() async throws {
        try await withStory { world, run, folder in
            _ = try await world.pool.query(
                SQLStatement(
                    "test_live_again", "update journey.runs set ended_at = null where id = $1"),
                [.text(run)])
            _ = try await world.pool.query(
                SQLStatement(
                    "test_lose_definition",
                    "delete from journey.workflow_versions where workflow = 'trial-onboarding'"),
                [])
            let shown = try await world.run("show", run)
            #expect(
                shown.output.contains("version 1 of trial-onboarding, which is not stored"),
                "\(shown.output)\(shown.error)")
            let verified = try await world.run("verify", run, "-o", "jsonl")
            #expect(verified.code == 5)
            #expect(verified.output.contains(#""result":"unreadable""#), "\(verified.output)")
        }
    }
}
