package import JourneyEngine
package import JourneyModel
package import TimeZones

/// What a dispatcher can serve at the moment: leases are given only for these.
package struct EffectCapacity: Sendable, Hashable {
    /// The tool's word, such as `http`.
    package var tool: String
    /// The account; nil for tools without one.
    package var account: String?
    /// Attempts that may start now.
    package var free: Int

    package init(tool: String, account: String?, free: Int) {
        self.tool = tool
        self.account = account
        self.free = free
    }
}

/// The right to make one attempt, until ``leaseUntil``.
package struct LeasedEffect: Sendable, Hashable {
    package var customer: CustomerID
    package var workflow: WorkflowID
    package var environment: String
    package var request: EffectRequest
    /// Counts attempts from 1.
    package var attempt: Int
    /// Every later write about this attempt must carry it.
    package var fence: Int64
    package var startedAt: Instant
    package var leaseUntil: Instant
    /// The lease before this one ran out: whether its attempt reached the receiver is not known. An
    /// account that does not honour the key must not be sent to again (S13).
    package var wasAmbiguous: Bool

    package init(
        customer: CustomerID, workflow: WorkflowID, environment: String, request: EffectRequest,
        attempt: Int, fence: Int64, startedAt: Instant, leaseUntil: Instant, wasAmbiguous: Bool
    ) {
        self.customer = customer
        self.workflow = workflow
        self.environment = environment
        self.request = request
        self.attempt = attempt
        self.fence = fence
        self.startedAt = startedAt
        self.leaseUntil = leaseUntil
        self.wasAmbiguous = wasAmbiguous
    }
}

/// How one attempt went, and what follows.
package struct FinishedAttempt: Sendable, Hashable {
    /// What follows the attempt.
    package enum Next: Sendable, Hashable {
        /// Another attempt, after the pause.
        case retry(after: Duration)
        /// The effect is over; the outcome wakes the run.
        case end(EffectOutcome)
    }

    package var lease: LeasedEffect
    /// A word for the attempt: `200`, `429`, `timeout`, `refused`, …
    package var outcome: String
    package var isAmbiguous: Bool
    /// The beginning of the response; cut to ``excerptLimit`` bytes.
    package var excerpt: [UInt8]
    package var next: Next

    package static let excerptLimit = 4_096

    package init(
        lease: LeasedEffect, outcome: String, isAmbiguous: Bool = false, excerpt: [UInt8] = [],
        next: Next
    ) {
        self.lease = lease
        self.outcome = outcome
        self.isAmbiguous = isAmbiguous
        self.excerpt = excerpt
        self.next = next
    }
}
