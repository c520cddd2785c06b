import Configuration
import FoundationEssentials
import JSON
import JourneyModel
import Settings
import TestMaterial
import TestSupport
import Testing
import WorkflowDefinitions

/// Writes texts for tests.
enum TextFile {
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}

/// A folder of definitions, each read against the events beside it.
@Suite struct WorkflowFolderTests {
    private static func workflow(_ id: String, event: String) -> String {
        """
        {"dsl": 1, "id": "\(id)", "kind": "automation", "entry": {"trigger": {"event": "\(event)"}},
         "start": "note", "steps": {"note": {"type": "action", "tool": "log",
         "with": {"text": "x"}, "next": "end"}}}
        """
    }

    @Test func `the shipped folder is valid`() throws {
        let folder = try WorkflowFolder.read(PackageFiles.root + "/Workflows")
        #expect(!folder.hasErrors, "\(folder.diagnostics)")
        #expect(folder.published.count == folder.files.count)
        #expect(folder.published.count >= 2)
    }

    @Test func `only JSON files are read, in the order of their names`() throws {
        try TemporaryFolder.with { folder in
            for name in ["b", "a"] {
                try TextFile.write(
                    Self.workflow(name, event: "trial.started"), to: "\(folder)/\(name).json")
            }
            try TextFile.write("not read", to: folder + "/README.md")
            try TextFile.write("not read", to: folder + "/.hidden.json")
            let read = try WorkflowFolder.read(folder)
            #expect(read.published.map(\.definition.id.text) == ["a", "b"])
            #expect(!read.hasErrors)
        }
    }

    @Test func `the app's own events are those of events json beside the file`() throws {
        try TemporaryFolder.with { folder in
            let path = folder + "/a.json"
            try TextFile.write(Self.workflow("a", event: "checkout.opened"), to: path)
            let before = try WorkflowFolder.read(files: [path])
            #expect(!before.diagnostics.isEmpty)
            try TextFile.write(
                #"{"dsl": 1, "events": {"checkout.opened": {}}}"#, to: folder + "/events.json")
            let after = try WorkflowFolder.read(files: [path])
            #expect(after.diagnostics.isEmpty, "\(after.diagnostics)")
            #expect(after.published.count == 1)
        }
    }

    @Test func `broken declarations are told once for all files`() throws {
        try TemporaryFolder.with { folder in
            for name in ["a", "b"] {
                try TextFile.write(
                    Self.workflow(name, event: "trial.started"), to: "\(folder)/\(name).json")
            }
            try TextFile.write("{", to: folder + "/events.json")
            let read = try WorkflowFolder.read(folder)
            #expect(read.hasErrors)
            #expect(read.declarationDiagnostics.count == 1)
        }
    }

    @Test func `a broken file is told and the others are read`() throws {
        try TemporaryFolder.with { folder in
            try TextFile.write("{\"dsl\": 1", to: folder + "/a.json")
            try TextFile.write(
                Self.workflow("b", event: "trial.started"), to: folder + "/b.json")
            let read = try WorkflowFolder.read(folder)
            #expect(read.hasErrors)
            #expect(read.published.map(\.definition.id.text) == ["b"])
        }
    }

    @Test func `a folder or file that is absent is named`() {
        #expect(throws: BoundedFile.Failure.self) { try WorkflowFolder.read("/nowhere") }
        #expect(throws: BoundedFile.Failure.self) {
            try WorkflowFolder.read(files: ["/nowhere/a.json"])
        }
    }
    @Test func `segments and experiments are read and checked with the workflows`() throws {
        try TemporaryFolder.with { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/segments", withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: folder + "/experiments", withIntermediateDirectories: true)
            try TextFile.write(
                #"{"dsl": 1, "id": "vip", "if": {"eq": [{"ref": "/customer/vip"}, true]}}"#,
                to: folder + "/segments/vip.json")
            try TextFile.write(
                #"{"dsl": 1, "id": "half", "variants": [{"id": "a", "weight": 50}, {"id": "b", "weight": 50}]}"#,
                to: folder + "/experiments/half.json")
            try TextFile.write(
                """
                {"dsl": 1, "id": "a", "kind": "journey",
                 "entry": {"trigger": {"segment": "vip", "on": "enter"}}, "start": "split",
                 "steps": {"split": {"type": "experiment", "experiment": "half",
                           "variants": {"a": "end", "b": "end"}}}}
                """, to: folder + "/a.json")
            let read = try WorkflowFolder.read(folder)
            #expect(!read.hasErrors, "\(read.diagnostics)")
            #expect(read.segments.map(\.definition.id.text) == ["vip"])
            #expect(read.published.first?.definition.experiments.count == 1)
            #expect(read.surroundingPaths.count == 2)
            let one = try WorkflowFolder.read(files: [folder + "/segments/vip.json"])
            #expect(one.files.isEmpty && one.segments.count == 1)
        }
    }

    @Test func `a circle of segments, a zone and a workflow that are not there are told`() throws {
        try TemporaryFolder.with { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/segments", withIntermediateDirectories: true)
            for (one, other) in [("x", "y"), ("y", "x")] {
                try TextFile.write(
                    """
                    {"dsl": 1, "id": "\(one)",
                     "if": {"segment": {"id": "\(other)", "member": true}}}
                    """, to: "\(folder)/segments/\(one).json")
            }
            try TextFile.write(
                """
                {"dsl": 1, "id": "a", "kind": "automation", "timezone": "Europe/Atlantis",
                 "entry": {"trigger": {"event": "trial.started"}}, "start": "go",
                 "steps": {"go": {"type": "start_run", "workflow": "b", "next": "end"}}}
                """, to: folder + "/a.json")
            let read = try WorkflowFolder.read(folder)
            let codes = read.diagnostics.map(\.code)
            #expect(codes == [.cycle, .name, .name], "\(read.diagnostics)")
            let circle = read.declarationDiagnostics.first
            #expect(circle?.sentence.contains("x → y → x") == true)
            // At the question that leads into it.
            #expect(circle?.file.hasSuffix("segments/x.json") == true)
            #expect(circle?.pointer.description == "/if/segment/id")
            #expect(circle?.line == 2)
        }
    }
}
