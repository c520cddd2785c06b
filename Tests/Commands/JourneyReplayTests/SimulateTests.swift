import JSON
import TestMaterial
import TestSupport
import Testing

@Suite struct SimulateTests {
    private let shipped = PackageFiles.path("Workflows/trial-onboarding.json")
    private let cases = PackageFiles.path("Workflows/simulations/trial-onboarding")

    @Test func `all cases of a shipped workflow hold`() async throws {
        let answer = try await ReplayWorld().run("simulate", shipped)
        #expect(answer.code == 0, "\(answer.error)")
        #expect(answer.error.contains("converted-early: holds"))
        #expect(answer.output.contains("CASE"))
    }

    @Test func `one case prints an object a transition`() async throws {
        let answer = try await ReplayWorld().run(
            "simulate", shipped, "--case", cases + "/cancelled.json", "-o", "jsonl")
        #expect(answer.code == 0)
        let rows = try answer.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
        #expect(!rows.isEmpty)
        let known: Set = ["at", "run", "step", "type", "outlet", "effect"]
        for row in rows {
            let keys = Set(row.object?.keys ?? [])
            #expect(keys.isSubset(of: known))
            #expect(row["step"]?.string != nil)
        }
    }

    @Test func `a case that comes about otherwise ends with 1 and says how`() async throws {
        try await TemporaryFolder.with { folder in
            let file = write(
                #"""
                {"customer": {}, "events": [], "until": "2026-03-05T00:00:00Z",
                 "expect": [{"at": "2026-03-02T00:00:00Z", "step": "welcome", "type": "action"}]}
                """#, to: "case.json", in: folder)
            let answer = try await ReplayWorld().run("simulate", shipped, "--case", file)
            #expect(answer.code == 1)
            #expect(answer.error.contains("case: differs (nobody entered)"), "\(answer.error)")
            #expect(answer.error.contains("1 of 1 case"))
        }
    }

    @Test func `a workflow that is not there ends with 4, a case that cannot be read with 1`()
        async throws
    {
        #expect(try await ReplayWorld().run("simulate", "no-such-workflow").code == 4)
        try await TemporaryFolder.with { folder in
            let file = write("{}", to: "case.json", in: folder)
            let answer = try await ReplayWorld().run("simulate", shipped, "--case", file)
            #expect(answer.code == 1)
            #expect(answer.error.contains("case.json"))
        }
    }

    @Test func `events are played for a customer without a case`() async throws {
        let opened =
            #"{"at": "2026-03-02T10:00:00Z", "event": "trial.started", "properties": "#
            + #"{"product_id": "pro", "store": "app_store", "period_type": "trial"}}"#
        try await TemporaryFolder.with { folder in
            let customer = write(#"{"email": "ada@example.com"}"#, to: "ada.json", in: folder)
            for (name, text) in [("a.json", "[\(opened)]"), ("b.jsonl", opened + "\n\n")] {
                let events = write(text, to: name, in: folder)
                let answer = try await ReplayWorld().run(
                    "simulate", shipped, "--events", events, "--customer", customer, "--until",
                    "2026-06-01T00:00:00Z", "-o", "jsonl")
                #expect(answer.code == 0, "\(answer.error)")
                #expect(answer.error.contains(": played ("), "\(answer.error)")
            }
        }
    }

    @Test func `what goes beside events is told, and so is what cannot be read`() async throws {
        try await TemporaryFolder.with { folder in
            let events = write("[]", to: "events.json", in: folder)
            let bad = write(#"[{"at": "soon", "event": "a"}]"#, to: "bad.json", in: folder)
            let person = write("3", to: "ada.json", in: folder)
            let until = ["--until", "2026-06-01T00:00:00Z"]
            let rows: [([String], Int32, String)] = [
                (["--events", events], 2, "--events needs --until"),
                (until, 2, "--until goes with --events"),
                (["--events", events, "--case", events] + until, 2, "exclude one another"),
                (["--events", events, "--until", "soon"], 2, "--until needs a time"),
                (["--events", bad] + until, 1, "bad.json: /0/at: This is no instant"),
                (
                    ["--events", events, "--customer", person] + until, 1,
                    "ada.json: /: This is a number"
                ),
            ]
            for (words, code, sentence) in rows {
                let answer = try await ReplayWorld().run(["simulate", shipped] + words)
                #expect(answer.code == code, "\(words): \(answer.error)")
                #expect(answer.error.contains(sentence), "\(words): \(answer.error)")
            }
        }
    }
}
