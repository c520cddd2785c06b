internal import CommandLine
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import Reactor
internal import TimeZones

/// What every verb that changes something does alike: it says what is selected, keeps the guards, asks, and
/// tells what became of it.
extension ReplayCall {
    /// Characters of a reason: it is kept with every run that it ends.
    static let reasonLimit = 1_000

    /// `--reason`; nobody needs one for what changes nothing.
    func changeReason() throws(UsageError) -> String {
        let text = parsed.option("reason") ?? ""
        guard text.unicodeScalars.count <= Self.reasonLimit else {
            throw UsageError(
                path: parsed.path,
                "The reason has \(text.unicodeScalars.count) characters, and at most "
                    + "\(Self.reasonLimit) are kept; say it shorter, or name where it is told.")
        }
        if parsed.flag("dry-run") || text.contains(where: { !$0.isWhitespace }) { return text }
        throw UsageError(
            path: parsed.path,
            "\(parsed.path.joined(separator: " ")) needs --reason TEXT: why it is done, as it is kept "
                + "in the audit.")
    }

    /// Refuses to take "nothing said" for "everything".
    func requireSelection(_ selector: Selector, _ argument: String) throws {
        if parsed.flag("all") { return }
        if !parsed.allArguments(argument).isEmpty {
            // `-` with nothing to read, or an empty word, is nobody's id: it must not mean everybody.
            guard !selector.ids.isEmpty, !selector.ids.contains("") else {
                throw ReplayFailure.refused(
                    "Nothing was selected: no id was given. Name ids, write --where, or say --all for "
                        + "everything.")
            }
            return
        }
        if !selector.terms.isEmpty || selector.since != nil || selector.until != nil { return }
        throw ReplayFailure.refused(
            "Nothing was selected; name ids, write --where, or say --all for everything.")
    }

    /// Says what is selected and keeps the guards.
    ///
    /// - Parameters:
    ///   - table: the selection, whole, or its first rows where `total` says how many there are.
    ///   - question: what is asked, such as "Cancel 3 runs?".
    /// - Returns: whether to go on; false for `--dry-run`.
    func mayChange(
        _ table: Table, of total: Int? = nil, _ noun: String, question: String
    ) throws -> Bool {
        let count = total ?? table.rows.count
        guard count > 0 else {
            throw ReplayFailure.notFound("No \(noun) that this could be done to is selected.")
        }
        var first = table
        first.rows = Array(table.rows.prefix(Self.shown))
        let isDry = parsed.flag("dry-run")
        if isDry {
            terminal.output.write(
                first.text(format(), emphasis: terminal.usesColour))
        } else if !parsed.flag("yes") {
            terminal.error.write(first.text(.table))
        }
        let rest = count > Self.shown ? ", the first \(Self.shown) of them shown" : ""
        terminal.error.writeLine("\(counted(count, noun)) selected\(rest).")
        if let expected = try parsed.integer("expect", in: 0...1_000_000_000), expected != count {
            throw ReplayFailure.refused(
                "Nothing was changed: --expect says \(expected), and \(counted(count, noun)) "
                    + "\(count == 1 ? "is" : "are") selected; look again.")
        }
        if isDry {
            terminal.error.writeLine("Nothing was changed (--dry-run).")
            return false
        }
        if count > 1, parsed.flag("yes"), parsed.option("expect") == nil, !terminal.isInteractive {
            throw ReplayFailure.refused(
                "Nothing was changed: a script that changes several says how many, with --expect "
                    + "\(count).")
        }
        try agree(to: question)
        return true
    }

    /// Rows that are shown before something is changed.
    static let shown = 10

    /// Ids that the audit keeps of a selection.
    private static let auditedIDs = 20

    /// Who does it, why, what it is done to, and how that was selected.
    func request(
        _ reason: String, selected ids: [String], of noun: String
    ) -> CommandStore.Request {
        var request = request(reason, selected: ids.count)
        request.detail["what"] = .string(noun)
        request.detail["ids"] = .array(ids.prefix(Self.auditedIDs).map { .string($0) })
        return request
    }

    /// The same where the objects have no ids that are worth keeping.
    func request(_ reason: String, selected count: Int) -> CommandStore.Request {
        var detail = JSONObject([("selected", .integer(count))])
        let terms = parsed.all("where")
        if !terms.isEmpty { detail["where"] = .string(terms.joined(separator: " ")) }
        if parsed.flag("all") { detail["all"] = true }
        return CommandStore.Request(
            who: administrator, verb: parsed.path.joined(separator: " "), reason: reason,
            detail: detail)
    }

    // MARK: Commands

    /// Stores commands, waits for the turns that decide them, and prints what became of each.
    func issue(
        _ verb: CommandStore.Verb, _ targets: [CommandStore.Target],
        _ request: CommandStore.Request,
        in store: CommandStore, _ wakes: WakeStore
    ) async throws {
        let audit = try await store.issue(verb, targets, request)
        // Who is not told looks by itself.
        try? await wakes.notify(.turns)
        var outcomes = try await store.outcomes(of: audit)
        if !parsed.flag("no-wait") {
            let end = ContinuousClock.now + Self.decisionLimit
            while outcomes.count < targets.count, ContinuousClock.now < end {
                try await command.loop.sleep(for: .milliseconds(100))
                outcomes = try await store.outcomes(of: audit)
            }
        }
        try tell(outcomes, of: targets, audit)
    }

    /// How long a verb waits for workers to decide its commands.
    private static let decisionLimit = Duration.seconds(10)

    private func tell(
        _ outcomes: [CommandStore.Outcome], of targets: [CommandStore.Target], _ audit: Int64
    ) throws {
        let byRun = Dictionary(outcomes.map { ($0.run, $0) }, uniquingKeysWith: { one, _ in one })
        let rows = targets.map { target -> JSONValue in
            let outcome = byRun[target.run]
            var row = JSONObject([("run", .string(target.run.text))])
            row["effect"] = target.invocation.map { .string($0.text) }
            row["outcome"] = .string(outcome?.word ?? "undecided")
            row["reason"] = outcome?.sentence.map { .string($0) }
            row["audit"] = .integer(audit)
            return .object(row)
        }
        terminal.output.write(
            Table(
                columns: [
                    Table.Column("OUTCOME", key: "outcome"), Table.Column("RUN", key: "run"),
                    Table.Column("EFFECT", key: "effect"), Table.Column("REASON", key: "reason"),
                ], rows: rows, idKey: "run"
            ).text(format(), emphasis: terminal.usesColour))
        let done = outcomes.count { $0.word == "done" }
        let undecided = targets.count - outcomes.count
        let sum =
            "\(done) done, \(outcomes.count - done) refused, \(undecided) undecided; audit \(audit)."
        if done == targets.count { return terminal.error.writeLine(sum) }
        if done == 0, undecided == 0 { throw ReplayFailure.refused(sum) }
        throw ReplayFailure(
            .partly,
            undecided == 0
                ? sum
                : "\(sum) What is undecided is stored and decided as soon as a worker takes the "
                    + "customer's turn; journey-replay show RUN says how it stands.")
    }
}
