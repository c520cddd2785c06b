package import JSON
package import JourneyEngine
package import JourneyModel
package import TimeZones

/// Everything one turn of one customer writes, in one transaction with the deletion of its inputs.
package struct TurnResult: Sendable {
    package var customer: CustomerRecord
    /// The inbox rows it took: exactly those that were loaded.
    package var takenInputs: [Int64]
    /// Runs that entered in this turn, in their final state.
    package var newRuns: [Run]
    /// Earlier runs that changed.
    package var changedRuns: [Run]
    package var decisions: [Decision]
    package var requests: [EffectRequest]
    /// Effects that no attempt may start for any more.
    package var withdrawals: [Withdrawal]
    package var events: [LoggedEvent]
    package var deliveries: [DeliveryMark]
    /// When the customer's timer is due next; nil for no timer.
    package var wakeAt: Instant?
    package var counts: [Count: Int]

    package init(customer: CustomerRecord) {
        self.customer = customer
        takenInputs = []
        newRuns = []
        changedRuns = []
        decisions = []
        requests = []
        withdrawals = []
        events = []
        deliveries = []
        wakeAt = nil
        counts = [:]
    }
}

/// One row of history: what one run decided at one point of a turn.
package struct Decision: Sendable, Hashable {
    package var run: RunID
    package var number: Int
    package var at: Instant
    package var entries: [HistoryEntry]

    package init(run: RunID, number: Int, at: Instant, entries: [HistoryEntry]) {
        self.run = run
        self.number = number
        self.at = at
        self.entries = entries
    }

    /// The stored form: `{"format": 1, "entries": […]}`.
    package var json: JSONValue {
        .object(
            JSONObject([
                ("format", .integer(1 as Int64)), ("entries", .array(entries.map(\.json))),
            ]))
    }
}

/// An effect taken back, with the word that says why (`converted`, an exit's reason, …).
package struct Withdrawal: Sendable, Hashable {
    package var invocation: InvocationID
    package var reason: String

    package init(invocation: InvocationID, reason: String) {
        self.invocation = invocation
        self.reason = reason
    }
}

/// What the turn found a delivery to be.
package struct DeliveryMark: Sendable, Hashable {
    /// What a delivery can be found to be; set once.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Read and given to the customer as an event.
        case processed
        /// The same event again, whatever its bytes (S16).
        case duplicate
        /// The same id with another event: kept, never acted upon.
        case conflict
        /// No mapping could read it; its reason stands with the event.
        case unreadable
    }

    package var delivery: Int64
    package var state: State
    /// A sentence for `conflict` and `unreadable`.
    package var reason: String?

    package init(delivery: Int64, state: State, reason: String? = nil) {
        self.delivery = delivery
        self.state = state
        self.reason = reason
    }
}

/// A thing that is counted by cause, so that nothing is silent (S20).
package struct Count: Sendable, Hashable {
    /// What is counted.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case entered, filtered, ended, converted
        /// An entry that did not happen, by cause: `reentry`, `live`, `no_key`, `environment`, …
        case notEntered = "not_entered"
        case stale, unreadable, conflict, duplicate, clamped, loop
        case invalidZone = "invalid_zone"
        case ignored
    }

    package var name: Name
    /// The workflow concerned; nil for what concerns none.
    package var workflow: WorkflowID?
    package var cause: String

    package init(_ name: Name, workflow: WorkflowID? = nil, cause: String = "") {
        self.name = name
        self.workflow = workflow
        self.cause = cause
    }
}
