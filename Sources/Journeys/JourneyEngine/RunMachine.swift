internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

/// One decision in the making: a run under one input, with what it requests and records.
struct RunMachine {
    let definition: WorkflowDefinition
    /// The run before the decision.
    let before: Run
    var run: Run
    /// What the decision itself changes (attributes, assignments) is changed here too.
    var facts: Facts
    /// Ordinal of the last input taken.
    let ordinal: Int64
    /// How many engine-made inputs led to this one.
    let depth: Int
    /// From where a wait that is reached now looks back: the input's ordinal, or where that is an
    /// effect's result, the ordinal at which the effect was requested (S3).
    var lookBack: Int64
    /// The input that drives the decision; it stands first in the row.
    private var driver: HistoryEntry?
    /// What came of the decision so far; its run is set when it is finished.
    private var outcome: Engine.Outcome
    private var reads = Reads()
    /// Where the outlet just taken leads; entered by ``settle()``, so that a long way through a
    /// definition takes no stack.
    private var ahead: Edge?

    init(definition: WorkflowDefinition, run: Run, facts: Facts, ordinal: Int64, depth: Int) {
        self.definition = definition
        before = run
        self.run = run
        self.facts = facts
        self.ordinal = ordinal
        self.depth = depth
        lookBack = ordinal
        outcome = Engine.Outcome(run: run)
    }

    var now: Instant { facts.now }

    // MARK: The scope

    /// The scope with `/event` as the event last bound, or as the event under test.
    func scope(testing event: Event? = nil) -> Scope {
        Scope(
            event: event.map(\.scope) ?? run.bound, raw: event?.raw, trigger: run.trigger,
            customer: facts.attributes,
            subscription: run.subscription.flatMap { facts.subscriptions[$0] },
            features: facts.featureScope,
            steps: JSONObject(
                run.results.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }),
            run: run.scope, now: now)
    }

    /// Evaluates over a scope and keeps what was read for the history.
    mutating func evaluate<Answer>(
        testing event: Event? = nil, _ body: (inout Evaluator) -> Answer
    ) -> Answer {
        var evaluator = Evaluator(scope: scope(testing: event), facts: facts)
        evaluator.runStart = runStart
        evaluator.partials = definition.partials
        let answer = body(&evaluator)
        reads.merge(evaluator.reads)
        return answer
    }

    /// From where questions `since: "run"` look.
    var runStart: Evaluator.RunStart {
        Evaluator.RunStart(
            ordinal: run.entryOrdinal, recordedAt: run.triggerRecordedAt, hidden: run.hidden)
    }

    mutating func decide(_ condition: Condition, testing event: Event? = nil) -> Verdict {
        evaluate(testing: event) { $0.decide(condition) }
    }

    mutating func keep(_ reads: Reads) { self.reads.merge(reads) }

    // MARK: Recording

    mutating func record(_ kind: HistoryEntry.Kind, _ members: JSONObject = JSONObject()) {
        outcome.entries.append(HistoryEntry(kind, members))
    }

    /// Records an entry, or adds its members to the one that has the same value under `key`.
    mutating func recordOnce(_ kind: HistoryEntry.Kind, _ members: JSONObject, as key: String) {
        let place = outcome.entries.firstIndex {
            $0.kind == kind && $0.members[key] == members[key]
        }
        guard let place else { return record(kind, members) }
        for (name, value) in members { outcome.entries[place].members[name] = value }
    }

    /// Whether the decision has changed anything so far.
    var hasDecided: Bool { !outcome.entries.isEmpty }

    /// Says what drives the decision; it is recorded once the decision has changed anything.
    mutating func drive(as members: JSONObject) { driver = HistoryEntry(.input, members) }

    /// Adds a member to the driving input, such as the wait that bound its event.
    mutating func noteDriver(_ key: String, _ value: JSONValue) { driver?.members[key] = value }

    /// Whether time drives the decision.
    var isDrivenByTimer: Bool { driver?.members["timer"] != nil }

    /// The event that drives the decision, by its id.
    var drivingEvent: String? { driver?.members["event"]?.string }

    /// Changes what the caller is to carry out.
    mutating func tell(_ change: (inout Engine.Outcome) -> Void) { change(&outcome) }

    /// Takes an effect back.
    mutating func withdraw(_ invocation: InvocationID, because reason: String) {
        outcome.withdrawals.append(EffectWithdrawal(invocation: invocation, reason: reason))
    }

    // MARK: Moving

    /// Leaves the present step by an outlet; where it leads is entered when the decision is settled.
    mutating func move(
        from step: StepID, outlet: String, to edge: Edge, because: JSONValue? = nil,
        with more: JSONObject = JSONObject()
    ) {
        var members = JSONObject([
            ("from", .string(step.text)), ("outlet", .string(outlet)), ("to", edge.json),
        ])
        members["because"] = because
        for (key, value) in more { members[key] = value }
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

    /// Whether an outlet was taken and what it leads to is not entered yet.
    var isLeaving: Bool { ahead != nil }

    // MARK: Ending

    /// Ends the run; an effect without a result is taken back.
    mutating func end(_ status: RunStatus, because: JSONValue? = nil) {
        ahead = nil
        if let position = run.position, case .effect(let invocation, _) = position.waiting {
            withdraw(invocation, because: status.reason ?? status.word)
        }
        run.position = nil
        run.status = status
        run.endedAt = now
        var members = JSONObject([("status", .string(status.word))])
        members["reason"] = status.reason.map { .string($0) }
        members["because"] = because
        record(.ended, members)
    }

    // MARK: Closing

    /// Closes the decision: what drove it stands first, then what it read, then what it decided.
    mutating func finish() -> Engine.Outcome {
        settle()
        // What the decision bound or learned may have made the goal or an exit true: that must not wait
        // for whatever the customer's next input is.
        if hasDecided, run.status.isLive { takeStanding() }
        if run.status.isLive {
            followDelay()
            settle()
        }
        if run.status.isLive {
            refreshReconsideration()
            noteWaiting()
        }
        outcome.unrecorded = reads.unrecorded
        guard hasDecided else { return outcome }
        var place = 0
        if let driver {
            outcome.entries.insert(driver, at: 0)
            place = 1
        } else if outcome.entries.first?.kind == .entered {
            place = 1
        }
        if let entry = reads.entry { outcome.entries.insert(entry, at: place) }
        run.decisions += 1
        run.depth = run.status.isLive ? depth : 0
        outcome.run = run
        return outcome
    }

    /// A decision that leaves the run waiting says until when, also where only that has changed: the run
    /// can be rebuilt from its history.
    private mutating func noteWaiting() {
        guard let position = run.position else { return }
        if let place = outcome.entries.lastIndex(where: { $0.kind == .waiting }),
            !outcome.entries[place...].contains(where: { $0.kind == .moved })
        {
            outcome.entries[place].members["reconsider_at"] = position.reconsiderAt.map {
                .string($0.description)
            }
        } else if position != before.position {
            recordWaiting(position)
        }
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

    /// When what started the run happened: the trigger's `occurred_at`, or the entry without an event.
    var startedAt: Instant {
        trigger["meta"]?["occurred_at"]?.string.flatMap { Instant($0) } ?? enteredAt
    }
}
