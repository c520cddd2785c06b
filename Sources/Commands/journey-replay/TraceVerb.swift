internal import CommandLine
internal import JSON
internal import JourneyStorage
internal import Reactor

extension CommandSpecification {
    static let trace = CommandSpecification(
        name: "trace", summary: "Say where a run's time went",
        discussion: """
            Prints the run as spans: its visits of steps, how long each event and timer waited for its \
            decision, and how long each effect took. A time that still runs is marked with +. -o jsonl \
            prints a span a line, its length in milliseconds.
            """,
        examples: [Example("journey-replay trace 3f2a", "what took so long")],
        options: [OutputFormat.option], arguments: [run])
}

extension ReplayCall {
    func trace() async throws {
        let word = try namedRun()
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            let summary = try await find(word, in: store)
            guard let view = try await store.run(summary.id) else {
                throw ReplayFailure.notFound("The run \(summary.id) is gone.")
            }
            let trace = RunTrace(
                view.summary, try await store.wholeHistory(summary.id), view.effects,
                try await store.attempts(of: summary.id))
            if format() == .table { return printTable(trace.table(now: view.now)) }
            printTable(Table(columns: [], rows: trace.spans.map(\.json), idKey: "name"))
        }
    }

    /// Prints decisions as they are made, until the run has ended; an interrupt ends it sooner.
    func follow(_ summary: RunSummary, in store: LookStore) async throws {
        var next = 0
        var isFirst = true
        while true {
            // The run first: what it decided before it ended is then in the history that follows.
            let now = try await store.run(summary.id)?.summary
            for row in try await store.history(summary.id, from: next) {
                next = row.number + 1
                guard format() == .table else {
                    terminal.output.writeLine(row.row.text)
                    continue
                }
                for entry in row.entries.array ?? [] {
                    guard let phrase = HistoryPhrase(entry) else { continue }
                    terminal.output.writeLine(
                        printable("\(row.at)  \(row.number)  \(phrase.kind)  \(phrase.text)"))
                }
            }
            if now?.endedAt != nil || now == nil || terminal.output.isClosed { return }
            if isFirst { terminal.error.writeLine("Following; interrupt to stop.") }
            isFirst = false
            try await command.loop.sleep(for: .seconds(1))
        }
    }
}
