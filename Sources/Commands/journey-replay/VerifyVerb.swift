internal import CommandLine
internal import JSON
internal import JourneyStorage
internal import RunReplay
internal import WorkflowDefinitions

extension CommandSpecification {
    static let verify = CommandSpecification(
        name: "verify", summary: "Make every decision of runs again, and say where one differs",
        discussion: """
            Each decision is made again from the run's history alone, without writes or effects, and \
            compared; then the run's row is. Without ids and terms every run is verified. What differs \
            is printed with decision, step, what the history holds, what the engine gives, and the \
            input; then the exit code is 5. Runs whose values were erased, or whose history is \
            past its retention, cannot be checked: they are printed as redacted or not_kept and do not \
            change the exit code.

            With --definition the runs of that workflow are asked what the file would have made of \
            them; what it reads and the history does not hold is not_recorded, and exits 5 too.
            """,
        examples: [
            Example("journey-replay verify", "every run"),
            Example(
                "journey-replay verify --where \"workflow=trial-onboarding since=1d\"",
                "what entered lately"),
            Example(
                "journey-replay verify --definition Workflows/trial-onboarding.json --junit out.xml",
                "before publishing a change"),
        ],
        options: Selector.options(runTerms) + whose + [
            OptionSpecification(
                "definition", valueName: "FILE", help: "ask this definition instead of each run's"),
            OptionSpecification(
                "junit", valueName: "FILE", help: "also write a JUnit report, a test case a run"),
            OutputFormat.option,
        ],
        arguments: [
            ArgumentSpecification(
                "RUN", help: "runs by id; - takes ids from standard input", isRequired: false,
                repeats: true)
        ])
}

extension ReplayCall {
    /// Divergences that are printed; more are counted.
    private static let mostPrinted = 1_000

    func verify() async throws {
        let changed = try parsed.option("definition").map { try readOneDefinition($0) }
        var junit = try parsed.option("junit").map { try JUnitFile(path: $0) }
        var tally = VerifyTally()
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            let pages = try await historyPages(of: changed?.definition.id, in: store)
            let total = terminal.isInteractive ? try await pages.count() : nil
            var check = RunCheck(store: store, changed: changed?.definition)
            var (page, next) = try await pages.page(pages.start)
            while !page.isEmpty {
                try await check.prepare(for: page)
                // The next page is read while this one is verified.
                let place = next
                async let following = pages.page(place)
                for run in await check.check(page) {
                    tally.take(run, keeping: Self.mostPrinted)
                    try junit?.write(run)
                }
                if let total { terminal.error.write("\r\(tally.verified) of \(total) verified") }
                (page, next) = try await following
            }
            if total != nil { terminal.error.write("\r\u{1b}[K") }
        }
        try junit?.finish()
        if format() != .table || !tally.table.rows.isEmpty { printTable(tally.table) }
        terminal.error.writeLine(tally.sentence)
        if tally.diverged > 0 { throw ReplayFailure(.diverged, "") }
    }

    /// The workflow of a definition file, its diagnostics printed.
    func readOneDefinition(_ path: String) throws -> PublishedWorkflow {
        let read = try readDefinitions([path])
        for diagnostic in read.diagnostics {
            terminal.error.writeLine(printable(diagnostic.description))
        }
        guard let workflow = read.workflows.first, read.workflows.count == 1 else {
            throw ReplayFailure(
                .usage, "\(path) does not hold one workflow without errors; name its .json file.")
        }
        return workflow
    }
}

/// What came of verifying many runs.
struct VerifyTally {
    private(set) var verified = 0
    private(set) var diverged = 0
    private(set) var unchecked = 0
    private var printed: [CheckedRun] = []

    mutating func take(_ run: CheckedRun, keeping most: Int) {
        verified += 1
        guard run.divergence != nil else { return }
        if run.isBeyondChecking { unchecked += 1 } else { diverged += 1 }
        if printed.count < most { printed.append(run) }
    }

    /// `1204 runs verified: 1203 agree, 1 differs`.
    var sentence: String {
        let agree = verified - diverged - unchecked
        var text = "\(counted(verified, "run")) verified: \(agree) agree"
        if diverged > 0 { text += ", \(diverged) \(diverged == 1 ? "differs" : "differ")" }
        if unchecked > 0 { text += ", \(unchecked) cannot be checked (erased, or past retention)" }
        let left = diverged + unchecked - printed.count
        if left > 0 { text += "; the first \(printed.count) are shown" }
        return text
    }

    /// What was kept of the runs that do not agree.
    var table: Table {
        Table(columns: Self.columns, rows: printed.map(\.json), idKey: "run")
    }

    static let columns = [
        Table.Column("RUN", key: "run"), Table.Column("WORKFLOW", key: "workflow"),
        Table.Column("V", key: "version", alignment: .right), Table.Column("RESULT", key: "result"),
        Table.Column("N", key: "decision", alignment: .right), Table.Column("STEP", key: "step"),
        Table.Column("PLACE", key: "place"), Table.Column("EXPECTED", key: "expected"),
        Table.Column("ACTUAL", key: "actual"), Table.Column("INPUT", key: "input"),
    ]
}
