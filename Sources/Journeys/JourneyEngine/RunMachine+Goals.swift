internal import JSON
internal import JourneyModel
package import TimeZones
internal import WorkflowDefinitions

// The goal: its window, who may vouch for it, and what reaching it does (S21); and stop matching.
extension RunMachine {
    /// Evidence that arrives later than this after it happened converts nobody.
    static let longestLateness = Duration.seconds(31 * 86_400)

    // MARK: Events

    /// Latches the goal; whether that ends the run is the exit policy's.
    mutating func convert(by event: LoggedEvent) {
        convert(
            at: event.event.occurredAt, as: JSONObject([("event", .string(event.event.id.text))]))
    }

    private mutating func convert(at instant: Instant, as cause: JSONObject) {
        run.convertedAt = instant
        tell { $0.converted = true }
        record(
            .converted,
            JSONObject(cause.members + [("occurred_at", .string(instant.description))]))
    }

    /// Whether the event would convert the run, had it not been converted before.
    mutating func matchesGoal(_ event: Event) -> Bool {
        guard let goal = definition.goal, isOpen(goal, at: event.occurredAt),
            event.trust != .client,
            event.receivedAt - event.occurredAt <= Self.longestLateness
        else { return false }
        return reaches(event, goal)
    }

    private mutating func reaches(_ event: Event, _ goal: Goal) -> Bool {
        switch goal.cause {
        case .event(let match): reaches(event, match)
        case .segmentEnter(let segment): event.isChange(of: segment.text, entered: true)
        case .segmentLeave(let segment): event.isChange(of: segment.text, entered: false)
        case .milestone, .condition: false
        }
    }

    /// Whether the run may convert by something that happened then.
    private func isOpen(_ goal: Goal, at instant: Instant) -> Bool {
        run.status.mayConvert && run.goalWindow(of: goal)?.contains(instant) == true
    }

    /// Whether an app's own word for the goal ends the run: it never converts, but the person is not
    /// messaged on as if nothing had happened.
    mutating func endsByClientOutcome(_ event: Event) -> Bool {
        guard event.trust == .client, definition.exitPolicy.endsOnGoal, let goal = definition.goal
        else { return false }
        return reaches(event, goal)
    }

    // MARK: Milestones and conditions

    /// Converts by a milestone that the run passes. Returns whether that ended the run.
    mutating func reachGoal(byMilestone milestone: String) -> Bool {
        guard let goal = definition.goal, goal.cause == .milestone(milestone),
            run.convertedAt == nil, isOpen(goal, at: now)
        else { return false }
        convert(at: now, as: JSONObject([("milestone", .string(milestone))]))
        return endConverted()
    }

    /// Converts when the goal's condition is true now. Returns whether that ended the run.
    mutating func takeStandingGoal() -> Bool {
        guard let goal = definition.goal, case .condition(let condition) = goal.cause,
            run.convertedAt == nil, isOpen(goal, at: now)
        else { return false }
        let verdict = decide(condition)
        guard verdict.truth == .true else { return false }
        convert(at: now, as: JSONObject([("because", verdict.json)]))
        return endConverted()
    }

    private mutating func endConverted() -> Bool {
        guard run.status.isLive, definition.exitPolicy.endsOnGoal else { return false }
        end(.exited(reason: "converted"))
        return true
    }

    // MARK: Stop matching

    /// Ends the run when its customer no longer matches the entry, where the policy says so.
    mutating func takeStop() -> Bool {
        guard definition.exitPolicy.endsOnStopMatching else { return false }
        for (condition, ends) in definition.entry.matching {
            let verdict = decideMatching(condition)
            guard verdict.truth == ends else { continue }
            end(.exited(reason: "stopped_matching"), because: verdict.json)
            return true
        }
        return false
    }

    /// When time alone could end the matching.
    var stopChangesAt: Instant? {
        mutating get {
            guard definition.exitPolicy.endsOnStopMatching else { return nil }
            return definition.entry.matching.compactMap {
                decideMatching($0.condition).changesAt
            }.min()
        }
    }

    /// The entry's filters are asked as they were then, of the trigger, but of the customer as they are
    /// now. The provider's own object is gone: what reads it is unknown and ends nothing.
    private mutating func decideMatching(_ condition: Condition) -> Verdict {
        var scope = scope()
        scope.event = run.trigger
        var evaluator = Evaluator(scope: scope, facts: facts)
        evaluator.hasNoRaw = true
        evaluator.runStart = runStart
        let verdict = evaluator.decide(condition)
        keep(evaluator.reads)
        return verdict
    }
}

extension Entry {
    /// What a customer must go on matching, each with the answer that ends the run: only a known one.
    fileprivate var matching: [(condition: Condition, ends: Truth)] {
        var found: [(condition: Condition, ends: Truth)] = []
        switch trigger {
        case .segment(let id, let turn):
            found.append((.segment(id, .member(turn == .enter)), .false))
        case .schedule(let schedule): found.append((schedule.audience, .false))
        case .event, .date, .api: break
        }
        if let condition { found.append((condition, .false)) }
        if let unless { found.append((unless, .true)) }
        return found
    }
}

extension RunStatus {
    /// Failed, cancelled and superseded runs do not convert.
    fileprivate var mayConvert: Bool {
        switch self {
        case .waiting, .completed, .exited: true
        case .failed, .cancelled, .superseded: false
        }
    }
}

extension Run {
    /// From the goal's anchor on, both ends included; nil when the anchor was never reached.
    func goalWindow(of goal: Goal) -> ClosedRange<Instant>? {
        let anchor: Instant? =
            switch goal.anchor {
            case .runStart: startedAt
            case .step(let step): entries[step]?.firstAt
            }
        return anchor.map { $0...max($0, $0 + goal.within) }
    }
}

extension Engine {
    /// Whether the event is evidence for the run's goal: of the newest such run of a workflow, and of
    /// no other, it makes a conversion, unless that run was converted before.
    package func matchesGoal(_ event: LoggedEvent, _ run: Run, facts: Facts) -> Bool {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: event.ordinal,
            depth: event.event.depth)
        return machine.matchesGoal(event.event)
    }

    /// Until when an ended run must still be given events: the end of its goal's window and 31 days
    /// for evidence that arrives late. Until then it may convert, or, converted already, keeps older
    /// runs from converting by evidence that is its own. Nil for live runs, for runs that cannot
    /// convert, and without an open window.
    package func openUntil(_ run: Run) -> Instant? {
        guard !run.status.isLive, run.status.mayConvert, let goal = definition.goal,
            let window = run.goalWindow(of: goal)
        else { return nil }
        return window.upperBound + RunMachine.longestLateness
    }
}
