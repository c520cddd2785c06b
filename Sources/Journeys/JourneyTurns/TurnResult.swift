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
    /// Dead effects that are to be attempted again.
    package var renewals: [EffectRenewal]
    /// What was made of operators' commands.
    package var commands: [CommandOutcome]
    package var events: [LoggedEvent]
    /// Events of the log of which ``events`` holds the next revision.
    package var revised: [EventID]
    /// Subscriptions that changed, in their final state.
    package var subscriptions: [SubscriptionState]
    /// Memberships that changed.
    package var segments: [SegmentChange]
    /// Variants given for the first time.
    package var assignments: [Assignment]
    /// Dates that came, moved, were dealt with or went.
    package var dates: [DateChange]
    /// Values of `once_per` that new runs take: each of them by nobody else, or the turn is decided anew.
    package var claims: [EntryClaim]
    /// Inputs of the customer's next turn, in order.
    package var emitted: [EngineInput]
    package var deliveries: [DeliveryMark]
    /// Transfers that were told, to be carried out before anybody's runs hear of them.
    package var transfers: [TransferStep]
    /// Facts came late that an earlier transfer takes along.
    package var givesAgain: Bool
    /// When the customer's timer is due next; nil for no timer.
    package var wakeAt: Instant?
    package var counts: [Count: Int]
    /// What happened to runs, for the system that wants to be told; empty where none does.
    package var outbound: [OutboundEvent]

    package init(customer: CustomerRecord) {
        self.customer = customer
        takenInputs = []
        newRuns = []
        changedRuns = []
        decisions = []
        requests = []
        withdrawals = []
        renewals = []
        commands = []
        events = []
        revised = []
        subscriptions = []
        segments = []
        assignments = []
        dates = []
        claims = []
        emitted = []
        deliveries = []
        transfers = []
        givesAgain = false
        wakeAt = nil
        counts = [:]
        outbound = []
    }
}

/// A customer's new place in a segment.
package struct SegmentChange: Sendable, Hashable {
    package var segment: SegmentID
    /// Nil for who left.
    package var enteredAt: Instant?

    package init(segment: SegmentID, enteredAt: Instant?) {
        self.segment = segment
        self.enteredAt = enteredAt
    }
}

/// What became of one date.
package struct DateChange: Sendable, Hashable {
    package var key: DateEntry.Key
    /// Nil for one that is gone.
    package var entry: DateEntry?

    package init(key: DateEntry.Key, entry: DateEntry?) {
        self.key = key
        self.entry = entry
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

    /// The stored form: `{"format": 1, "entries": […], "seal": "…"}`.
    package var json: JSONValue {
        let stored = JSONValue.array(entries.map(\.json))
        return .object(
            JSONObject([
                ("format", .integer(1 as Int64)), ("entries", stored),
                ("seal", .string(Self.seal(run: run, number: number, at: at, entries: stored))),
            ]))
    }

    /// A digest of the row as it was written. A value that was read and swayed nothing leaves no other
    /// trace: only by this is it noticed that the row was changed afterwards.
    package static func seal(
        run: RunID, number: Int, at: Instant, entries: JSONValue
    ) -> String {
        derivedID("decision", run.text, String(number), at.description, entries.text)
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
    /// What a delivery can be found to be; set once, and anew when it is mapped again.
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
        /// A record merged into another, by what asked for it.
        case merged
        case stale, unreadable, conflict, duplicate, clamped, loop
        /// The next revision of an event, by its connector.
        case revised
        case invalidZone = "invalid_zone"
        case ignored
        /// A provider's type that its mapping does not know, by connector.
        case unknown
        /// Rows of an export that became state.
        case imported
        /// Runs that came to an experiment, and conversions of such runs, by `experiment:variant`.
        case exposed
        case convertedVariant = "converted_variant"
        /// Actions that a run passed by because it sends nothing, by why.
        case suppressed
        /// A milestone passed, by its id.
        case milestone
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
