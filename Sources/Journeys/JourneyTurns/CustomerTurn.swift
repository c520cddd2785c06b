package import JSON
package import JourneyEngine
package import JourneyModel
package import TimeZones

/// Everything one turn of one customer reads, loaded by later statements than the one that locked the
/// customer.
package struct CustomerTurn: Sendable {
    package var customer: CustomerRecord
    /// Unread inputs by (recorded_at, sequence), at most ``inputLimit``.
    package var inputs: [TurnInput]
    /// False when more inputs were unread than loaded: the turn then takes no timer (S2).
    package var hasAllInputs: Bool
    /// Live runs, and ended ones whose goal is still open (`Engine.openUntil`), in any order.
    package var runs: [Run]
    /// What earlier runs say about entering again.
    package var earlierEntries: [EarlierEntry]
    /// (workflow, cause) pairs of this turn's events that already have a run.
    package var spentCauses: Set<SpentCause>
    /// Stored events that live runs' waits may look back to, oldest first.
    package var log: [LoggedEvent]
    /// Database time of the turn.
    package var now: Instant

    /// Inputs one turn takes of one customer.
    package static let inputLimit = 200

    package init(
        customer: CustomerRecord, inputs: [TurnInput], hasAllInputs: Bool, runs: [Run],
        earlierEntries: [EarlierEntry], spentCauses: Set<SpentCause>, log: [LoggedEvent],
        now: Instant
    ) {
        self.customer = customer
        self.inputs = inputs
        self.hasAllInputs = hasAllInputs
        self.runs = runs
        self.earlierEntries = earlierEntries
        self.spentCauses = spentCauses
        self.log = log
        self.now = now
    }
}

/// One customer as stored.
package struct CustomerRecord: Sendable, Hashable {
    package var id: CustomerID
    package var environment: String
    package var app: String?
    package var attributes: JSONObject
    /// Ordinal of the last input a turn took.
    package var inputsTaken: Int64

    package init(
        id: CustomerID, environment: String, app: String?, attributes: JSONObject,
        inputsTaken: Int64
    ) {
        self.id = id
        self.environment = environment
        self.app = app
        self.attributes = attributes
        self.inputsTaken = inputsTaken
    }
}

/// One unread inbox row with what it refers to.
package struct TurnInput: Sendable {
    /// What an inbox row may refer to.
    package enum Content: Sendable {
        case delivery(StoredDelivery)
        /// An event that is not a delivery: made by the engine or sent by the app.
        case event(Event)
        case result(EffectResult)
    }

    /// The inbox row's number.
    package var sequence: Int64
    package var recordedAt: Instant
    package var content: Content

    package init(sequence: Int64, recordedAt: Instant, content: Content) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.content = content
    }
}

/// One HTTP request as received and stored.
package struct StoredDelivery: Sendable {
    package var id: Int64
    package var connector: String
    package var providerEventID: String
    package var body: [UInt8]
    package var receivedAt: Instant
    /// The event that an earlier delivery of the same id became; nil for the first.
    package var earlier: Event?

    package init(
        id: Int64, connector: String, providerEventID: String, body: [UInt8],
        receivedAt: Instant, earlier: Event?
    ) {
        self.id = id
        self.connector = connector
        self.providerEventID = providerEventID
        self.body = body
        self.receivedAt = receivedAt
        self.earlier = earlier
    }
}

/// The newest entry of a workflow and key among ended runs that use up re-entry (not failed, cancelled
/// or superseded, S4). Live runs speak for themselves: one that fails in this turn gives its entry back.
package struct EarlierEntry: Sendable, Hashable {
    package var workflow: WorkflowID
    package var key: String?
    package var enteredAt: Instant

    package init(workflow: WorkflowID, key: String?, enteredAt: Instant) {
        self.workflow = workflow
        self.key = key
        self.enteredAt = enteredAt
    }
}

/// A workflow that a cause has already started.
package struct SpentCause: Sendable, Hashable {
    package var workflow: WorkflowID
    package var cause: String

    package init(workflow: WorkflowID, cause: String) {
        self.workflow = workflow
        self.cause = cause
    }
}
