package import JourneyModel

/// What an operator, a publish or another run asks of a run: an input like any other (S1).
package struct OperatorCommand: Sendable, Hashable {
    /// What is asked. An action that does not fit where the run stands is recorded `stale`.
    package enum Action: Sendable, Hashable {
        /// Ends the run `cancelled` with this reason.
        case cancel(reason: String)
        /// Ends the run `exited` with this reason, as `exit_run` does.
        case exit(reason: String)
        /// Leaves the step it stands at by an outlet of that step.
        case skip(step: StepID, outlet: String)
        /// Has a run that failed at this effect wait for it again, and the effect attempted again.
        case retry(InvocationID)

        /// The word of the verb, as histories have it.
        package var word: String {
            switch self {
            case .cancel: "cancel"
            case .exit: "exit"
            case .skip: "skip"
            case .retry: "retry"
            }
        }
    }

    package var action: Action
    /// Number of the audit entry that says who asked; 0 for the engine itself.
    package var audit: Int64

    package init(_ action: Action, audit: Int64) {
        self.action = action
        self.audit = audit
    }
}
