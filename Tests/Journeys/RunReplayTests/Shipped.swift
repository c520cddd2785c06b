import FoundationEssentials
import JSON
import JourneyEngine
import JourneyModel
import RunReplay
import Simulation
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
        let events = try Files.bytes(of: "Workflows/events.json")
        var context = DefinitionContext(
            events: EventDeclarations.read(events, file: "events.json").declarations)
        for name in try Files.names(in: "Workflows/experiments") {
            let outcome = WorkflowParser.readExperiment(
                try Files.bytes(of: "Workflows/experiments/\(name)"), file: name)
            let experiment = try #require(outcome.definition, "\(outcome.diagnostics)")
            context.experiments[experiment.id] = experiment
        }
        workflows = try Files.names(in: "Workflows").filter {
            $0.hasSuffix(".json") && $0 != "events.json"
        }.map { name in
            let outcome = WorkflowParser.read(
                try Files.bytes(of: "Workflows/\(name)"), file: name, context: context)
            return try #require(outcome.published, "\(outcome.diagnostics)")
        }
        var cases: [Case] = []
        for workflow in workflows {
            let folder = "Workflows/simulations/\(workflow.definition.id)"
            for file in try Files.names(in: folder) where file.hasSuffix(".json") {
                cases.append(
                    Case(
                        workflow: workflow, name: String(file.dropLast(5)),
                        simulated: try SimulationCase.parse(
                            try Files.bytes(of: "\(folder)/\(file)"))))
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
        Array(try Data(contentsOf: URL(filePath: "\(root)/\(path)")))
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(root)/\(path)")
    }

    static func write(_ text: String, to path: String) throws {
        let url = URL(filePath: "\(root)/\(path)")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}
