import JSON
import TestSupport
import Testing

@Suite struct SimulateTests {
    private let shipped = packageFile("Workflows/trial-onboarding.json")
    private let cases = packageFile("Workflows/simulations/trial-onboarding")

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
}
