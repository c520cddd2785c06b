package import JSON
package import JourneyModel
package import TimeZones
package import WorkflowDefinitions

/// An effect that a turn asks for; the dispatcher makes attempts until it has a result (S13).
package struct EffectRequest: Sendable, Hashable {
    package var invocation: InvocationID
    package var run: RunID
    package var step: StepID
    /// Visits of the step in this run before this one, plus renewals by an operator.
    package var attemptGroup: Int
    package var tool: ActionStep.Tool
    package var account: String?
    /// The rendered request as the dispatcher sends it, secrets by name only.
    package var request: JSONObject
    package var requestedAt: Instant
    /// No attempt starts after it.
    package var deadline: Instant
    package var attemptTimeout: Duration
    package var retry: RetryPolicy

    package init(
        invocation: InvocationID, run: RunID, step: StepID, attemptGroup: Int,
        tool: ActionStep.Tool, account: String?, request: JSONObject, requestedAt: Instant,
        deadline: Instant, attemptTimeout: Duration, retry: RetryPolicy
    ) {
        self.invocation = invocation
        self.run = run
        self.step = step
        self.attemptGroup = attemptGroup
        self.tool = tool
        self.account = account
        self.request = request
        self.requestedAt = requestedAt
        self.deadline = deadline
        self.attemptTimeout = attemptTimeout
        self.retry = retry
    }
}

/// How an effect ended; exactly one wakes the run.
package enum EffectOutcome: Sendable, Hashable {
    /// The tool's result, at most 16 KB.
    case succeeded(JSONValue)
    /// Attempts used up (or not worth repeating) with this error word, such as `http_404`.
    case failed(error: String, detail: JSONValue)
    /// The last attempt ran out of time.
    case timedOut
    /// The deadline passed before an attempt could start.
    case expired
    /// An attempt's outcome is not known and the receiver does not honour the key.
    case unknown
    /// Withheld on purpose, such as by `paused`; the run goes on by `next`.
    case suppressed(reason: String)
}

/// An effect's end as an input of the customer's turn.
package struct EffectResult: Sendable, Hashable {
    package var invocation: InvocationID
    package var run: RunID
    package var step: StepID
    package var outcome: EffectOutcome

    package init(invocation: InvocationID, run: RunID, step: StepID, outcome: EffectOutcome) {
        self.invocation = invocation
        self.run = run
        self.step = step
        self.outcome = outcome
    }
}
