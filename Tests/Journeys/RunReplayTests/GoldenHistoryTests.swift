import FoundationEssentials
import RunReplay
import TestMaterial
import Testing
import WorkflowDefinitions

/// Histories of the shipped workflows as an earlier engine wrote them: this one must make the same of
/// them. `RECORD=1 swift test --filter GoldenHistoryTests` records those that are not there yet, and
/// `RECORD=all` all of them anew.
@Suite struct GoldenHistoryTests {
    let shipped: Shipped

    init() throws {
        shipped = try Shipped()
        guard let wish = ProcessInfo.processInfo.environment["RECORD"] else { return }
        for one in shipped.cases where wish == "all" || !PackageFiles.exists(one.goldenPath) {
            try PackageFiles.write(one.export(), to: one.goldenPath)
            print("recorded \(one.goldenPath)")
        }
    }

    @Test func `every shipped case has a golden history`() {
        for one in shipped.cases {
            #expect(
                PackageFiles.exists(one.goldenPath),
                "record it: RECORD=1 swift test --filter GoldenHistoryTests")
        }
    }

    // S19.2
    @Test func `the engine makes of every golden history what the history says`() throws {
        var runs = 0
        for folder in try PackageFiles.names(in: "Tests/Fixtures/histories") {
            for name in try PackageFiles.names(in: "Tests/Fixtures/histories/\(folder)") {
                let path = "Tests/Fixtures/histories/\(folder)/\(name)"
                let text = String(decoding: try PackageFiles.bytes(of: path), as: UTF8.self)
                for run in try read(export: text).runs {
                    runs += 1
                    let definition = try #require(run.definition, "\(path)").definition
                    let found = RunVerifier(definition).verify(run.recorded)
                    #expect(
                        found == nil,
                        """
                        \(path): \(found?.description ?? ""). The engine decides otherwise than \
                        before: if that is meant, raise Engine.version, keep deciding as before for \
                        histories of the earlier version, and record the case under a new name.
                        """)
                }
            }
        }
        #expect(runs >= 9)
    }
}
