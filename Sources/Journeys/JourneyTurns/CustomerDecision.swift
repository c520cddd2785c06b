internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

/// One customer's turn in the making.
struct CustomerDecision {
    let turn: CustomerTurn
    let definitions: DefinitionSet
    private var waitingInputs: ArraySlice<ReadInput>
    var result: TurnResult
    /// Runs of the customer, oldest first; ended ones stay so that their rows are written.
    var runs: [Run]
    private let knownRuns: Set<RunID>
    private var changed: Set<RunID> = []
    private(set) var log: [LoggedEvent]
    /// Ordinal of the last input taken.
    var ordinal: Int64
    /// Runs whose timer was looked at in this turn and had nothing due.
    private var restingTimers: Set<RunID> = []

    init(turn: CustomerTurn, definitions: DefinitionSet, inputs: [ReadInput]) {
        self.turn = turn
        self.definitions = definitions
        waitingInputs = inputs[...]
        result = TurnResult(customer: turn.customer)
        runs = turn.runs.sorted { $0.isOlder(than: $1) }
        knownRuns = Set(turn.runs.map(\.id))
        log = turn.log
        ordinal = turn.customer.inputsTaken
    }

    var facts: Facts {
        Facts(attributes: turn.customer.attributes, events: log, now: turn.now)
    }

    /// Takes inputs by their order with due timers at their due times among them (S2).
    mutating func decide() -> TurnResult {
        while true {
            if let timer = nextTimer() {
                fire(timer)
            } else if let input = waitingInputs.popFirst() {
                take(input)
            } else {
                break
            }
        }
        lookOnceMore()
        return finish()
    }

    // MARK: Timers

    /// The run whose due timer comes before every unread input, if any; never while unread input could
    /// not be loaded, and never while a recorded event would take another outlet of the same step.
    private func nextTimer() -> RunID? {
        guard turn.hasAllInputs else { return nil }
        let next = waitingInputs.first?.input.recordedAt
        let due = runs.compactMap { run -> (due: Instant, run: Run, engine: Engine)? in
            guard !restingTimers.contains(run.id), let engine = engine(of: run),
                let due = engine.nextDue(run), due <= turn.now
            else { return nil }
            return (due, run, engine)
        }
        .filter { timer in next.map { timer.due < $0 } ?? true }
        .sorted { $0.due != $1.due ? $0.due < $1.due : $0.run.isOlder(than: $1.run) }
        return due.first { !isForestalled($0.run, by: $0.engine) }?.run.id
    }

    private func isForestalled(_ run: Run, by engine: Engine) -> Bool {
        for (offset, input) in waitingInputs.enumerated() {
            guard let event = input.fresh else { continue }
            let logged = LoggedEvent(
                ordinal: ordinal + Int64(offset) + 1, recordedAt: input.input.recordedAt,
                event: event)
            if engine.wouldTake(logged, run, facts: facts) { return true }
        }
        return false
    }

    private mutating func fire(_ id: RunID) {
        guard let run = runs.first(where: { $0.id == id }), let engine = engine(of: run) else {
            return
        }
        if let outcome = engine.advance(run, by: .timer, ordinal: ordinal, facts: facts) {
            apply(outcome)
        } else {
            restingTimers.insert(id)
        }
    }

    // MARK: Inputs

    private mutating func take(_ read: ReadInput) {
        ordinal += 1
        result.takenInputs.append(read.input.sequence)
        restingTimers.removeAll()
        switch read.content {
        case .result(let effectResult): take(effectResult)
        case .event(let event, let mark):
            if let mark {
                result.deliveries.append(mark)
                count(mark, event)
            }
            guard let fresh = read.fresh else { return }
            take(LoggedEvent(ordinal: ordinal, recordedAt: read.input.recordedAt, event: fresh))
        }
    }

    private mutating func take(_ effectResult: EffectResult) {
        guard let run = runs.first(where: { $0.id == effectResult.run }), run.status.isLive,
            let engine = engine(of: run)
        else {
            count(Count(.stale, cause: "result"))
            return
        }
        if let outcome = engine.advance(
            run, by: .result(effectResult), ordinal: ordinal, facts: facts)
        {
            if outcome.entries.contains(where: { $0.kind == .stale }) {
                count(Count(.stale, workflow: run.workflow, cause: "result"))
            }
            apply(outcome)
        }
    }

