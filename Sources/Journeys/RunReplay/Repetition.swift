internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import TimeZones
internal import WorkflowDefinitions

/// One run while its decisions are made again.
struct Repetition {
    private let engine: Engine
    private let followed: WorkflowDefinition?
    private let id: RunID
    /// As the decisions so far made it; nil before the first.
    private var run: Run?
    /// Where the run stood last, for a place to name once it has ended.
    private var lastStep: StepID?

    init(engine: Engine, followed: WorkflowDefinition?, id: RunID) {
        self.engine = engine
        self.followed = followed
        self.id = id
    }

    // MARK: Decisions with a row

    /// What drove a decision; nil when that cannot be read.
    func input(of decision: RecordedDecision) -> RecordedInput? {
        guard let first = Self.entries(of: decision)?.first else { return nil }
        return try? RecordedInput(first, of: id)
    }

    private static func entries(of decision: RecordedDecision) -> [HistoryEntry]? {
        let entries = decision.entries.compactMap { HistoryEntry(json: $0) }
        return entries.count == decision.entries.count && !entries.isEmpty ? entries : nil
    }

    /// Engines before this one wrote rows that do not hold what drove their decisions.
    private static let oldestEngine: Int64 = 2

    private static func refusal(of version: Int64?) -> (kind: Divergence.Kind, sentence: String)? {
        guard let version else { return nil }
        if version < oldestEngine {
            return (.notRecorded, "what drove the decision, since engine \(version) wrote the row")
        }
        if version > Engine.version {
            return (.unreadable, "engine \(version) wrote it, and this is \(Engine.version)")
        }
        return nil
    }

    /// Makes a decision again and compares.
    mutating func take(_ decision: RecordedDecision, _ input: RecordedInput?) -> Divergence? {
        let next = (run?.decisions ?? 0) + 1
        guard decision.number == next else {
            return unreadable("decision \(next) is missing", decision)
        }
        guard decision.json["format"]?.integer == 1 else {
            return unreadable("its format is none that this version knows", decision)
        }
        guard !decision.json.contains(where: { $0.value.holdsRedaction }) else {
            return divergence(.redacted, decision)
        }
        if let refusal = Self.refusal(of: decision.entries.first?["engine"]?.integer) {
            return divergence(refusal.kind, decision, actual: .string(refusal.sentence))
        }
        guard let input, let entries = Self.entries(of: decision) else {
            return unreadable("its entries are not in a form that this version knows", decision)
        }
        guard let outcome = repeated(input, entries, at: decision.at) else {
            return unreadable("its first entry starts no run", decision)
        }
        if let found = compare(outcome, with: entries, of: decision) { return found }
        if let seal = decision.json["seal"]?.string,
            seal
                != Decision.seal(
                    run: id, number: decision.number, at: decision.at,
                    entries: .array(decision.entries))
        {
            return divergence(.altered, decision)
        }
        run = outcome.run
        let passed = outcome.entries.last { $0.members["from"] != nil || $0.members["step"] != nil }
        let named = passed?.members["from"]?.string ?? passed?.members["step"]?.string
        lastStep = outcome.run.position?.step ?? named.map { StepID($0) } ?? lastStep
        return nil
    }

    /// Nil when the row starts a run and is not in the form for it, or goes on with one that was not
    /// started.
    private func repeated(
        _ input: RecordedInput, _ entries: [HistoryEntry], at now: Instant
    ) -> Engine.Outcome? {
        switch (input.driver, run) {
        case (.entry(let run), nil):
            return engine.enter(
                run, ordinal: input.ordinal, depth: input.depth,
                facts: Facts(repeating: entries, of: run, now: now))
        case (.input(let given, let mayConvert), let run?):
            let made = engine.attempt(
                run, by: given, ordinal: input.ordinal, depth: input.depth,
                facts: Facts(repeating: entries, of: run, now: now), mayConvert: mayConvert)
            if let outcome = made.outcome { return outcome }
            var nothing = Engine.Outcome(run: run)
            nothing.unrecorded = made.unrecorded
            return nothing
        case (.outside(let status), let run?):
            return engine.end(
                run, as: status, ordinal: input.ordinal,
                facts: Facts(repeating: entries, of: run, now: now))
        case (.move(let move), let run?):
            return engine.move(
                run, by: move, ordinal: input.ordinal,
                facts: Facts(repeating: entries, of: run, now: now))
        case (.entry, _?), (.input, nil), (.outside, nil), (.move, nil): return nil
        }
    }

