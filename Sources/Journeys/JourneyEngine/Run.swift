package import JSON
package import JourneyModel
package import TimeZones

/// One customer's path through one version of a workflow.
package struct Run: Sendable, Hashable {
    package var id: RunID
    package var customer: CustomerID
    package var workflow: WorkflowID
    /// Version number and digest of the definition the run entered with (S8).
    package var version: Int
    package var digest: String
    /// The value of the entry's `key`; nil without one.
    package var key: String?
    /// 0 except for `when_live: start_another`.
    package var slot: Int
    /// What started it: an event's id, or the forms of S4.
    package var cause: String
    /// 0 for the run that the cause started, counted up by `rerun`.
    package var rerun: Int
    package var environment: String
    package var enteredAt: Instant
    package var endedAt: Instant?
    package var status: RunStatus
    /// `/trigger`: properties and meta of the event that started it.
    package var trigger: JSONObject
    /// `/event`: the event last bound.
    package var bound: JSONObject
    /// Where a waiting run stands; nil once ended.
    package var position: Position?
    /// Entries into each step so far.
    package var visits: [StepID: Int]
    /// The customer's input ordinal and time at the latest entry into each step.
    package var entries: [StepID: StepEntry]
    /// Results of finished actions, `/steps/<id>`.
    package var results: [StepID: JSONValue]
    /// Steps entered in all, against `limits.steps`.
    package var stepsEntered: Int
    /// Rows of history so far; the next one has this number.
    package var decisions: Int
    /// The trigger's ordinal: event waits with `since: "run"` look back to it.
    package var entryOrdinal: Int64
    /// When the trigger was stored; it may have waited for its turn. Nothing the run looks back to was
    /// stored much earlier.
    package var triggerRecordedAt: Instant
    /// Events that satisfied a wait of this run; each satisfies at most one (S3).
    package var spentEvents: [EventID]
    /// When the goal was reached; it latches once.
    package var convertedAt: Instant?
    /// Which subscription `/subscription` is in this run; nil for none.
    package var subscription: SubscriptionID?
    /// Engine-made inputs that led to what the run last did at once; 0 after a wait for time (S2).
    package var depth: Int
    /// Milestones passed, each once, in order.
    package var milestones: [String]
    /// Experiments whose exposure was recorded: once a run (S14).
    package var exposed: [String]
    /// When the latest message of this run was sent, or may have been: `gap` counts from it.
    package var lastMessageAt: Instant?
    /// Texts that should have named a zone and did not (S6), each once.
    package var invalidZones: [String]
    /// Whether `on_stop_matching` has seen the entry's filters true in this run.
    package var hasMatched: Bool
    /// Why it sends nothing, for life; nil for a run that does.
    package var withholding: Withholding?
    /// Ordinals that came to the customer with a record merged into theirs: the events there were taken
    /// when this run was somebody else's, so no wait of it looks back at them.
    package var hidden: [ClosedRange<Int64>]

    package init(
        id: RunID, customer: CustomerID, workflow: WorkflowID, version: Int, digest: String,
        key: String?, slot: Int, cause: String, rerun: Int, environment: String,
        enteredAt: Instant, trigger: JSONObject, entryOrdinal: Int64
    ) {
        self.id = id
        self.customer = customer
        self.workflow = workflow
        self.version = version
        self.digest = digest
        self.key = key
        self.slot = slot
        self.cause = cause
        self.rerun = rerun
        self.environment = environment
        self.enteredAt = enteredAt
        endedAt = nil
        status = .waiting
        self.trigger = trigger
        bound = trigger
        position = nil
        visits = [:]
        entries = [:]
        results = [:]
        stepsEntered = 0
        decisions = 0
        self.entryOrdinal = entryOrdinal
        triggerRecordedAt = enteredAt
        spentEvents = []
        convertedAt = nil
        subscription = SubscriptionID(scope: trigger)
        depth = 0
        milestones = []
        exposed = []
        lastMessageAt = nil
        invalidZones = []
        hasMatched = false
        withholding = nil
        hidden = []
    }

    /// The id of the run that `cause` starts: always the same one.
    package static func makeID(
        workflow: WorkflowID, customer: CustomerID, cause: String, rerun: Int
    ) -> RunID {
        RunID(derivedID("run", workflow.text, String(customer.number), cause, String(rerun)))
    }
}

