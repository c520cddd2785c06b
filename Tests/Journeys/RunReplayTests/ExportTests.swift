import JSON
import JourneyEngine
import JourneyModel
import RunReplay
import Simulation
import Testing
import WorkflowDefinitions

@Suite struct ExportTests {
    @Test func `what is exported is read back as it was`() throws {
        for one in try Shipped().cases {
            let (runs, reader) = try read(export: one.export())
            let report = one.simulate()
            #expect(runs.map(\.recorded) == report.recorded, "\(one.goldenPath)")
            #expect(runs.allSatisfy { $0.definition == one.workflow })
            #expect(runs.allSatisfy { $0.events.map(\.event.id) == report.events.map(\.event.id) })
            #expect(!reader.isRedacted)
        }
    }

    @Test func `an export that was cut off, or is none, is refused with its line`() throws {
        let whole = try #require(try Shipped().cases.first).export()
        let lines = whole.split(separator: "\n").map { String($0) + "\n" }
        #expect(throws: ExportError.self) { try read(export: lines.dropLast().joined()) }
        #expect(throws: ExportError.self) { try read(export: "") }
        #expect(throws: ExportError.self) { try read(export: lines.dropFirst().joined()) }
        #expect(throws: ExportError.self) { try read(export: whole + lines[1]) }
        for (place, bad) in [(1, "{}"), (2, "[1]"), (2, "nonsense"), (1, #"{"kind": "letter"}"#)] {
            var altered = lines
            altered[place] = bad + "\n"
            let error = #expect(throws: ExportError.self) { try read(export: altered.joined()) }
            #expect(error?.line == place + 1)
        }
    }

    @Test func `a definition that was altered on its way is refused`() throws {
        let whole = try #require(try Shipped().cases.first).export()
        let altered = whole.replacing(#"\"dsl\":1"#, with: #"\"dsl\": 1"#)
        #expect(altered != whole)
        #expect(throws: ExportError.self) { try read(export: altered) }
    }

    // S19.4
    @Test func `a redacted export holds nobody's data, and is redacted, not different`() throws {
        for one in try Shipped().cases {
            let lines = try one.export().split(separator: "\n").map { line in
                let object = try #require(try JSONParser.parse(String(line)).object)
                return JSONValue.object(try ExportLine(json: object).redacted).text
            }
            let text = lines.joined(separator: "\n")
            for word in ["sub-1", "pro_yearly", "status\":200"] {
                #expect(!text.contains(word), "\(one.goldenPath): \(word)")
            }
            for run in try read(export: text).runs {
                let found = RunVerifier(one.workflow.definition).verify(run.recorded)
                #expect(found?.kind == .redacted, "\(one.goldenPath)")
                #expect(found?.decision == 1)
                let kinds = run.recorded.decisions.flatMap { $0.entries.map { $0["kind"]?.string } }
                #expect(kinds.contains("entered"))
            }
        }
    }

    @Test(arguments: [(1, Divergence.Kind.notRecorded), (99, .unreadable)])
    func `a history of an engine that cannot be repeated says so`(
        engine: Int, kind: Divergence.Kind
    ) throws {
        let one = try #require(try Shipped().cases.first { !$0.simulate().runs.isEmpty })
        var run = try #require(one.simulate().recorded.first)
        var entries = run.decisions[0].entries
        var entered = try #require(entries[0].object)
        entered["engine"] = .integer(engine)
        entries[0] = .object(entered)
        run.decisions[0].json["entries"] = .array(entries)
        let found = RunVerifier(one.workflow.definition).verify(run)
        #expect(found?.kind == kind)
        #expect(found?.description.contains("engine \(engine)") == true)
    }
}
