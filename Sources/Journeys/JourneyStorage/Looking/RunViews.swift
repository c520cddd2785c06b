package import JSON
package import JourneyEngine
package import JourneyModel
package import TimeZones

/// Which runs to list; every condition that is set must hold.
package struct RunFilter: Sendable, Hashable {
    package var workflow: String?
    package var version: Int?
    package var status: String?
    /// An external id; with ``environment`` and ``app`` it names one customer.
    package var customer: String?
    package var environment: String?
    package var app: String?
    package var key: String?
    package var step: String?
    /// The error of a run that failed.
    package var error: String?
    /// Of the event that started the run.
    package var connector: String?
    package var event: String?
    /// Entered at or after, and before.
    package var since: Instant?
    package var until: Instant?
    /// 1 to 1,000.
    package var limit = 50
    /// The last run of the page before.
    package var after: RunSummary?

    package init() {}
}

/// One line about a run.
package struct RunSummary: Sendable, Hashable {
    package var id: RunID
    package var customer: CustomerID
    package var workflow: WorkflowID
    package var version: Int
    package var key: String?
    package var environment: String
    package var status: String
    package var reason: String?
    package var step: String?
    package var enteredAt: Instant
    package var endedAt: Instant?
    /// When the run is looked at by time, as its row has it.
    package var wakeAt: Instant?
    /// When the effect that it waits for is looked at next: its next attempt, which is not due before its
    /// window opens, or the end of the attempt in flight.
    package var attemptAt: Instant?

    /// When something happens next without an input; nil for never.
    package var nextWake: Instant? { [wakeAt, attemptAt].compactMap(\.self).min() }
}

/// What stands between a customer and its next turn.
package struct CustomerStanding: Sendable, Hashable {
    /// Why a customer stands still.
    package struct SetAside: Sendable, Hashable {
        package var since: Instant
        package var attempts: Int
        package var error: String
        /// Nil for stuck.
        package var retryAt: Instant?
    }

    package var unreadInputs: Int
    package var oldestUnread: Instant?
    /// Unread inputs of others that came before the oldest; at most 10,000.
    package var inputsAhead = 0
    package var timerDue: Instant?
    package var setAside: SetAside?
}

/// One effect with its place in the queue.
package struct EffectView: Sendable, Hashable {
    package var invocation: InvocationID
    package var customer: CustomerID
    package var run: RunID
    package var step: StepID
    package var attemptGroup: Int
    package var tool: String
    package var account: String?
    /// `pending` until it ends; then its outcome's word, or `withdrawn`.
    package var status: String
    package var reason: String?
    package var attempts: Int
    package var requestedAt: Instant
    package var deadline: Instant
    package var endedAt: Instant?
    /// When the next attempt is due; nil once ended or while one is in flight.
    package var dueAt: Instant?
    /// Until when the attempt in flight may last.
    package var leaseUntil: Instant?
    package var result: JSONValue?
    /// No attempt starts before it; nil for one that was requested by an earlier version.
    package var notBefore: Instant?
    /// An attempt starts only while this is open; nil for always.
    package var window: AttemptWindow?
    /// The audit's number under which somebody settled it by hand.
    package var discarded: Int64?

    /// The error's word of one that ended without success.
    package var error: String? { result?["error"]?.string }
}

/// One row of a run's history.
package struct HistoryRow: Sendable, Hashable {
    package var number: Int
    package var at: Instant
    /// `{"format": 1, "entries": […]}`, as ``Decision/json`` wrote it.
    package var json: JSONObject

    package init(number: Int, at: Instant, json: JSONObject) {
        self.number = number
        self.at = at
        self.json = json
    }
}
