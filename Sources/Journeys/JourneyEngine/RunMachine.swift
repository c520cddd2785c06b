internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

/// One decision in the making: a run under one input, with what it requests and records.
struct RunMachine {
    let definition: WorkflowDefinition
    var run: Run
    let facts: Facts
    /// Ordinal of the last input taken.
    let ordinal: Int64
    /// From where a wait that is reached now looks back: the input's ordinal, or where that is an
    /// effect's result, the ordinal at which the effect was requested (S3).
    var lookBack: Int64
    private var entries: [HistoryEntry] = []
    private var requests: [EffectRequest] = []
    private var withdrawals: [(invocation: InvocationID, reason: String)] = []
    private var reads: [(pointer: JSONPointer, value: JSONValue?)] = []
    private var converted = false
    /// Where the outlet just taken leads; entered by ``settle()``, so that a long way through a
    /// definition takes no stack.
    private var ahead: Edge?

    init(
        definition: WorkflowDefinition, run: Run, facts: Facts, ordinal: Int64, lookBack: Int64
    ) {
        self.definition = definition
        self.run = run
        self.facts = facts
        self.ordinal = ordinal
        self.lookBack = lookBack
    }

    var now: Instant { facts.now }

    // MARK: The scope

    /// The scope with `/event` as the event last bound, or as the event under test.
    func scope(testing event: Event? = nil) -> Scope {
        Scope(
            event: event.map(\.scope) ?? run.bound, raw: event?.raw, trigger: run.trigger,
            customer: facts.attributes,
            steps: JSONObject(
                run.results.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }),
            run: run.scope, now: now)
    }

    /// Evaluates over a scope and keeps what was read for the history.
    mutating func evaluate<Answer>(
        testing event: Event? = nil, _ body: (inout Evaluator) -> Answer
    ) -> Answer {
        var evaluator = Evaluator(scope: scope(testing: event))
        let answer = body(&evaluator)
        for read in evaluator.reads
        where !reads.contains(where: { $0.pointer == read.pointer }) {
            reads.append(read)
        }
        return answer
    }

    mutating func decide(_ condition: Condition, testing event: Event? = nil) -> Verdict {
        evaluate(testing: event) { $0.decide(condition) }
    }

    // MARK: Recording

    mutating func record(_ kind: HistoryEntry.Kind, _ members: JSONObject = JSONObject()) {
        entries.append(HistoryEntry(kind, members))
    }

    mutating func request(_ effect: EffectRequest) { requests.append(effect) }

    mutating func markConverted() { converted = true }

    /// Records the event as this decision's input, once, with the wait that bound it.
    mutating func note(_ event: LoggedEvent, boundBy step: StepID? = nil) {
        let id = JSONValue.string(event.event.id.text)
        let place = entries.firstIndex { $0.kind == .input && $0.members["event"] == id }
        if let place {
            entries[place].members["bound_by"] = step.map { .string($0.text) }
            return
        }
        var members = JSONObject([
            ("event", id), ("name", .string(event.event.name)),
            ("ordinal", .integer(event.ordinal)),
            ("recorded_at", .string(event.recordedAt.description)),
        ])
        members["bound_by"] = step.map { .string($0.text) }
        members["scope"] = .object(event.event.scope)
        record(.input, members)
    }

    /// Records that time moved the run, in front of what it decided.
    mutating func noteTimer(due: Instant) {
        entries.insert(
            HistoryEntry(
                .input,
                JSONObject([
                    ("timer", .string(due.description)), ("at", .string(now.description)),
                    ("ordinal", .integer(ordinal)),
                ])), at: 0)
    }

    // MARK: Moving

    /// Leaves the present step by an outlet; where it leads is entered when the decision is settled.
    mutating func move(
        from step: StepID, outlet: String, to edge: Edge, because: JSONValue? = nil
    ) {
        var members = JSONObject([
            ("from", .string(step.text)), ("outlet", .string(outlet)), ("to", edge.json),
        ])
        members["because"] = because
        record(.moved, members)
        run.position = nil
        ahead = edge
    }

    /// Goes on from step to step until the run waits or ends.
    mutating func settle() {
        while let edge = ahead {
            ahead = nil
            switch edge {
            case .end: end(.completed)
            case .step(let next): enter(next)
            }
        }
    }

    // MARK: Closing

    /// Closes the decision; what was read goes in front of what it decided.
    mutating func finish() -> Engine.Outcome {
        settle()
        // What the decision bound or learned may have made an exit true: it must not wait for whatever
        // the customer's next input is.
        if !entries.isEmpty, run.status.isLive { _ = takeConditionExit() }
        if !reads.isEmpty, !entries.isEmpty {
            let values = reads.map { read in
                (key: read.pointer.description, value: read.value ?? ["absent": true])
            }
            let place = entries.firstIndex { $0.kind != .entered && $0.kind != .input } ?? 0
            entries.insert(
                HistoryEntry(.read, JSONObject([("values", .object(JSONObject(values)))])),
                at: min(place, entries.count))
        }
        if run.status.isLive {
            refreshReconsideration()
            noteReconsideration()
        }
        if !entries.isEmpty { run.decisions += 1 }
        return Engine.Outcome(
            run: run, entries: entries, requests: requests, withdrawals: withdrawals,
            converted: converted)
    }

    /// A decision that ends in waiting says when time alone could end the wait.
    private mutating func noteReconsideration() {
        guard let place = entries.indices.last, entries[place].kind == .waiting,
            let reconsiderAt = run.position?.reconsiderAt
        else { return }
        entries[place].members["reconsider_at"] = .string(reconsiderAt.description)
    }

    // MARK: Ending

    /// Ends the run; an effect without a result is taken back.
    mutating func end(_ status: RunStatus, because: JSONValue? = nil) {
        ahead = nil
        if let position = run.position, case .effect(let invocation, _) = position.waiting {
            withdrawals.append((invocation, status.reason ?? status.word))
        }
        run.position = nil
        run.status = status
        run.endedAt = now
        var members = JSONObject([("status", .string(status.word))])
        members["reason"] = status.reason.map { .string($0) }
        members["because"] = because
        record(.ended, members)
    }
}

extension Run {
    /// `/run`.
    var scope: JSONObject {
        JSONObject([
            ("id", .string(id.text)), ("workflow", .string(workflow.text)),
            ("version", .integer(version)), ("key", key.map { .string($0) } ?? .null),
            ("entered_at", .string(enteredAt.description)),
        ])
    }
}
