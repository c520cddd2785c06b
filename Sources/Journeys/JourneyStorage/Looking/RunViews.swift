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
    package var wakeAt: Instant?
}

/// A run with everything that says why it is where it is.
package struct RunView: Sendable, Hashable {
    package var summary: RunSummary
    package var run: Run
    package var effects: [EffectView]
    package var standing: CustomerStanding
    /// The database's time of the look.
    package var now: Instant

    /// Why the run does not move at this moment, the foremost reason first.
    package enum Hold: Sendable, Hashable {
        case ended(status: String, reason: String?)
        /// The customer's turns fail; no more are tried until an operator acts.
        case stuck(error: String)
        /// The customer's last turn failed.
        case retrying(error: String, at: Instant)
        /// Inputs wait for the customer's next turn: is a worker running?
        case unreadInputs(count: Int, since: Instant)
        /// A timer is due and was not taken: is a worker running?
        case overdue(since: Instant)
        case effect(EffectView)
        case timer(due: Instant)
        case events(until: Instant)
    }

    package var holds: [Hold] {
        if summary.endedAt != nil {
            return [.ended(status: summary.status, reason: summary.reason)]
        }
        var holds: [Hold] = []
        if let aside = standing.setAside {
            if let at = aside.retryAt {
                holds.append(.retrying(error: aside.error, at: at))
            } else {
                holds.append(.stuck(error: aside.error))
            }
        }
        if let since = standing.oldestUnread {
            holds.append(.unreadInputs(count: standing.unreadInputs, since: since))
        }
        if let due = standing.timerDue, due < now { holds.append(.overdue(since: due)) }
        switch run.position?.waiting {
        case .effect(let invocation, requestedOrdinal: _):
            if let effect = effects.first(where: { $0.invocation == invocation }) {
                holds.append(.effect(effect))
            }
        case .delay(let due), .window(opens: let due): holds.append(.timer(due: due))
        case .events(mark: _, let due): holds.append(.events(until: due))
        case nil: break
        }
        return holds
    }
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
