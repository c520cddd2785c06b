import JSON
import JourneyModel
import TestMaterial
import Testing
import WorkflowDefinitions

/// `Tests/Fixtures/workflows/refusals.json`: one change of the whole fixture a row, with every diagnostic
/// that it must give, word for word.
struct RefusalCatalogueTests {
    private struct Row {
        var file: String
        var at: String
        var put: JSONValue?
        var says: [JSONValue]
    }

    private static let paths = [
        "workflow": "whole.json", "segment": "segments/lapsed.json",
        "experiment": "experiments/offer.json", "events": "events.json",
    ]

    private func rows() throws -> [Row] {
        let json = try JSONParser.parse(
            try PackageFiles.bytes(of: "Tests/Fixtures/workflows/refusals.json"))
        return try #require(json.array).map { row in
            Row(
                file: row["file"]?.string ?? "", at: row["at"]?.string ?? "", put: row["put"],
                says: row["says"]?.array ?? [])
        }
    }

    private func diagnostics(_ row: Row) throws -> [Diagnostic] {
        let path = try #require(Self.paths[row.file])
        let changed = try Whole.text(path).setting(row.at, to: row.put)
        let bytes = Array((row.at.isEmpty ? row.put ?? .null : changed).pretty.utf8)
        let context = try Whole.context()
        return switch row.file {
        case "workflow": WorkflowParser.read(bytes, file: path, context: context).diagnostics
        case "segment": WorkflowParser.readSegment(bytes, file: path, context: context).diagnostics
        case "experiment": WorkflowParser.readExperiment(bytes, file: path).diagnostics
        case _: EventDeclarations.read(bytes, file: path).diagnostics
        }
    }

    private func json(_ diagnostic: Diagnostic) -> JSONValue {
        var object = JSONObject([
            ("code", .string(diagnostic.code.rawValue)),
            ("pointer", .string(diagnostic.pointer.description)),
            ("message", .string(diagnostic.sentence)),
        ])
        object["fix"] = diagnostic.fix.map { .string($0) }
        if diagnostic.severity == .warning { object["severity"] = "warning" }
        return .object(object)
    }

    @Test func `every refusal says exactly what the catalogue holds`() throws {
        let rows = try rows()
        #expect(rows.count >= 300)
        for row in rows {
            let said = try diagnostics(row).map { json($0) }
            #expect(!row.says.isEmpty, "\(row.file) \(row.at) is in the catalogue and not refused")
            #expect(
                said.map(\.canonicalBytes) == row.says.map(\.canonicalBytes),
                "\(row.file) \(row.at) = \(row.put?.text ?? "removed") says \(said.map(\.text))")
        }
    }

    @Test func `the catalogue holds every kind of refusal`() throws {
        let found = Set(try rows().flatMap(\.says).compactMap { $0["code"]?.string })
        // What is no JSON is tested by itself.
        let elsewhere: Set<String> = ["syntax", "twin_key"]
        let all = Set(Diagnostic.Code.allCases.map(\.rawValue))
        #expect(all.subtracting(elsewhere).subtracting(found).isEmpty)
    }

    @Test func `every sentence ends, and every diagnostic has a place`() throws {
        for row in try rows() {
            for diagnostic in try diagnostics(row) {
                #expect(diagnostic.sentence.hasSuffix("."), "\(diagnostic)")
                #expect(diagnostic.line > 0 && diagnostic.column > 0, "\(diagnostic)")
            }
        }
    }
}
