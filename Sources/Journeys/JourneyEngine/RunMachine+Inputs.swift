internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Inputs: each method returns whether the input changed anything in the run.
extension RunMachine {
    mutating func noteEntered() {
        record(
            .entered,
            JSONObject([
                ("run", .string(run.id.text)), ("workflow", .string(run.workflow.text)),
                ("version", .integer(run.version)), ("digest", .string(run.digest)),
                ("customer", .integer(run.customer.number)),
                ("key", run.key.map { .string($0) } ?? .null), ("slot", .integer(run.slot)),
                ("cause", .string(run.cause)), ("rerun", .integer(run.rerun)),
                ("environment", .string(run.environment)), ("ordinal", .integer(ordinal)),
                ("at", .string(now.description)), ("trigger", .object(run.trigger)),
                ("engine", .integer(Engine.version)),
            ]))
    }

    // MARK: Events: goal, then exits, then the wait

    /// - Parameter mayConvert: false when the event is a newer run's evidence.
    mutating func take(_ event: LoggedEvent, mayConvert: Bool) -> Bool {
        let reachedGoal = mayConvert && run.convertedAt == nil && matchesGoal(event.event)
        if reachedGoal { convert(by: event) }
        guard run.status.isLive else { return reachedGoal }
        if reachedGoal, definition.exitPolicy.endsOnGoal {
            end(.exited(reason: "converted"))
            return true
        }
        if endsByClientOutcome(event.event) {
            note(event)
            end(.exited(reason: "client_outcome"))
            return true
        }
        if takeExit(event) { return true }
        guard let position = run.position, case .events = position.waiting,
            case .waitUntil(let wait)? = definition.steps[position.step]?.action
        else { return reachedGoal }
        return takeBranch(of: wait, id: position.step, by: event) || reachedGoal
    }

    /// Exit rules in order: those the event names, and conditions, which every input may have changed.
    private mutating func takeExit(_ event: LoggedEvent) -> Bool {
        for rule in definition.exits {
            switch rule.cause {
            case .event(let match):
                guard reaches(event.event, match) else { continue }
                note(event)
                end(.exited(reason: rule.reason))
                return true
            case .condition(let condition):
                let verdict = decide(condition)
                guard verdict.truth == .true else { continue }
                note(event)
                end(.exited(reason: rule.reason), because: verdict.json)
                return true
            }
        }
        return false
    }

    /// Takes the first exit rule whose condition is true now.
    mutating func takeConditionExit() -> Bool {
        for rule in definition.exits {
            guard case .condition(let condition) = rule.cause else { continue }
            let verdict = decide(condition)
            guard verdict.truth == .true else { continue }
            end(.exited(reason: rule.reason), because: verdict.json)
            return true
        }
        return false
    }

    // MARK: Results

    mutating func take(_ result: EffectResult, at position: Position) -> Bool {
        guard case .effect(let invocation, let requestedOrdinal) = position.waiting,
            invocation == result.invocation,
            case .action(let action)? = definition.steps[position.step]?.action
        else {
            record(
                .stale,
                JSONObject([
                    ("invocation", .string(result.invocation.text)),
                    ("outcome", .object(result.outcome.json)),
                ]))
            return true
        }
        record(
            .input,
            JSONObject([
                ("result", .string(invocation.text)), ("ordinal", .integer(ordinal)),
                ("outcome", .object(result.outcome.json)),
            ]))
        lookBack = requestedOrdinal
        let (value, end) = result.outcome.read()
        run.results[position.step] = value
        // The effect is over: an exit must not take it back.
        run.position = nil
        if takeConditionExit() { return true }
        leave(action, id: position.step, by: end, because: value)
        return true
    }

    // MARK: Time

    /// Finds what is due: the run's time limit, a condition that time changed, or the step's own time.
    mutating func takeTimer(at position: Position) -> Bool {
        let limit = run.enteredAt + definition.limits.time
        if limit <= now {
            noteTimer(due: limit)
            end(.exited(reason: "time_limit"))
            return true
        }
        if look(at: position) {
            noteTimer(due: position.reconsiderAt ?? position.due ?? now)
            return true
        }
        switch (definition.steps[position.step]?.action, position.waiting) {
        case (.delay(let delay)?, .delay(let due)):
            guard due <= now else { return reconsider() }
            noteTimer(due: due)
            move(from: position.step, outlet: "next", to: delay.next)
        case (.waitUntil(let wait)?, .events(_, let due)):
            guard due <= now else { return reconsider() }
            noteTimer(due: due)
            move(from: position.step, outlet: "on_timeout", to: wait.onTimeout)
        case (_, .effect): return reconsider()
        case (_, .delay), (_, .events):
            // The definition does not hold the step as the run knows it: waking again and again
            // would change nothing.
            end(.failed(error: "step_missing"))
        }
        return true
    }

    /// Looks at what may be true without an input: exit rules, then the wait's conditions.
    mutating func look(at position: Position) -> Bool {
        if takeConditionExit() { return true }
        guard case .events = position.waiting,
            case .waitUntil(let wait)? = definition.steps[position.step]?.action
        else { return false }
        return takeConditionBranch(of: wait, id: position.step)
    }

    /// Nothing is due; true only when the next time to look has to be set anew.
    mutating func reconsider() -> Bool {
        let before = run.position
        refreshReconsideration()
        return run.position != before
    }
}

extension Engine {
    /// Raised when the same input could decide otherwise than before; histories carry it.
    package static let version = 1
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
