import JSON
import TestSupport
import Testing

/// `try connector NAME --batch FILE`: one delivery a line in, one result a line out.
@Suite struct TryBatchTests {
    private func batch(_ lines: [String], _ more: String...) async throws -> Answer {
        try await TemporaryFolder.with { folder in
            let file = write(lines.joined(separator: "\n") + "\n", to: "batch.jsonl", in: folder)
            return try await ReplayWorld().run(
                ["try", "connector", "json", "--batch", file] + more)
        }
    }

    private static let body =
        #"{\"event\": \"purchase.completed\", \"id\": \"e1\", \"customer_id\": \"u1\", \"occurred_at\": \"2026-03-02T10:00:00Z\"}"#

    @Test func `each line is judged by what it says itself, in order, and its id is handed back`()
        async throws
    {
        let answer = try await batch([
            #"{"id": 1, "body": "\#(Self.body)"}"#,
            #"{"id": "two", "body": "\#(Self.body)", "secrets": ["a-long-secret"], "headers": {"Authorization": "Bearer a-long-secret"}}"#,
            #"{"id": 3, "body": "\#(Self.body)", "secrets": ["a-long-secret"], "headers": {"Authorization": "Bearer another"}}"#,
            #"{"id": 4, "body_base64": "e30="}"#,
        ])
        #expect(answer.code == 0, "\(answer.error)")
        let rows = try answer.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
        #expect(rows.map { $0["id"] } == [1, "two", 3, 4])
        #expect(rows.map { $0["authenticated"] ?? .null } == [.null, true, false, .null])
        #expect(rows[0]["event"]?["event"]?.string == "purchase.completed")
        #expect(rows[2]["event"] == nil)
    }

    @Test func `a line that is no delivery is named`() async throws {
        let answer = try await batch([#"{"body": "{}"}"#, "{", ""])
        #expect(answer.code == 2)
        #expect(answer.error.contains("Line 2"), "\(answer.error)")
        let bare = try await batch([#"{"id": 1}"#])
        #expect(bare.code == 2)
        #expect(bare.error.contains("no \"body\""), "\(bare.error)")
    }
}
