internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import RunReplay
internal import TimeZones
internal import WorkflowDefinitions

extension CommandSpecification {
    static let importing = CommandSpecification(
        name: "import", summary: "Read exported runs, verify them, and show one",
        discussion: """
            Reads what journey-replay export wrote, without a database: checks that it is whole, \
            verifies every run as verify does (exit code 5 when one differs), and lists them. With RUN \
            it prints that run's history instead. Nothing is written anywhere.
            """,
        examples: [
            Example("journey-replay import run.jsonl", "is it whole, and does every run agree?"),
            Example("journey-replay import run.jsonl 3f2a", "what happened in one of its runs"),
        ],
        options: [
            OptionSpecification(
                "definition", valueName: "FILE", help: "ask this definition instead of each run's"),
            OutputFormat.option,
        ],
        arguments: [
            ArgumentSpecification("FILE", help: "an export; - reads standard input"),
            ArgumentSpecification(
                "RUN", help: "a run of it, or enough of its id's beginning", isRequired: false),
        ])
}

extension ReplayCall {
    /// Runs that are listed; more are verified and counted.
    private static let mostListed = 10_000

    func importRuns() throws {
        let changed = try parsed.option("definition").map { try readOneDefinition($0).definition }
        let wanted = parsed.argument("RUN")
        var rows: [JSONValue] = []
        var tally = VerifyTally()
        var found: ExportedRun?
        try readExport(parsed.argument("FILE") ?? "") { run in
            if let wanted {
                guard run.recorded.id.text.hasPrefix(wanted) else { return }
                if let found, found.recorded.id != run.recorded.id {
                    throw UsageError(
                        path: parsed.path,
                        "More than one run begins with \(wanted); write more of the one meant.")
                }
                found = run
                return
            }
            let checked = CheckedRun(run, changed: changed)
            tally.take(checked, keeping: 0)
            if rows.count < Self.mostListed { rows.append(checked.json) }
        }
        if let wanted {
            guard let found else {
                throw ReplayFailure.notFound(
                    "The export holds no run \(wanted); leave it out to list its runs.")
            }
            return printHistory(of: found)
        }
        printTable(Table(columns: VerifyTally.columns, rows: rows, idKey: "run"))
        terminal.error.writeLine(tally.sentence)
        if tally.diverged > 0 { throw ReplayFailure(.diverged, "") }
    }

    private func printHistory(of run: ExportedRun) {
        let rows = run.recorded.decisions.map {
            HistoryRow(number: $0.number, at: $0.at, json: $0.json)
        }
        guard format() == .table else {
            return printTable(Table(columns: [], rows: rows.map(\.row), idKey: "decision"))
        }
        printTable(ShownRun.historyTable(rows, told: run.attempts.compactMap(Self.told)))
    }

    /// An attempt of an export, where it started.
    private static func told(_ attempt: JSONObject) -> (at: Instant, entry: JSONValue)? {
        attempt["started_at"]?.string.flatMap { Instant($0) }.map { ($0, .object(attempt)) }
    }

    /// Gives the runs of an export to `body`, one by one.
    private func readExport(_ path: String, _ body: (ExportedRun) throws -> Void) throws {
        var reader = ExportReader()
        if path == "-" {
            while let line = command.inputLine() {
                if let run = try reader.take(Array(line.utf8)) { try body(run) }
            }
        } else {
            var lines = try FileLines(path: path)
            while let line = try lines.next() {
                if let run = try reader.take(line) { try body(run) }
            }
        }
        try reader.end()
    }
}

extension CheckedRun {
    /// Verifies a run of an export.
    fileprivate init(_ run: ExportedRun, changed: WorkflowDefinition?) {
        let divergence: Divergence?
        if let followed = run.definition?.definition {
            let verifier =
                changed.flatMap { definition in
                    definition.id == followed.id
                        ? RunVerifier(changed: definition, followed: followed) : nil
                } ?? RunVerifier(followed)
            divergence = verifier.verify(run.recorded, log: changed == nil ? [] : run.events)
        } else {
            divergence = Divergence(
                kind: .unreadable, run: run.recorded.id,
                actual: "the export lacks the definition that the run follows")
        }
        self.init(
            id: run.recorded.id, workflow: run.row.run.workflow, version: run.row.run.version,
            status: run.row.status, decisions: run.recorded.decisions.count,
            divergence: divergence)
    }
}
