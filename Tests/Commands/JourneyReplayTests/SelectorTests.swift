import CommandLine
import Testing

@testable import journey_replay

@Suite struct SelectorTests {
    private let now = instant("2026-03-02T12:00:00Z")

    private func selector(
        _ ids: [String] = [], where terms: [String] = [], lines: [String] = []
    ) throws -> Selector {
        var rest = lines[...]
        return try Selector(
            ids, ParsedCommand(path: ["list"], options: ["where": terms]),
            known: Selector.Term.allCases, statuses: ["waiting", "failed"],
            now: now, inputLine: { rest.popFirst() })
    }

    @Test func `terms stand together or apart, and a value may hold blanks`() throws {
        let selector = try selector(where: [
            "workflow=welcome status=waiting", "customer=Ada L = 1",
        ])
        #expect(selector[.workflow] == "welcome")
        #expect(selector[.status] == "waiting")
        #expect(selector[.customer] == "Ada L = 1")
    }

    @Test(arguments: [
        ("2h", "2026-03-02T10:00:00Z"), ("90m", "2026-03-02T10:30:00Z"),
        ("1w", "2026-02-23T12:00:00Z"), ("P1D", "2026-03-01T12:00:00Z"),
        ("2026-01-01T00:00:00+01:00", "2025-12-31T23:00:00Z"),
    ])
    func `since takes an age or a time`(text: String, time: String) throws {
        #expect(try selector(where: ["since=\(text)"]).since == instant(time))
    }

    @Test func `a dash takes ids from standard input, each once`() throws {
        let selector = try selector(["a", "-"], lines: ["b", " a ", "", "c"])
        #expect(selector.ids == ["a", "b", "c"])
    }

    @Test(arguments: ["workflw=a", "status", "status=", "since=soon", "version=x", "status=waitng"])
    func `a term that cannot be understood is refused`(term: String) {
        #expect(throws: UsageError.self) { try selector(where: [term]) }
    }

    @Test(arguments: ["a\0b", String(repeating: "x", count: 1_025)])
    func `what can be nobody's id is refused wherever it stands`(id: String) {
        #expect(throws: UsageError.self) { try selector([id]) }
        #expect(throws: UsageError.self) { try selector(["-"], lines: ["a", id]) }
        #expect(throws: UsageError.self) { try selector(where: ["customer=\(id)"]) }
    }

    @Test(arguments: [
        ["list", "--where", "status=waitng"], ["deliveries", "--where", "status=done"],
        ["effects", "--where", "status=waiting"], ["list", "--app", "shop"], ["show", "a\0b"],
        ["history", "a\0b"], ["customer", "a\0b"], ["--database", "", "list"],
        ["--data=", "list"], ["--config", "", "list"],
    ])
    func `what can never match is refused before a database is opened`(
        words: [String]
    ) async throws {
        let answer = try await ReplayWorld().run(words)
        #expect(answer.code == 2)
        #expect(!answer.error.contains("No database"), "\(answer.error)")
        #expect(!answer.error.contains("database: "), "\(answer.error)")
    }

    @Test func `a status that no run has is answered with those there are`() async throws {
        let answer = try await ReplayWorld().run("list", "--where", "status=waitng")
        #expect(answer.error.contains("did you mean \"waiting\"?"))
        #expect(answer.error.contains("completed, exited, failed, cancelled, superseded"))
    }
}
