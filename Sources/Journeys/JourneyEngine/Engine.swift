package import JSON
internal import JourneyModel
package import TimeZones
package import WorkflowDefinitions

/// The pure function at the heart: (definition, run, input, facts) → (run, effects, history).
///
/// It reads no clock, no random source and no store; the worker, `simulate` and every replay call
/// this same code, so the same input always gives the same output, byte for byte.
package struct Engine: Sendable {
    package let definition: WorkflowDefinition

    /// Raised when the same input could decide otherwise than before; histories carry it.
    package static let version = 2

    package init(_ definition: WorkflowDefinition) { self.definition = definition }

    /// What a run may be given; an ended one takes events only, for its goal.
    package enum Input: Sendable, Hashable {
        case event(LoggedEvent)
        case result(EffectResult)
        case command(OperatorCommand)
        /// Its due time has come; what is due is found from the run.
        case timer
        /// The customer's turn is over: conditions are looked at once more, since what they read may
        /// have changed; nothing that is due is taken.
        case look
    }

    /// Starts a run that the caller has found admissible, and takes it as far as it goes at once.
    ///
    /// - Parameters:
    ///   - ordinal: the customer's ordinal of the trigger.
    ///   - depth: how many engine-made inputs led here: the trigger's, or the start request's (S2).
    ///   - admission: what was read to find the run admissible, for its history.
    package func enter(
        _ run: Run, ordinal: Int64, depth: Int = 0, facts: Facts, admission: Reads = Reads()
    ) -> Outcome {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: ordinal, depth: depth)
        machine.noteEntered(admission)
        machine.enter(definition.start)
        return machine.finish()
    }

    /// Gives a run one input.
    ///
    /// - Parameters:
    ///   - ordinal: the ordinal of the last input taken, this one included.
    ///   - depth: for ``Input/look``: the greatest depth of the turn's inputs. Other inputs know theirs.
    ///   - mayConvert: false when an event is evidence for a newer run of the workflow.
    /// - Returns: nil when the input changes nothing in this run, which then leaves no row.
    package func advance(
        _ run: Run, by input: Input, ordinal: Int64, depth: Int = 0, facts: Facts,
        mayConvert: Bool = true
    ) -> Outcome? {
        attempt(
            run, by: input, ordinal: ordinal, depth: depth, facts: facts, mayConvert: mayConvert
        ).outcome
    }

    /// Like ``advance(_:by:ordinal:depth:facts:mayConvert:)``; says also of an input that changes
    /// nothing what recorded facts did not hold.
    package func attempt(
        _ run: Run, by input: Input, ordinal: Int64, depth: Int = 0, facts: Facts,
        mayConvert: Bool = true
    ) -> (outcome: Outcome?, unrecorded: [JSONValue]) {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: ordinal,
            depth: input.depth(of: run) ?? depth)
        machine.drive(by: input)
        switch (input, run.position) {
        case (.event(let event), _): machine.take(event, mayConvert: mayConvert)
        case (.result(let result), nil): machine.recordStale(result)
        case (.look, nil): machine.takeStanding()
        case (.command(let command), nil):
            guard case .retry(let invocation) = command.action else { return (nil, []) }
            machine.retry(invocation)
        case (.timer, nil): return (nil, [])
        case (.result(let result), let position?): machine.take(result, at: position)
        case (.command(let command), let position?): machine.take(command, at: position)
        case (.timer, let position?): machine.takeTimer(at: position)
        case (.look, let position?): machine.look(at: position)
        }
        let outcome = machine.finish()
        return (outcome.entries.isEmpty ? nil : outcome, outcome.unrecorded)
    }

    /// Ends a live run from outside its steps: superseded, cancelled.
    package func end(
        _ run: Run, as status: RunStatus, ordinal: Int64, facts: Facts
    ) -> Outcome {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: ordinal, depth: 0)
        machine.driveFromOutside(status)
        machine.end(status)
        return machine.finish()
    }

    /// Gives a run to the record that a merge left, or tells a run of that record what came in; its goal
    /// and exits are looked at, since what they read may have changed.
    package func move(
        _ run: Run, by move: RunMove, ordinal: Int64, facts: Facts
    ) -> Outcome {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: ordinal, depth: run.depth)
        machine.take(move)
        return machine.finish()
    }

    /// When the run must be looked at next without any input: its step's due time, the earliest time
    /// at which a condition could change, or its time limit. Nil once it has ended.
    package func nextDue(_ run: Run) -> Instant? {
        guard run.status.isLive, let position = run.position else { return nil }
        let limit = run.enteredAt + definition.limits.time
        return [position.due, position.reconsiderAt, limit].compactMap { $0 }.min()
    }

    /// Whether an event already recorded would take a branch of the wait the run stands at: its timer
    /// then waits for that event's turn (S2).
    package func wouldTake(_ event: LoggedEvent, _ run: Run, facts: Facts) -> Bool {
        guard run.status.isLive, let position = run.position,
            case .events = position.waiting,
            case .waitUntil(let wait)? = definition.steps[position.step]?.action
        else { return false }
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: event.ordinal,
            depth: event.event.depth)
        return machine.firstBranch(of: wait, takenBy: event) != nil
    }
}

extension Engine.Input {
    /// How many engine-made inputs led to this one; nil for a look, whose turn knows. Time starts anew:
    /// what a timer does is no echo of what came before it.
    fileprivate func depth(of run: Run) -> Int? {
        switch self {
        case .event(let event): event.event.depth
        case .result: run.depth
        case .command, .timer: 0
        case .look: nil
        }
    }
}
