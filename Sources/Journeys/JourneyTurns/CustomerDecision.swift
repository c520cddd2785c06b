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
    /// What runs and entries may read, kept as the turn goes on.
    var facts: Facts
    /// Runs of the customer, oldest first; ended ones stay so that their rows are written.
    var runs: [Run]
    private let knownRuns: Set<RunID>
    var changedRuns: Set<RunID> = []
    /// Ordinal of the last input taken.
    var ordinal: Int64
    /// The greatest depth of the inputs taken so far (S2).
    var depth = 0
    /// Runs whose timer was looked at in this turn and had nothing due.
    private var restingTimers: Set<RunID> = []
    var subscriptions: [SubscriptionID: SubscriptionState]
    var changedSubscriptions: Set<SubscriptionID> = []
    var segments: SegmentReview
    var dates: DateReview
    /// Values of `once_per` that are taken, by others or by runs of this turn.
    var takenValues: Set<EntryValue>
    /// Connectors whose transfers move nothing.
    var keepingConnectors: Set<String> = []
    private let outbound: OutboundChoice?

    init(
        turn: CustomerTurn, definitions: DefinitionSet, inputs: [ReadInput], zones: TimeZoneSet,
        defaultZone: String?, outbound: OutboundChoice? = nil
    ) {
        self.turn = turn
        self.outbound = outbound
        self.definitions = definitions
        waitingInputs = inputs[...]
        result = TurnResult(customer: turn.customer)
        runs = turn.runs.sorted { $0.isOlder(than: $1) }
        knownRuns = Set(turn.runs.map(\.id))
        subscriptions = Dictionary(
            turn.subscriptions.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        ordinal = turn.customer.inputsTaken
        segments = SegmentReview(members: turn.segments)
        dates = DateReview(entries: turn.dates)
        takenValues = turn.takenValues
        facts = Facts(
            attributes: turn.customer.attributes,
            subscriptions: subscriptions.mapValues(\.scope), features: turn.features,
            segments: segments.facts(of: definitions), assignments: turn.assignments,
            events: turn.log, eventsKnownSince: turn.eventsKnownSince, zones: zones,
            defaultZone: defaultZone, now: turn.now)
    }

    var log: [LoggedEvent] { facts.events }

    /// Takes inputs by their order with due timers at their due times among them (S2).
    mutating func decide() -> TurnResult {
        compareWithPublished()
        while true {
            if let timer = nextTimer() {
                fire(timer)
            } else if let input = waitingInputs.popFirst() {
                take(input)
            } else {
                break
            }
        }
        // Time alone comes after every input that was recorded before it was looked at.
        if turn.hasAllInputs { reviewSegments(depth: depth) { _ in true } }
        reviewDates(knownAt: turn.now)
        while let timer = nextTimer() { fire(timer) }
        lookOnceMore()
        return finish()
    }

    // MARK: Timers

    /// What is due by time: a run's wait, or a date that starts a run.
    private enum Timer {
        case run(Run, Engine)
        case date(DateEntry)
    }

    /// The due timer that comes before every unread input, if any; never while unread input could not be
    /// loaded, and never while a recorded event would take another outlet of the same step.
    private func nextTimer() -> Timer? {
        guard turn.hasAllInputs else { return nil }
        let horizon = waitingInputs.first.map { min($0.input.recordedAt, turn.now) } ?? turn.now
        func isDue(_ due: Instant) -> Bool {
            waitingInputs.isEmpty ? due <= horizon : due <= turn.now && due < horizon
        }
        let due = runs.compactMap { run -> (due: Instant, run: Run, engine: Engine)? in
            guard !restingTimers.contains(run.id), let engine = engine(of: run),
                let due = engine.nextDue(run), isDue(due)
            else { return nil }
            return (due, run, engine)
        }
        .sorted { $0.due != $1.due ? $0.due < $1.due : $0.run.isOlder(than: $1.run) }
        let first = due.first { !isForestalled($0.run, by: $0.engine) }
        if let date = dates.firstPending, isDue(date.dueAt),
            first.map({ date.dueAt < $0.due }) ?? true
        {
            return .date(date)
        }
        return first.map { .run($0.run, $0.engine) }
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

    private mutating func fire(_ timer: Timer) {
        switch timer {
        case .run(let run, let engine):
            if let outcome = engine.advance(run, by: .timer, ordinal: ordinal, facts: facts) {
                apply(outcome)
            } else {
                restingTimers.insert(run.id)
            }
        case .date(let date): enterWorkflow(by: date)
        }
    }

    // MARK: Inputs

    private mutating func take(_ read: ReadInput) {
        ordinal += 1
        result.takenInputs.append(read.input.sequence)
        restingTimers.removeAll()
        switch read.content {
        case .result(let effectResult): take(effectResult)
        case .command(let command): take(command)
        case .event(let event, let mark):
            if let mark {
                result.deliveries.append(mark)
                count(mark, event)
            }
            guard let fresh = read.fresh else { return }
            if let step = TransferStep(fresh, keeping: keepingConnectors) {
                result.transfers.append(step)
                return
            }
            take(
                LoggedEvent(ordinal: ordinal, recordedAt: read.input.recordedAt, event: fresh),
                mayStart: read.input.mayStart)
        case .start(let start): take(start, recordedAt: read.input.recordedAt)
        case .exit(let exit): take(exit)
        case .schedule(let schedule): take(schedule, recordedAt: read.input.recordedAt)
        case .replay(let event, let replay):
            guard let event else { return }
            start(
                by: LoggedEvent(
                    ordinal: ordinal, recordedAt: read.input.recordedAt, event: event), replay)
        case .revision(let event, let earlier, let replay, let mark):
            result.deliveries.append(mark)
            count(mark, event)
            take(
                LoggedEvent(ordinal: ordinal, recordedAt: read.input.recordedAt, event: event),
                revising: earlier, by: replay)
        }
    }

    private mutating func take(_ effectResult: EffectResult) {
        guard let run = runs.first(where: { $0.id == effectResult.run }),
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
    private mutating func take(_ arrived: LoggedEvent, mayStart: Bool) {
        var event = arrived
        event.event = learn(arrived.event)
        facts.events.append(event)
        result.events.append(event)
        depth = max(depth, min(event.event.depth, Self.deepest))
        if event.event.isClamped { count(Count(.clamped, cause: event.event.connector)) }
        if event.event.isImport { return settleImport() }
        if mayStart {
            reviewState(after: event)
        } else {
            settleSegments()
            settleMergedDates()
        }
        guard event.event.depth <= Self.deepest else {
            count(Count(.loop, cause: event.event.name))
            return
        }
        switch event.event.name {
        case "connector.unknown": count(Count(.unknown, cause: event.event.connector))
        case "connector.ignored": count(Count(.ignored, cause: event.event.connector))
        default: break
        }
        guard event.event.name != "connector.test" else {
            count(Count(.ignored, cause: "test"))
            return
        }
        offer(event)
        if mayStart {
            enterWorkflows(by: event)
        } else {
            count(Count(.notEntered, cause: "released_late"))
        }
    }

    /// Gives an event to the customer's runs.
    mutating func offer(_ event: LoggedEvent) {
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
    }

    /// Inputs that engine-made inputs led to more often than this wake nothing (S2).
    static let deepest = 8

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
    mutating func lookOnceMore() {
        for run in runs where run.status.isLive {
            guard
                let outcome = engine(of: run)?.advance(
                    run, by: .look, ordinal: ordinal, depth: depth, facts: facts)
            else { continue }
            apply(outcome)
        }
    }

    // MARK: The rows

    mutating func finish() -> TurnResult {
        result.customer.inputsTaken = ordinal
        result.customer.definitionsSeen = max(
            turn.customer.definitionsSeen, definitions.stateRevision)
        for run in runs where changedRuns.contains(run.id) {
            if knownRuns.contains(run.id) {
                result.changedRuns.append(run)
            } else {
                result.newRuns.append(run)
            }
        }
        dropWithdrawnRequests()
        if let outbound { tellOutbound(outbound) }
        result.subscriptions = changedSubscriptions.sorted().compactMap { subscriptions[$0] }
        result.segments = segments.changes(since: turn.segments)
        result.dates = dates.changes(since: turn.dates)
        result.wakeAt =
            (runs.compactMap { run in engine(of: run)?.nextDue(run) }
            + [segments.earliestChange, dates.firstPending?.dueAt].compactMap(\.self)).min()
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
    func isOlder(than other: Run) -> Bool {
        (enteredAt, entryOrdinal, workflow, id)
            < (other.enteredAt, other.entryOrdinal, other.workflow, other.id)
    }
}
