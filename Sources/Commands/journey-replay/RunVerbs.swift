internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import TimeZones
internal import WorkflowDefinitions

extension ReplayCall {
    /// The look verb's selection: ids, or terms.
    func selector(
        _ argument: String, known: [Selector.Term], statuses: [String] = []
    ) throws(UsageError) -> Selector {
        let words = parsed.allArguments(argument)
        if !words.isEmpty, !parsed.all("where").isEmpty {
            throw UsageError(path: parsed.path, "Name ids or write --where, not both.")
        }
        let selector = try Selector(
            words, parsed, known: known, statuses: statuses, now: command.now(),
            inputLine: command.inputLine)
        if let app = parsed.option("app"), selector[.customer] == nil {
            throw UsageError(
                path: parsed.path,
                "--app \(app) tells whose customer is meant; name one with --where customer=, or leave "
                    + "it out.")
        }
        return selector
    }

    /// Prints rows, and says so when more may have been left out.
    func printTable(_ table: Table, limit: Int = .max) {
        terminal.output.write(table.text(format(), emphasis: terminal.usesColour))
        if table.rows.count >= limit {
            terminal.error.writeLine(
                "The newest \(limit) are shown; narrow with --where or raise --limit.")
        }
    }

    /// The conditions that the terms put on runs.
    func runFilter(_ selector: Selector) -> RunFilter {
        var filter = RunFilter()
        filter.workflow = selector[.workflow]
        filter.version = selector[.version].flatMap { Int($0) }
        filter.status = selector[.status]
        filter.customer = selector[.customer]
        filter.environment = selector[.environment] ?? parsed.option("environment")
        filter.app = parsed.option("app")
        filter.key = selector[.key]
        filter.step = selector[.step]
        filter.error = selector[.error]
        filter.connector = selector[.connector]
        filter.event = selector[.event]
        filter.since = selector.since
        filter.until = selector.until
        return filter
    }

    /// How many runs pass the terms: a bare number, or `{"runs": n}`.
    func count() async throws {
        let selector = try selector(
            "RUN", known: CommandSpecification.runTerms, statuses: Self.runStatuses)
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            var runs = Int64(selector.ids.count)
            if parsed.allArguments("RUN").isEmpty {
                runs = try await store.count(runFilter(selector))
            } else {
                for id in selector.ids { _ = try await find(id, in: store) }
            }
            switch format() {
            case .table, .ids: terminal.output.writeLine(String(runs))
            case .json, .jsonl:
                terminal.output.writeLine(
                    JSONValue.object(JSONObject([("runs", .integer(runs))])).text)
            }
        }
    }

    /// As ``RunStatus`` words them.
    static let runStatuses = [
        "waiting", "completed", "exited", "failed", "cancelled", "superseded",
    ]

    func list() async throws {
        let selector = try selector(
            "RUN", known: CommandSpecification.runTerms, statuses: Self.runStatuses)
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            if !parsed.allArguments("RUN").isEmpty {
                var runs: [RunSummary] = []
                for id in selector.ids { runs.append(try await find(id, in: store)) }
                return printTable(RunSummary.table(runs))
            }
            let filter = runFilter(selector)
            let runs = try await store.runs(filter, upTo: selector.limit)
            printTable(RunSummary.table(runs), limit: selector.limit)
        }
    }

    /// The one run that the line names, not looked for yet.
    func namedRun() throws(UsageError) -> String {
        let word = parsed.argument("RUN") ?? ""
        try Selector.check(word, parsed.path)
        return word
    }

    func show() async throws {
        let word = try namedRun()
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            let summary = try await find(word, in: store)
            guard var view = try await store.run(summary.id) else {
                throw ReplayFailure.notFound(
                    "The run \(summary.id) is gone; journey-replay list shows what there is.")
            }
            view.findWindow()
            let tail = try await store.history(
                summary.id, from: max(0, view.run.decisions - Self.tail))
            var shown = ShownRun(view: view, tail: tail)
            do {
                shown.definition = try await store.definition(of: summary)
            } catch let error as ReplayFailure {
                shown.definitionProblem = error.sentence
            }
            switch format() {
            case .table:
                for line in shown.lines { terminal.output.writeLine(printable(line)) }
            case .json: terminal.output.writeLine(shown.json.pretty)
            case .jsonl: terminal.output.writeLine(shown.json.text)
            case .ids: terminal.output.writeLine(summary.id.text)
            }
        }
    }

    /// Decisions that `show` prints.
    private static let tail = 10

    func history() async throws {
        let word = try namedRun()
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            let summary = try await find(word, in: store)
            if parsed.flag("follow") { return try await follow(summary, in: store) }
            let rows = try await store.wholeHistory(summary.id)
            if format() != .table {
                let table = Table(columns: [], rows: rows.map(\.row), idKey: "decision")
                return printTable(table)
            }
            printTable(
                ShownRun.historyTable(
                    rows,
                    told: try await store.attempts(of: summary.id).map {
                        ($0.startedAt, $0.entry.json)
                    }))
        }
    }

    /// The run with this id, or the only one whose id begins so.
    func find(_ word: String, in store: LookStore) async throws -> RunSummary {
        try await store.runLookup.find(word, parsed.path)
    }
}

extension RunView {
    /// Finds when the window opens that the effect keeps to, by the zones of this machine.
    fileprivate mutating func findWindow() {
        guard let window = awaited?.window, let zones = try? TimeZoneDatabase() else { return }
        let rules = (try? zones.rules(named: window.zone)) ?? .utc
        let state = window.window.state(at: now, in: rules)
        windowOpensAt = state.isOpen ? nil : state.opensAt
    }
}

extension LookStore {
    /// The definition that a run follows.
    ///
    /// - Throws: ``ReplayFailure`` when it is not stored, or not in a form that this program reads.
    func definition(of run: RunSummary) async throws -> WorkflowDefinition {
        let key = DefinitionCache.Key(workflow: run.workflow, version: run.version)
        guard let stored = try await definitions([key])[key] else {
            throw ReplayFailure.notFound(
                "it follows version \(run.version) of \(run.workflow), which is not stored: its "
                    + "turns wait until it is")
        }
        do throws(PublishedFormError) {
            return try WorkflowParser.load(canonical: stored.canonical).definition
        } catch {
            throw ReplayFailure(
                "it follows version \(run.version) of \(run.workflow), which this program cannot read: "
                    + "its turns wait for one that can (\(error.reason))")
        }
    }

    /// Runs over as many pages as the limit asks for.
    func runs(_ filter: RunFilter, upTo limit: Int) async throws -> [RunSummary] {
        var filter = filter
        var found: [RunSummary] = []
        while found.count < limit {
            filter.limit = min(limit - found.count, Self.listLimit)
            filter.after = found.last
            let page = try await runs(filter)
            found += page
            if page.count < filter.limit { break }
        }
        return found
    }

    /// All decisions of a run; it cannot make many more than its limit of steps.
    func wholeHistory(_ id: RunID) async throws -> [HistoryRow] {
        var rows: [HistoryRow] = []
        while rows.count < 10_000 {
            let page = try await history(id, from: rows.last.map { $0.number + 1 } ?? 0)
            rows += page
            if page.count < Self.listLimit { break }
        }
        return rows
    }
}
