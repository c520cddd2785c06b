internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import RunReplay
internal import TimeZones
internal import WorkflowDefinitions

extension CommandSpecification {
    static let export = CommandSpecification(
        name: "export", summary: "Write runs with all that explains them, as JSON lines",
        discussion: """
            Writes each run's row, its history, the attempts of its effects and the events it may have \
            been given, and once the definitions they follow; journey-replay import reads it. With \
            --redact everything that a person, a provider or a receiver said is left out, and how the \
            runs went stays.
            """,
        examples: [
            Example("journey-replay export 3f2a > run.jsonl", "one run, to be looked at elsewhere"),
            Example(
                "journey-replay export --where status=failed --redact > failed.jsonl",
                "for people who must not see the customers' data"),
        ],
        options: Selector.options(runTerms) + whose + [
            OptionSpecification(
                "redact", help: "leave out what people, providers and receivers said")
        ],
        arguments: [
            ArgumentSpecification(
                "RUN", help: "runs by id; - takes ids from standard input", isRequired: false,
                repeats: true)
        ])
}

extension ReplayCall {
    func exportRuns() async throws {
        guard !parsed.allArguments("RUN").isEmpty || !parsed.all("where").isEmpty else {
            throw UsageError(
                path: parsed.path,
                "Say which runs: name ids, or write --where workflow=… or another term.")
        }
        let redacts = parsed.flag("redact")
        func write(_ line: ExportLine) {
            terminal.output.writeLine(JSONValue.object(redacts ? line.redacted : line.json).text)
        }
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            let pages = try await historyPages(in: store)
            var known: Set<DefinitionCache.Key> = []
            var runs = 0
            write(
                .export(program: ReplayCommand.version, at: command.now(), isRedacted: redacts))
            var place: HistoryPages.Place? = pages.start
            while let start = place, !terminal.output.isClosed {
                let (page, next) = try await pages.page(start)
                place = next
                let missing = Set(page.map(\.definition)).subtracting(known).sorted()
                for (key, stored) in try await store.definitions(missing).sorted(by: {
                    $0.key < $1.key
                }) {
                    let published = try WorkflowParser.load(canonical: stored.canonical)
                    write(
                        .definition(
                            workflow: key.workflow, version: key.version, published: published))
                    known.insert(key)
                }
                for history in page {
                    let recorded = try history.recorded.get()
                    if let row = recorded.row { write(.run(row)) }
                    for decision in recorded.decisions { write(.decision(recorded.id, decision)) }
                    for attempt in try await store.attempts(of: recorded.id) {
                        write(.attempted(recorded.id, attempt.entry.members))
                    }
                    for event in try await store.log(given: history) { write(.event(event)) }
                    runs += 1
                }
            }
            write(.end(runs: runs))
            terminal.error.writeLine("\(counted(runs, "run")) exported")
        }
    }
}
