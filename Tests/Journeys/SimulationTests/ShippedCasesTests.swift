import FoundationEssentials
import JourneyModel
import Simulation
import Testing
import TimeZones
import WorkflowDefinitions

/// Plays every case of `Workflows/simulations` against the workflow it is filed under.
@Suite struct ShippedCasesTests {
    let shipped: [PublishedWorkflow]

    init() throws {
        let events = try Files.bytes(of: "Workflows/events.json")
        var context = DefinitionContext(
            events: EventDeclarations.read(events, file: "events.json").declarations)
        for name in try Files.names(in: "Workflows/experiments") {
            let outcome = WorkflowParser.readExperiment(
                try Files.bytes(of: "Workflows/experiments/\(name)"), file: name)
            let experiment = try #require(outcome.definition, "\(outcome.diagnostics)")
            context.experiments[experiment.id] = experiment
        }
        shipped = try Files.names(in: "Workflows").filter {
            $0.hasSuffix(".json") && $0 != "events.json"
        }.map { name in
            let outcome = WorkflowParser.read(
                try Files.bytes(of: "Workflows/\(name)"), file: name, context: context)
            return try #require(outcome.published, "\(outcome.diagnostics)")
        }
    }

    @Test func `the thirteen journeys that people build are shipped, and each explains itself`() {
        #expect(shipped.count == 14)
        for workflow in shipped {
            #expect((workflow.definition.description ?? "").utf8.count > 100)
            #expect(!workflow.definition.tags.isEmpty)
        }
    }

    @Test func `every shipped workflow has cases, and every case a workflow`() throws {
        let folders = Set(try Files.names(in: "Workflows/simulations"))
        #expect(folders == Set(shipped.map(\.definition.id.text)))
        for folder in folders {
            #expect(try !Files.names(in: "Workflows/simulations/\(folder)").isEmpty, "\(folder)")
        }
    }

    @Test func `every case holds`() throws {
        let clock = ContinuousClock()
        let zones = try TimeZoneDatabase().everyZone()
        for workflow in shipped {
            let folder = "Workflows/simulations/\(workflow.definition.id)"
            for name in try Files.names(in: folder) {
                let simulated = try SimulationCase.parse(try Files.bytes(of: "\(folder)/\(name)"))
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
            try Files.bytes(of: "\(folder)/converted-early.json"))
        let report = Simulator.run(workflows: shipped, case: simulated)
        let journey = report.transitions.filter { $0.workflow.text == "trial-onboarding" }
        let automation = report.transitions.filter { $0.workflow.text == "new-subscriber-alert" }
        #expect(journey.map(\.step.text) == ["first-days", "tell-converted"])
        #expect(automation.map(\.step.text) == ["tell-team", "note-told"])
    }
}

/// Files of the package, from wherever the tests run.
enum Files {
    static var root: String {
        var path = #filePath[...]
        for _ in 0..<4 { path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
        return String(path)
    }

    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)").sorted()
    }

    static func bytes(of path: String) throws -> [UInt8] {
        let url = URL(filePath: "\(root)/\(path)")
        return Array(try Data(contentsOf: url))
    }
}
