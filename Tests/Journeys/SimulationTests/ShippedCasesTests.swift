import FoundationEssentials
import JourneyModel
import Simulation
import TestMaterial
import TestModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Plays every case of `Workflows/simulations` against the workflow it is filed under.
@Suite struct ShippedCasesTests {
    let shipped: [PublishedWorkflow]

    init() throws { shipped = try ShippedWorkflows.read() }

    @Test func `the thirteen journeys that people build are shipped, and each explains itself`() {
        #expect(shipped.count == 14)
        for workflow in shipped {
            #expect((workflow.definition.description ?? "").utf8.count > 100)
            #expect(!workflow.definition.tags.isEmpty)
        }
    }

    @Test func `the page of shipped workflows has a line for each`() throws {
        let page = String(
            decoding: try PackageFiles.bytes(
                of:
                    "Sources/Journeys/WorkflowDefinitions/WorkflowDefinitions.docc/ShippedWorkflows.md"
            ),
            as: UTF8.self)
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(
            lines.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
                .sorted()
                == shipped.map(\.definition.id.text).sorted())
    }

    @Test func `every shipped workflow has cases, and every case a workflow`() throws {
        let folders = Set(try PackageFiles.names(in: "Workflows/simulations"))
        #expect(folders == Set(shipped.map(\.definition.id.text)))
        for folder in folders {
            #expect(
                try !PackageFiles.names(in: "Workflows/simulations/\(folder)").isEmpty, "\(folder)")
        }
    }

    @Test func `every case holds`() throws {
        let clock = ContinuousClock()
        let zones = try TimeZoneDatabase().everyZone()
        for workflow in shipped {
            let folder = "Workflows/simulations/\(workflow.definition.id)"
            for name in try PackageFiles.names(in: folder) {
                let simulated = try SimulationCase.parse(
                    try PackageFiles.bytes(of: "\(folder)/\(name)"))
                let start = clock.now
                let report = Simulator.run(
                    workflows: [workflow], zones: zones, case: simulated)
                print("simulated \(folder)/\(name): \(report.turns) turns in \(clock.now - start)")
                #expect(report.differences.isEmpty, "\(folder)/\(name)")
            }
        }
    }

    @Test func `all workflows together take one customer's events without disturbing each other`()
        throws
    {
        let folder = "Workflows/simulations/trial-onboarding"
        let simulated = try SimulationCase.parse(
            try PackageFiles.bytes(of: "\(folder)/converted-early.json"))
        let report = Simulator.run(workflows: shipped, case: simulated)
        let journey = report.transitions.filter { $0.workflow.text == "trial-onboarding" }
        let automation = report.transitions.filter { $0.workflow.text == "new-subscriber-alert" }
        #expect(journey.map(\.step.text) == ["first-days", "tell-converted"])
        #expect(automation.map(\.step.text) == ["tell-team", "note-told"])
    }
}
