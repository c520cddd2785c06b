internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Inputs: what each may change in a run. One that changes nothing leaves no row.
extension RunMachine {
    // MARK: Events: goal, then exits, then the wait

    /// - Parameter mayConvert: false when the event is a newer run's evidence.
    mutating func take(_ event: LoggedEvent, mayConvert: Bool) {
        let isEvidence = run.convertedAt == nil && matchesGoal(event.event)
        if isEvidence, !mayConvert { noteDriver("converts", false) }
        let converts = isEvidence && mayConvert
        if converts { convert(by: event) }
        guard run.status.isLive else {
            _ = takeStandingGoal()
            return
        }
        if converts, definition.exitPolicy.endsOnGoal {
            end(.exited(reason: "converted"))
            return
        }
        if endsByClientOutcome(event.event) {
            end(.exited(reason: "client_outcome"))
            return
        }
        if takeStandingGoal() || takeExit(event) { return }
        guard let position = run.position, case .events = position.waiting,
            case .waitUntil(let wait)? = definition.steps[position.step]?.action
        else { return }
        takeBranch(of: wait, id: position.step, by: event)
    }

    /// Exit rules in order: those the event names, and conditions, which every input may have changed.
    private mutating func takeExit(_ event: LoggedEvent) -> Bool {
        if takeStop() { return true }
        for rule in definition.exits {
            switch rule.cause {
            case .event(let match):
                guard reaches(event.event, match) else { continue }
                end(.exited(reason: rule.reason))
                return true
            case .condition(let condition):
                let verdict = decide(condition)
                guard verdict.truth == .true else { continue }
                end(.exited(reason: rule.reason), because: verdict.json)
                return true
            }
        }
        return false
    }

    /// Takes the first exit rule whose condition is true now.
    mutating func takeConditionExit() -> Bool {
        if takeStop() { return true }
        for rule in definition.exits {
            guard case .condition(let condition) = rule.cause else { continue }
            let verdict = decide(condition)
            guard verdict.truth == .true else { continue }
            end(.exited(reason: rule.reason), because: verdict.json)
            return true
        }
        return false
    }

    /// Whatever is true without an input: the goal, then the exits.
    mutating func takeStanding() {
        if takeStandingGoal() || !run.status.isLive { return }
        _ = takeConditionExit()
    }

    // MARK: Results

    mutating func take(_ result: EffectResult, at position: Position) {
        guard case .effect(let invocation, let requestedOrdinal) = position.waiting,
            invocation == result.invocation,
            case .action(let action)? = definition.steps[position.step]?.action
        else {
            recordStale(result)
            return
        }
        lookBack = requestedOrdinal
        let (value, end) = result.outcome.read()
        run.results[position.step] = value
        noteSent(result, by: action)
        if case .suppressed(let reason) = result.outcome {
            record(
                .suppressed,
                JSONObject([
                    ("step", .string(position.step.text)),
                    ("invocation", .string(invocation.text)), ("reason", .string(reason)),
                ]))
        }
        // The effect is over: an exit must not take it back.
        run.position = nil
        takeStanding()
        guard run.status.isLive else { return }
        leave(action, id: position.step, by: end, because: value)
    }

    /// A result that finds its step gone, or its run over: what was done outside is told all the same.
    /// A message that was on its way when its step was left is the run's latest none the less.
    mutating func recordStale(_ result: EffectResult) {
        if result.isMessage == true, run.status.isLive { run.lastMessageAt = now }
        record(
            .stale,
            JSONObject([
                ("invocation", .string(result.invocation.text)),
                ("outcome", .object(result.outcome.json)),
            ]))
    }

    // MARK: Time

    /// Finds what is due: the run's time limit, a condition that time changed, or the step's own time.
    mutating func takeTimer(at position: Position) {
        let limit = run.enteredAt + definition.limits.time
        if limit <= now {
            noteDue(limit)
            end(.exited(reason: "time_limit"))
            return
        }
        noteDue(position.reconsiderAt.map { min($0, position.due ?? $0) } ?? position.due ?? now)
        look(at: position)
        guard !hasDecided else { return }
        // A value that a delay follows may have moved it, if only because the facts are newer.
        followDelay()
        guard !hasDecided, let position = run.position else { return }
        switch (definition.steps[position.step]?.action, position.waiting) {
        case (.delay(let delay)?, .delay(let due)):
            guard due <= now else { return }
            noteDue(due)
            move(from: position.step, outlet: "next", to: delay.next)
        case (.waitUntil(let wait)?, .events(_, let due)):
            guard due <= now else { return }
            noteDue(due)
            move(from: position.step, outlet: "on_timeout", to: wait.onTimeout)
        case (.timeWindow(let window)?, .window(let opens)):
            guard opens <= now else { return }
            noteDue(opens)
            reopen(window, at: position)
        case (_, .effect): return
        case (_, .delay), (_, .events), (_, .window):
            // The definition does not hold the step as the run knows it: waking again and again
            // would change nothing.
            end(.failed(error: "step_missing"))
        }
    }

    /// Looks at what may be true without an input: the goal, exit rules, then the wait's conditions.
    mutating func look(at position: Position) {
        takeStanding()
        guard run.status.isLive, case .events = position.waiting,
            case .waitUntil(let wait)? = definition.steps[position.step]?.action
        else { return }
        takeConditionBranch(of: wait, id: position.step)
    }
}

extension EffectOutcome {
    /// What `/steps/<id>` holds afterwards, and which outlet is taken.
    func read() -> (value: JSONValue, end: RunMachine.ActionEnd) {
        switch self {
        case .succeeded(let result): (result, .next)
        case .failed(let error, let detail):
            (["error": .string(error), "detail": detail], .failed)
        case .timedOut: (["error": "timeout"], .timedOut)
        case .expired: (["error": "expired"], .timedOut)
        case .unknown: (["error": "ambiguous"], .failed)
        case .suppressed(let reason): (["suppressed": .string(reason)], .next)
        }
    }
}
