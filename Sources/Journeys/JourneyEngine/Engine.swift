package import JourneyModel
package import TimeZones
package import WorkflowDefinitions

/// The pure function at the heart: (definition, run, input, facts) → (run, effects, history).
///
/// It reads no clock, no random source and no store; the worker, `simulate` and every replay call
/// this same code, so the same input always gives the same output, byte for byte.
package struct Engine: Sendable {
    package let definition: WorkflowDefinition

    package init(_ definition: WorkflowDefinition) { self.definition = definition }

    /// What a run may be given; an ended one takes events only, for its goal.
    package enum Input: Sendable, Hashable {
        case event(LoggedEvent)
        case result(EffectResult)
        /// Its due time has come; what is due is found from the run.
        case timer
        /// The customer's turn is over: conditions are looked at once more, since what they read may
        /// have changed; nothing that is due is taken.
        case look
    }

    /// What came of one input for one run.
    package struct Outcome: Sendable {
        package var run: Run
        /// The decision's entries, in order; empty when only the next time to look was set anew.
        package var entries: [HistoryEntry]
        package var requests: [EffectRequest]
        /// Effects of the run that no attempt may start for any more, with the reason.
        package var withdrawals: [(invocation: InvocationID, reason: String)]
        /// Whether the goal was reached by this input.
        package var converted: Bool
    }

    /// Starts a run that the caller has found admissible, and takes it as far as it goes at once.
    ///
    /// - Parameter ordinal: the customer's ordinal of the trigger.
    package func enter(_ run: Run, ordinal: Int64, facts: Facts) -> Outcome {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: ordinal,
            lookBack: ordinal)
        machine.noteEntered()
        machine.enter(definition.start)
        return machine.finish()
    }

    /// Gives a run one input.
    ///
    /// - Parameters:
    ///   - ordinal: the ordinal of the last input taken, this one included.
    ///   - mayConvert: false when an event is evidence for a newer run of the workflow.
    /// - Returns: nil when the input changes nothing in this run, which then leaves no row.
    package func advance(
        _ run: Run, by input: Input, ordinal: Int64, facts: Facts, mayConvert: Bool = true
    ) -> Outcome? {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: ordinal,
            lookBack: ordinal)
        let changed: Bool
        switch (input, run.position) {
        case (.event(let event), _): changed = machine.take(event, mayConvert: mayConvert)
        case (_, nil): return nil
        case (.result(let result), let position?):
            changed = machine.take(result, at: position)
        case (.timer, let position?): changed = machine.takeTimer(at: position)
        case (.look, let position?):
            changed = machine.look(at: position) || machine.reconsider()
        }
        return changed ? machine.finish() : nil
    }

    /// Ends a live run from outside its steps: superseded, cancelled.
    package func end(
        _ run: Run, as status: RunStatus, ordinal: Int64, facts: Facts
    ) -> Outcome {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: ordinal,
            lookBack: ordinal)
        machine.end(status)
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
            lookBack: event.ordinal)
        return machine.firstBranch(of: wait, takenBy: event) != nil
    }
}
