import FoundationEssentials
import JSON
import JourneyEngine
import JourneyModel
import RunReplay
import Simulation
import TestMaterial
import TestModel
import Testing
import TimeZones
import WorkflowDefinitions

/// The shipped workflows with their cases, and the golden histories that were recorded of them.
struct Shipped {
    struct Case {
        let workflow: PublishedWorkflow
        let name: String
        let simulated: SimulationCase

        /// Where the history of the case lies.
        var goldenPath: String {
            "Tests/Fixtures/histories/\(workflow.definition.id)/\(name).jsonl"
        }
    }

    let workflows: [PublishedWorkflow]
    let cases: [Case]

    init() throws {
        workflows = try ShippedWorkflows.read()
        var cases: [Case] = []
        for workflow in workflows {
            let folder = "Workflows/simulations/\(workflow.definition.id)"
            for file in try PackageFiles.names(in: folder) where file.hasSuffix(".json") {
                cases.append(
                    Case(
                        workflow: workflow, name: String(file.dropLast(5)),
                        simulated: try SimulationCase.parse(
                            try PackageFiles.bytes(of: "\(folder)/\(file)"))))
            }
        }
        self.cases = cases
    }
}

extension SimulationReport {
    /// The runs as storage would keep them.
    var recorded: [RecordedRun] { runs.map { RecordedRun($0, decisions: decisions) } }
}

extension Shipped.Case {
    func simulate() -> SimulationReport {
        Simulator.run(workflows: [workflow], case: simulated)
    }

    /// The case's runs as an export.
    func export() -> String {
        let report = simulate()
        var lines: [ExportLine] = [
            .export(program: "simulation", at: simulated.until, isRedacted: false),
            .definition(
                workflow: workflow.definition.id, version: 1, published: workflow),
        ]
        for run in report.recorded {
            if let row = run.row { lines.append(.run(row)) }
            lines += run.decisions.map { .decision(run.id, $0) }
            lines += report.events.map { .event($0) }
        }
        lines.append(.end(runs: report.runs.count))
        return lines.map { JSONValue.object($0.json).text + "\n" }.joined()
    }
}

/// Reads every run of an export's text.
func read(export text: String) throws -> (runs: [ExportedRun], reader: ExportReader) {
    var reader = ExportReader()
    var runs: [ExportedRun] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if let run = try reader.take(Array(line.utf8)) { runs.append(run) }
    }
    try reader.end()
    return (runs, reader)
}
