package import JourneyModel

/// A back end's wish for a run: `POST /v1/runs`.
package struct RunWish: Sendable, Hashable {
    package var workflow: WorkflowID
    /// An id that the customer is known by.
    package var customer: String
    package var environment: String
    package var app: String?
    package var key: String?
    /// The caller's `Idempotency-Key`: the run's cause (S4).
    package var cause: String
    /// Whether a live run in its place is ended for it.
    package var supersedes: Bool
    /// The source that asks, for the audit log.
    package var source: String

    package init(
        workflow: WorkflowID, customer: String, environment: String, app: String?, key: String?,
        cause: String, supersedes: Bool, source: String
    ) {
        self.workflow = workflow
        self.customer = customer
        self.environment = environment
        self.app = app
        self.key = key
        self.cause = cause
        self.supersedes = supersedes
        self.source = source
    }

    /// What became of a wish.
    package enum Answer: Sendable, Hashable {
        /// The customer's next turn decides it, by the entry's filters and rules.
        case accepted
        /// The same cause started this run before.
        case startedBefore(RunID)
        /// A run with that key is live.
        case slotTaken(RunID)
        case unknownCustomer
        case unknownWorkflow
        /// The workflow's runs begin by themselves.
        case isNotStartedByRequest
    }
}

/// A back end's wish that a run ends: `DELETE /v1/runs/{id}`.
package struct RunCancellation: Sendable, Hashable {
    package var run: RunID
    package var environment: String
    package var app: String?
    /// The source that asks, for the audit log.
    package var source: String

    package init(run: RunID, environment: String, app: String?, source: String) {
        self.run = run
        self.environment = environment
        self.app = app
        self.source = source
    }

    /// What became of a wish.
    package enum Answer: Sendable, Hashable {
        /// The customer's next turn ends it.
        case accepted
        /// It has ended already, with this status.
        case ended(String)
        case unknownRun
    }
}