    /// Facts first, then for each run its goal, exits and waits, oldest run first, then entries.
    private mutating func take(_ event: LoggedEvent) {
        log.append(event)
        result.events.append(event)
        if event.event.isClamped { count(Count(.clamped, cause: event.event.connector)) }
        guard event.event.depth <= 8 else {
            count(Count(.loop, cause: event.event.name))
            return
        }
        guard event.event.name != "connector.test" else {
            count(Count(.ignored, cause: "test"))
            return
        }
        let evident = newestMatches(of: event)
        for run in runs where run.status.isLive || evident[run.workflow] == run.id {
            guard let engine = engine(of: run) else { continue }
            if let outcome = engine.advance(
                run, by: .event(event), ordinal: ordinal, facts: facts,
                mayConvert: evident[run.workflow] == run.id)
            {
                apply(outcome)
            }
        }
        enterWorkflows(by: event)
    }

    /// For each workflow the newest run, live or ended, for whose goal the event is evidence: no other
    /// converts by it, even where that run was converted before (S21).
    private func newestMatches(of event: LoggedEvent) -> [WorkflowID: RunID] {
        var newest: [WorkflowID: RunID] = [:]
        for run in runs.reversed() where newest[run.workflow] == nil {
            if engine(of: run)?.matchesGoal(event, run, facts: facts) == true {
                newest[run.workflow] = run.id
            }
        }
        return newest
    }

    /// Conditions are evaluated in every turn (S3): what they read of the customer may have changed
    /// since the runs were last looked at.
    private mutating func lookOnceMore() {
        for run in runs where run.status.isLive {
            guard
                let outcome = engine(of: run)?.advance(
                    run, by: .look, ordinal: ordinal, facts: facts)
            else { continue }
            apply(outcome)
        }
    }

    // MARK: Outcomes

    func engine(of run: Run) -> Engine? {
        definitions.version(run.version, of: run.workflow).map { Engine($0.definition) }
    }

    mutating func apply(_ outcome: Engine.Outcome) {
        let run = outcome.run
        var endsNow = !run.status.isLive
        if let place = runs.firstIndex(where: { $0.id == run.id }) {
            endsNow = endsNow && runs[place].status.isLive
            runs[place] = run
        } else {
            runs.append(run)
        }
        changed.insert(run.id)
        if !outcome.entries.isEmpty {
            result.decisions.append(
                Decision(
                    run: run.id, number: run.decisions, at: turn.now, entries: outcome.entries))
        }
        result.requests += outcome.requests
        for withdrawal in outcome.withdrawals {
            result.withdrawals.append(
                Withdrawal(invocation: withdrawal.invocation, reason: withdrawal.reason))
        }
        if outcome.converted { count(Count(.converted, workflow: run.workflow)) }
        if endsNow {
            count(Count(.ended, workflow: run.workflow, cause: run.status.word))
        }
    }

    mutating func count(_ count: Count) { result.counts[count, default: 0] += 1 }

    private mutating func count(_ mark: DeliveryMark, _ event: Event) {
        switch mark.state {
        case .processed: break
        case .duplicate: count(Count(.duplicate, cause: event.connector))
        case .conflict: count(Count(.conflict, cause: event.connector))
        case .unreadable: count(Count(.unreadable, cause: event.connector))
        }
    }

    // MARK: The rows

    private mutating func finish() -> TurnResult {
        result.customer.inputsTaken = ordinal
        for run in runs where changed.contains(run.id) {
            if knownRuns.contains(run.id) {
                result.changedRuns.append(run)
            } else {
                result.newRuns.append(run)
            }
        }
        dropWithdrawnRequests()
        result.wakeAt = runs.compactMap { run in engine(of: run)?.nextDue(run) }.min()
        return result
    }

    /// An effect that was requested and taken back within the turn is written as withdrawn at once:
    /// it never reaches the dispatcher.
    private mutating func dropWithdrawnRequests() {
        let withdrawn = Set(result.withdrawals.map(\.invocation))
        guard !withdrawn.isEmpty else { return }
        result.requests.removeAll { withdrawn.contains($0.invocation) }
    }
}

extension Run {
    /// The order in which runs take an input: by entry, then by the input that started them, then by
    /// workflow id. Ids decide what is left, so that the order never hangs on how runs were loaded.
    fileprivate func isOlder(than other: Run) -> Bool {
        (enteredAt, entryOrdinal, workflow, id)
            < (other.enteredAt, other.entryOrdinal, other.workflow, other.id)
    }
}
