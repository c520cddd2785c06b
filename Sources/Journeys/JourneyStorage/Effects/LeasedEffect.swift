package import JourneyEngine
package import JourneyModel
package import TimeZones

/// What a dispatcher can serve at the moment: leases are given only for these.
package struct EffectCapacity: Sendable, Hashable {
    /// The tool's word, such as `http`.
    package var tool: String
    /// The account; nil for tools without one.
    package var account: String?
    /// Attempts that this process may start now.
    package var free: Int
    /// What holds over all dispatchers; nil for a tool without account.
    package var limits: AccountLimits?

    package init(tool: String, account: String?, free: Int, limits: AccountLimits? = nil) {
        self.tool = tool
        self.account = account
        self.free = free
        self.limits = limits
    }
}

/// What one look for due effects gave.
package struct LeaseRound: Sendable, Hashable {
    /// An effect that was looked at and not leased.
    package struct Ended: Sendable, Hashable {
        package var tool: String
        /// Empty for a tool without account.
        package var account: String
        /// `expired`, `unknown`, `suppressed` or `withdrawn`, which end it; `put_off` or `closed`.
        package var word: String
        /// Why it was withdrawn or suppressed.
        package var reason: String?
    }

    package var leases: [LeasedEffect] = []
    package var ended: [Ended] = []
    /// When it is worth looking again at the latest, because a rate or another dispatcher stands in the
    /// way; nil where only what is not yet due is left.
    package var lookAgainAfter: Duration?
    /// Rows that were locked, leased or not.
    var locked = 0

    package init() {}

    mutating func lookAgain(after pause: Duration) {
        lookAgainAfter = min(lookAgainAfter ?? pause, pause)
    }

    mutating func add(_ other: LeaseRound) {
        leases += other.leases
        ended += other.ended
        locked += other.locked
        if let pause = other.lookAgainAfter { lookAgain(after: pause) }
    }
}

/// The right to make one attempt, until ``leaseUntil``.
package struct LeasedEffect: Sendable, Hashable {
    package var customer: CustomerID
    package var workflow: WorkflowID
    package var environment: String
    package var request: EffectRequest
    /// Counts attempts from 1, and again from 1 when an operator has the effect tried again.
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
