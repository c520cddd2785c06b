internal import CommandLine
internal import Configuration
internal import JSON
internal import Simulation
internal import TimeZones
internal import WorkflowDefinitions

extension CommandSpecification {
    static let simulate = CommandSpecification(
        name: "simulate", summary: "Play a workflow's cases in virtual time",
        discussion: """
            Runs simulations/WORKFLOW/*.json beside the workflow's file and compares what comes about \
            with what each case expects. Prints the transitions; exits 1 when a case differs. Nothing \
            is sent and no database is used.

            --events plays what happens to one customer instead, up to --until, and expects nothing: a \
            list of {"at", "event", "properties"?}, or one such object a line. --customer is a JSON object \
            of attributes.
            """,
        examples: [
            Example("journey-replay simulate trial-onboarding", "all cases of one workflow"),
            Example(
                "journey-replay simulate trial-onboarding --case case.json -o jsonl",
                "one case, an object a transition"),
            Example(
                "journey-replay simulate welcome --events events.json --customer customer.json "
                    + "--until 2026-12-31T00:00:00Z", "what would happen to this customer"),
        ],
        options: [
            OptionSpecification(
                "case", valueName: "FILE", help: "play this file instead of the workflow's cases"),
            OptionSpecification(
                "events", valueName: "FILE", help: "play these events; needs --until"),
            OptionSpecification(
                "customer", valueName: "FILE",
                help: "with --events: the attributes; none when left out"),
            OptionSpecification(
                "until", valueName: "TIME", help: "with --events: the last instant looked at"),
            OutputFormat.option,
        ],
        arguments: [
            ArgumentSpecification(
                "WORKFLOW", help: "an id under Workflows, or a definition's file")
        ])
}

extension ReplayCall {
    func simulate() throws {
        let events = try eventsOption()
        let (workflow, folder, segments) = try readWorkflow(parsed.argument("WORKFLOW") ?? "")
        let zones = try TimeZoneDatabase().everyZone()
        let paths =
            try (events ?? parsed.option("case")).map { [$0] }
            ?? casePaths(of: workflow, in: folder)
        var table = Table(
            columns: ["at", "case", "step", "type", "outlet", "effect"].compactMap { key in
                key == "case" && paths.count == 1 ? nil : .init(key.uppercased(), key: key)
            }, idKey: "run")
        var verdicts: [String] = []
        var differing = 0
        for path in paths {
            let name = Self.caseName(path)
            let report = Simulator.run(
                workflows: [workflow], segments: segments, zones: zones,
                case: events == nil ? try readCase(path) : try readEvents(path))
            table.rows += report.transitions.map { transition in
                var row = transition.json
                if paths.count > 1 { row["case"] = .string(name) }
                return .object(row)
            }
            let ends = report.ends.map { ends in
                [ends.status, ends.reason].compactMap { $0 }.joined(separator: " ")
            }
            let end = ends.isEmpty ? "nobody entered" : ends.joined(separator: ", ")
            let verdict =
                events != nil ? "played" : report.differences.isEmpty ? "holds" : "differs"
            verdicts.append("\(name): \(verdict) (\(end))")
            verdicts += report.differences.map { "  " + $0 }
            if !report.differences.isEmpty { differing += 1 }
        }
        terminal.output.write(table.text(format(), emphasis: terminal.usesColour))
        for verdict in verdicts { terminal.error.writeLine(printable(verdict)) }
        if differing > 0, events != nil {
            throw ReplayFailure("\(workflow.definition.id) was not played to the end; mend it.")
        }
        if differing > 0 {
            throw ReplayFailure(
                "\(differing) of \(counted(paths.count, "case")) of \(workflow.definition.id) "
                    + "\(differing == 1 ? "differs" : "differ"); mend the workflow or the case.")
        }
    }

    /// The workflow with the folder its file lies in, and the segments beside it.
    func readWorkflow(
        _ word: String
    ) throws -> (PublishedWorkflow, folder: String, segments: [SegmentDefinition]) {
        let path = word.hasSuffix(".json") ? word : "Workflows/\(word).json"
        guard BoundedFile.exists(path) else {
            throw ReplayFailure.notFound(
                "There is no workflow file \(path); name an id under Workflows or a file.")
        }
        let definitions = try readDefinitions([path])
        for diagnostic in definitions.diagnostics {
            terminal.error.writeLine(printable(diagnostic.description))
        }
        guard let workflow = definitions.workflows.first else {
            throw ReplayFailure("\(path) has errors; mend them and simulate again.")
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return (
            workflow, parts.isEmpty ? "." : parts.joined(separator: "/"),
            definitions.segments.map(\.definition)
        )
    }

    private func casePaths(of workflow: PublishedWorkflow, in folder: String) throws -> [String] {
        let place = "\(folder)/simulations/\(workflow.definition.id)"
        let names = BoundedFile.exists(place) ? try BoundedFile.names(in: place) : []
        let paths = names.filter { $0.hasSuffix(".json") }.map { "\(place)/\($0)" }
        guard !paths.isEmpty else {
            throw ReplayFailure.notFound(
                "\(workflow.definition.id) has no cases under \(place); write one, or name it with "
                    + "--case.")
        }
        return paths
    }

    /// `--events`, with what goes beside it.
    private func eventsOption() throws(UsageError) -> String? {
        let events = parsed.option("events")
        let lonely = ["customer", "until"].first { parsed.option($0) != nil }
        if events == nil, let lonely {
            throw UsageError(
                path: parsed.path,
                "--\(lonely) goes with --events FILE; a case file holds its own.")
        }
        if events != nil, parsed.option("case") != nil {
            throw UsageError(
                path: parsed.path, "--events and --case exclude one another; name one.")
        }
        if events != nil, parsed.option("until") == nil {
            throw UsageError(
                path: parsed.path, "--events needs --until TIME: the last instant looked at.")
        }
        return events
    }

    private func readEvents(_ path: String) throws -> SimulationCase {
        let events = try BoundedFile.read(path, limit: SimulationCase.longestFile)
        let person = parsed.option("customer")
        let customer = try person.map {
            try BoundedFile.read($0, limit: SimulationCase.longestFile)
        }
        guard let until = parsed.option("until").flatMap({ Instant($0) }) else {
            throw UsageError(
                path: parsed.path, "--until needs a time such as 2026-11-30T10:00:00Z.")
        }
        do {
            return try SimulationCase.play(events: events, customer: customer, until: until)
        } catch {
            for problem in error.problems {
                let file = problem.pointer.tokens.first == "customer" ? person ?? path : path
                let place = JSONPointer(tokens: Array(problem.pointer.tokens.dropFirst()))
                let pointer = place.tokens.isEmpty ? "/" : place.description
                terminal.error.writeLine(printable("\(file): \(pointer): \(problem.sentence)"))
            }
            throw ReplayFailure("\(path) cannot be played; mend it.")
        }
    }

    private func readCase(_ path: String) throws -> SimulationCase {
        let bytes = try BoundedFile.read(path, limit: SimulationCase.longestFile)
        do {
            return try SimulationCase.parse(bytes)
        } catch {
            for problem in error.problems {
                terminal.error.writeLine(printable("\(path): \(problem)"))
            }
            throw ReplayFailure("The case \(path) cannot be read; mend it.")
        }
    }

    private static func caseName(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".json") ? String(name.dropLast(5)) : name
    }
}
