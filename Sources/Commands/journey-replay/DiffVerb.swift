internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import RunReplay
internal import WorkflowDefinitions

extension CommandSpecification {
    static let diff = CommandSpecification(
        name: "diff", summary: "Say where a run would have gone otherwise under another definition",
        discussion: """
            Gives the run's recorded inputs to the definition in FILE, and those that left no row from \
            the customer's event log, and prints the first decision that comes out otherwise; then the \
            exit code is 5. What the definition reads and the history does not hold is not_recorded: it \
            is never guessed.
            """,
        examples: [
            Example(
                "journey-replay diff 3f2a --definition Workflows/trial-onboarding.json",
                "what the edit would have changed for this run")
        ],
        options: [
            OptionSpecification("definition", valueName: "FILE", help: "the definition to ask"),
            OutputFormat.option,
        ], arguments: [run])
}

extension ReplayCall {
    func diff() async throws {
        let word = try namedRun()
        let changed = try readOneDefinition(try required("definition"))
        let checked = try await withDatabase { pool in
            let store = LookStore(pool: pool)
            let summary = try await find(word, in: store)
            guard summary.workflow == changed.definition.id else {
                throw ReplayFailure(
                    .usage,
                    "The run \(summary.id) follows \(summary.workflow), but the definition is of "
                        + "\(changed.definition.id); name the other's file.")
            }
            guard let history = try await store.histories(of: [summary]).first else {
                throw ReplayFailure.notFound("The run \(summary.id) is gone.")
            }
            var check = RunCheck(store: store, changed: changed.definition)
            try await check.prepare(for: [history])
            return check.check(history, log: try await store.log(given: history))
        }
        switch format() {
        case .table:
            for line in Self.lines(of: checked) { terminal.output.writeLine(printable(line)) }
        case .json: terminal.output.writeLine(checked.json.pretty)
        case .jsonl: terminal.output.writeLine(checked.json.text)
        case .ids: if checked.divergence != nil { terminal.output.writeLine(checked.id.text) }
        }
        if checked.divergence != nil { throw ReplayFailure(.diverged, "") }
    }

    private static func lines(of run: CheckedRun) -> [String] {
        var lines = ["Run      \(run.id), version \(run.version) of \(run.workflow)"]
        guard let found = run.divergence else {
            return lines + ["Result   the same: \(counted(run.decisions, "decision")) and the row"]
        }
        lines.append("Result   \(found.kind.rawValue)")
        let number = found.decision.map { "decision \($0)" } ?? "no decision in the history"
        let step = found.step.map { " at \($0)" } ?? ""
        lines.append("First    \(number)\(step)" + (found.at.map { ", \($0)" } ?? ""))
        if let input = found.input { lines.append("Input    \(told(input))") }
        if !found.place.tokens.isEmpty { lines.append("Place    \(found.place)") }
        lines.append("History  \(found.expected.map(told) ?? "nothing")")
        lines.append("Changed  \(found.actual.map(told) ?? "nothing")")
        return lines
    }

    /// An entry in words, another value as JSON.
    private static func told(_ value: JSONValue) -> String {
        HistoryPhrase(value).map { "\($0.kind): \($0.text)" } ?? value.string ?? value.text
    }
}

extension LookStore {
    /// Events that one run is shown with at most; later ones are left out.
    private static let mostEvents = 10_000

    /// The customer's events from the run's trigger on, as long as the run was live.
    func log(given history: StoredHistory) async throws -> [LoggedEvent] {
        guard case .success(let run) = history.run else { return [] }
        var events: [LoggedEvent] = []
        while events.count < Self.mostEvents {
            let page = try await log(
                of: run.customer, after: events.last?.ordinal ?? run.entryOrdinal - 1,
                recordedSince: run.triggerRecordedAt)
            events += page.prefix { event in run.endedAt.map { event.recordedAt <= $0 } ?? true }
            if page.count < Self.listLimit || events.last?.ordinal != page.last?.ordinal { break }
        }
        return events
    }
}