    /// What was read stands in the row alone; everything else is compared entry by entry.
    private func compare(
        _ outcome: Engine.Outcome, with entries: [HistoryEntry], of decision: RecordedDecision
    ) -> Divergence? {
        if followed != nil, let missing = outcome.unrecorded.first {
            return divergence(.notRecorded, decision, actual: missing)
        }
        let recorded = decision.entries.enumerated().filter {
            $0.element["kind"]?.string != HistoryEntry.Kind.read.rawValue
        }
        let made = outcome.entries.filter { $0.kind != .read }.map(\.json)
        for index in 0..<max(recorded.count, made.count) {
            let expected = recorded.indices.contains(index) ? recorded[index] : nil
            let actual = made.indices.contains(index) ? made[index] : nil
            guard
                let difference = JSONDifference(
                    expected?.element, actual,
                    at: JSONPointer(tokens: [String(expected?.offset ?? entries.count)]))
            else { continue }
            return divergence(
                .differs, decision, at: difference.place, expected: difference.expected,
                actual: difference.actual, entry: expected?.element ?? actual)
        }
        if let missing = outcome.unrecorded.first {
            return divergence(.notRecorded, decision, actual: missing)
        }
        return nil
    }

    // MARK: Inputs without a row

    /// Gives the run the events that left no row, as far as they come before an input.
    ///
    /// - Parameter ordinal: events from here on stay.
    mutating func take(
        _ events: inout ArraySlice<LoggedEvent>, before ordinal: Int64
    ) -> Divergence? {
        while let event = events.first, event.ordinal < ordinal {
            events.removeFirst()
            guard let run, event.ordinal > run.entryOrdinal, mayDecideAnew(run) else { continue }
            let made = engine.attempt(
                run, by: .event(event), ordinal: event.ordinal, depth: 0,
                facts: Facts(repeating: [], of: run, now: event.recordedAt),
                mayConvert: followed?.goal != engine.definition.goal)
            var found = Divergence(
                kind: .differs, run: id, at: event.recordedAt, step: run.position?.step,
                input: [
                    "event": .string(event.event.id.text), "name": .string(event.event.name),
                    "ordinal": .integer(event.ordinal),
                ])
            if let missing = made.unrecorded.first {
                found.kind = .notRecorded
                found.actual = missing
                return found
            }
            if let outcome = made.outcome {
                found.actual = outcome.entries.first { $0.kind != .input && $0.kind != .read }?.json
                return found
            }
        }
        return nil
    }

    /// Where the changed definition asks the same of the run where it stands, the history has shown
    /// that the event changes nothing.
    private func mayDecideAnew(_ run: Run) -> Bool {
        guard let followed else { return false }
        let changed = engine.definition
        let step = run.position?.step
        return followed.goal != changed.goal || followed.exits != changed.exits
            || followed.exitPolicy != changed.exitPolicy
            || step.map { followed.steps[$0] != changed.steps[$0] } ?? false
    }

    // MARK: The run's row

    /// The run that the history gives against the one that is stored.
    func compare(with row: RunRow) -> Divergence? {
        guard let run else { return nil }
        guard let difference = JSONDifference(row.json, RunRow(run).json) else { return nil }
        let tokens = difference.place.tokens
        let result = tokens.starts(with: ["state", "results"]) ? tokens.dropFirst(2).first : nil
        return Divergence(
            kind: .differs, run: id, step: result.map { StepID($0) } ?? lastStep,
            place: difference.place, expected: difference.expected, actual: difference.actual)
    }

    // MARK: Findings

    private func unreadable(_ sentence: String, _ decision: RecordedDecision) -> Divergence {
        divergence(.unreadable, decision, actual: .string(sentence))
    }

    /// - Parameter entry: the entry in which the difference lies; it may name its step.
    private func divergence(
        _ kind: Divergence.Kind, _ decision: RecordedDecision,
        at place: JSONPointer = JSONPointer(),
        expected: JSONValue? = nil, actual: JSONValue? = nil, entry: JSONValue? = nil
    ) -> Divergence {
        let named = entry?["from"]?.string ?? entry?["step"]?.string
        var input = decision.entries.first?.object
        for member in ["scope", "trigger", "outcome"] where input?[member] != nil {
            input = input.map { object in JSONObject(object.filter { $0.key != member }) }
        }
        return Divergence(
            kind: kind, run: id, decision: decision.number, at: decision.at,
            step: named.map { StepID($0) } ?? run?.position?.step ?? lastStep
                ?? (run == nil ? engine.definition.start : nil),
            place: place, expected: expected, actual: actual, input: input.map { .object($0) })
    }
}