/// The stored status of a run (S21): `waiting` until it ends in one of the others.
package enum RunStatus: Sendable, Hashable {
    case waiting
    /// Reached `"end"`.
    case completed
    /// Left early: by an `exit` step, an exit rule, the goal, or `time_limit`.
    case exited(reason: String)
    /// A step had no outlet for what happened, or a limit was passed.
    case failed(error: String)
    case cancelled(reason: String)
    case superseded(reason: String)

    /// The word stored and shown.
    package var word: String {
        switch self {
        case .waiting: "waiting"
        case .completed: "completed"
        case .exited: "exited"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .superseded: "superseded"
        }
    }

    /// Reason or error; nil for waiting and completed.
    package var reason: String? {
        switch self {
        case .waiting, .completed: nil
        case .exited(let text), .failed(let text), .cancelled(let text), .superseded(let text): text
        }
    }

    package var isLive: Bool { self == .waiting }

    /// Reads what ``word`` and ``reason`` wrote; nil for another word.
    package init?(word: String, reason: String?) {
        switch word {
        case "waiting": self = .waiting
        case "completed": self = .completed
        case "exited": self = .exited(reason: reason ?? "")
        case "failed": self = .failed(error: reason ?? "")
        case "cancelled": self = .cancelled(reason: reason ?? "")
        case "superseded": self = .superseded(reason: reason ?? "")
        default: return nil
        }
    }
}

/// The latest entry into a step, and when the first one was.
package struct StepEntry: Sendable, Hashable {
    /// Database time of the turn that entered it; durations count from it.
    package var at: Instant
    /// The ordinal of the input that brought the run there.
    package var ordinal: Int64
    /// The time of the first entry, which anchors a goal's window.
    package var firstAt: Instant

    /// - Parameter firstAt: nil when this entry is the first.
    package init(at: Instant, ordinal: Int64, firstAt: Instant? = nil) {
        self.at = at
        self.ordinal = ordinal
        self.firstAt = firstAt ?? at
    }
}

/// Whose clocks a due time was read from.
package struct WaitZone: Sendable, Hashable {
    package var name: String
    /// The release of tzdata.
    package var version: String

    package init(name: String, version: String) {
        self.name = name
        self.version = version
    }
}

/// Where a live run stands.
package struct Position: Sendable, Hashable {
    /// What a live run waits for. Each leads to the step's outlets, or to the run's end from outside.
    package enum Waiting: Sendable, Hashable {
        /// A delay until the due time.
        case delay(due: Instant)
        /// A time window that is closed until then.
        case window(opens: Instant)
        /// A wait for events after `mark` or conditions, until the due time.
        case events(mark: Int64, due: Instant)
        /// An effect without a result yet, requested at the ordinal.
        case effect(InvocationID, requestedOrdinal: Int64)
    }

    package var step: StepID
    /// Which visit of the step, from 0.
    package var visit: Int
    package var enteredAt: Instant
    package var waiting: Waiting
    /// The earliest instant at which a condition could change by time alone (S22).
    package var reconsiderAt: Instant?
    /// The zone that a due time was found in; nil for elapsed time.
    package var zone: WaitZone?

    package init(
        step: StepID, visit: Int, enteredAt: Instant, waiting: Waiting,
        reconsiderAt: Instant? = nil, zone: WaitZone? = nil
    ) {
        self.step = step
        self.visit = visit
        self.enteredAt = enteredAt
        self.waiting = waiting
        self.reconsiderAt = reconsiderAt
        self.zone = zone
    }

    /// The step's own due time; nil while an effect is out.
    package var due: Instant? {
        switch waiting {
        case .delay(let due): due
        case .window(let opens): opens
        case .events(_, let due): due
        case .effect: nil
        }
    }
}
