package import JSON
package import JourneyModel
package import TimeZones

extension Engine {
    /// What came of one input for one run. Apart from the run, its entries and its effects everything
    /// here is for the caller to carry out in the same transaction.
    package struct Outcome: Sendable, Hashable {
        package var run: Run
        /// The decision's entries, in order.
        package var entries: [HistoryEntry] = []
        package var requests: [EffectRequest] = []
        /// Effects of the run that no attempt may start for any more.
        package var withdrawals: [EffectWithdrawal] = []
        /// Dead effects that are to be attempted again.
        package var renewals: [EffectRenewal] = []
        /// Whether the goal was reached by this input.
        package var converted = false
        /// Events of `send_event`, complete: inputs of the customer's next turn.
        package var emitted: [Event] = []
        /// Of `update_customer`, in order; later inputs of the turn must see them.
        package var attributeChanges: [AttributeChange] = []
        /// Of `start_run`: inputs of the customer's next turn.
        package var starts: [StartRequest] = []
        /// Of `exit_run`: inputs of the customer's next turn.
        package var exits: [ExitRequest] = []
        /// Variants given for the first time; later inputs of the turn must see them.
        package var assignments: [Assignment] = []
        /// Exposures to count, one a run and experiment.
        package var exposures: [Exposure] = []
        /// Milestones passed, in order.
        package var milestones: [String] = []
        /// Names of zones that this decision found to be none, to be counted.
        package var invalidZones: [String] = []
        /// Set on ``Facts/recorded`` only: what was read and is not in the history.
        package var unrecorded: [JSONValue] = []

        package init(run: Run) { self.run = run }
    }
}

/// An effect taken back, with the word that says why (`converted`, an exit's reason, …).
package struct EffectWithdrawal: Sendable, Hashable {
    package var invocation: InvocationID
    package var reason: String

    package init(invocation: InvocationID, reason: String) {
        self.invocation = invocation
        self.reason = reason
    }
}

/// One attribute that a workflow sets or removes.
package struct AttributeChange: Sendable, Hashable {
    package var name: String
    /// Nil to remove it.
    package var value: JSONValue?

    package init(name: String, value: JSONValue?) {
        self.name = name
        self.value = value
    }
}

/// A run that a `start_run` step asks for, of a workflow whose trigger is `api`.
package struct StartRequest: Sendable, Hashable {
    package var workflow: WorkflowID
    package var key: String?
    /// `run:<run>:<step>:<visit>`: the same step visit starts one run, however often it is told.
    package var cause: String
    /// Engine-made inputs before this one, plus one (S2).
    package var depth: Int
    /// Why the run that it starts sends nothing: what a withheld run starts is withheld, too.
    package var withholding: Withholding?

    package init(
        workflow: WorkflowID, key: String?, cause: String, depth: Int,
        withholding: Withholding? = nil
    ) {
        self.workflow = workflow
        self.key = key
        self.cause = cause
        self.depth = depth
        self.withholding = withholding
    }
}

/// Runs that an `exit_run` step ends: the customer's live ones of the workflow, with that key if given.
package struct ExitRequest: Sendable, Hashable {
    package var workflow: WorkflowID
    package var key: String?
    /// The run that asks, for the reason `exit_run`.
    package var by: RunID
    package var depth: Int

    package init(workflow: WorkflowID, key: String?, by: RunID, depth: Int) {
        self.workflow = workflow
        self.key = key
        self.by = by
        self.depth = depth
    }
}

/// A customer's variant of an experiment, given once and for ever (S14).
package struct Assignment: Sendable, Hashable {
    package var experiment: String
    package var variant: String

    package init(experiment: String, variant: String) {
        self.experiment = experiment
        self.variant = variant
    }
}

/// A run that came to an experiment.
package struct Exposure: Sendable, Hashable {
    package var experiment: String
    package var variant: String
    package var isHoldout: Bool
    package var at: Instant

    package init(experiment: String, variant: String, isHoldout: Bool, at: Instant) {
        self.experiment = experiment
        self.variant = variant
        self.isHoldout = isHoldout
        self.at = at
    }
}
