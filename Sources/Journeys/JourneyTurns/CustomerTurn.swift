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
    /// Live runs, ended ones whose goal is still open (`Engine.openUntil`), and those whose effects'
    /// results are among the inputs, in any order.
    package var runs: [Run]
    /// What earlier runs say about entering again.
    package var earlierEntries: [EarlierEntry]
    /// (workflow, cause) pairs of this turn's events that already have a run.
    package var spentCauses: Set<SpentCause>
    /// Stored events that live runs' waits may look back to, oldest first.
    package var log: [LoggedEvent]
    /// What providers said about the customer's subscriptions, in any order.
    package var subscriptions: [SubscriptionState]
    /// The stored bytes of logged events that came as deliveries, where a definition reads `/event/raw`.
    package var bodies: [EventID: [UInt8]]
    /// Since when the customer is in each segment; who is in none has no entry.
    package var segments: [SegmentID: Instant]
    /// The customer's variant by experiment id.
    package var assignments: [String: String]
    /// What became of the customer's dates so far.
    package var dates: [DateEntry]
    /// `/features` by id, of those that definitions read; absent without the feature house: unknown.
    package var features: [String: FeatureFacts]
    /// From here on ``log`` holds every event that a question of a definition is about.
    package var eventsKnownSince: Instant
    /// Values of `once_per` that others have taken; told when a turn that claims them is decided again.
    package var takenValues: Set<EntryValue>
    /// Database time of the turn.
    package var now: Instant

    /// Inputs one turn takes of one customer.
    package static let inputLimit = 200

    package init(
        customer: CustomerRecord, inputs: [TurnInput], hasAllInputs: Bool, runs: [Run],
        earlierEntries: [EarlierEntry], spentCauses: Set<SpentCause>, log: [LoggedEvent],
        subscriptions: [SubscriptionState] = [], bodies: [EventID: [UInt8]] = [:],
        segments: [SegmentID: Instant] = [:], assignments: [String: String] = [:],
        dates: [DateEntry] = [], features: [String: FeatureFacts] = [:],
        eventsKnownSince: Instant = .earliest, takenValues: Set<EntryValue> = [], now: Instant
    ) {
        self.customer = customer
        self.inputs = inputs
        self.hasAllInputs = hasAllInputs
        self.runs = runs
        self.earlierEntries = earlierEntries
        self.spentCauses = spentCauses
        self.log = log
        self.subscriptions = subscriptions
        self.bodies = bodies
        self.segments = segments
        self.assignments = assignments
        self.dates = dates
        self.features = features
        self.eventsKnownSince = eventsKnownSince
        self.takenValues = takenValues
        self.now = now
    }
}

/// One customer as stored.
package struct CustomerRecord: Sendable, Hashable {
    package var id: CustomerID
    package var environment: String
    package var app: String?
    package var attributes: JSONObject
    /// What set each attribute last, also those that were taken away.
    package var setters: [String: Setter]
    /// Ordinal of the last input a turn took.
    package var inputsTaken: Int64
    package var createdAt: Instant
    /// The revision of the catalogue whose segments and dates the customer was compared with.
    package var definitionsSeen: Int64
    /// When the latest transfer that the customer gave happened.
    package var givenUntil: Instant?

    package init(
        id: CustomerID, environment: String, app: String?, attributes: JSONObject,
        setters: [String: Setter] = [:], inputsTaken: Int64, createdAt: Instant = .earliest,
        definitionsSeen: Int64 = 0, givenUntil: Instant? = nil
    ) {
        self.id = id
        self.environment = environment
        self.app = app
        self.attributes = attributes
        self.setters = setters
        self.inputsTaken = inputsTaken
        self.createdAt = createdAt
        self.definitionsSeen = definitionsSeen
        self.givenUntil = givenUntil
    }
}

extension CustomerRecord {
    /// Sets an attribute, or takes it away with nil, unless a later fact set it: in whatever order facts
    /// arrive, the newest wins.
    ///
    /// - Returns: whether it changed anything.
    @discardableResult
    package mutating func setAttribute(
        _ name: String, to value: JSONValue?, by setter: Setter
    ) -> Bool {
        if let standing = setters[name], standing >= setter { return false }
        setters[name] = setter
        attributes[name] = value
        return true
    }

    /// The setters' stored form, by attribute.
    package var settersJSON: JSONObject {
        JSONObject(setters.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
    }

    /// Reads what ``settersJSON`` wrote.
    package static func setters(
        json: JSONObject
    ) throws(StoredFormError) -> [String: Setter] {
        var setters: [String: Setter] = [:]
        for (name, value) in json {
            guard let setter = Setter(json: value) else {
                throw StoredFormError(subject: "attribute setters", member: name)
            }
            setters[name] = setter
        }
        return setters
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
        /// What an operator asks of a run.
        case command(CustomerCommand)
        case start(StartInput)
        case exit(ExitRequest)
        case schedule(ScheduleInput)
        /// A stored delivery that an operator has offered again.
        case replay(StoredDelivery, Replay)
    }

    /// The inbox row's number.
    package var sequence: Int64
    package var recordedAt: Instant
    package var content: Content
    /// False for an event that came too late to start anything: it changes state, and runs take it.
    package var mayStart: Bool

    package init(
        sequence: Int64, recordedAt: Instant, content: Content, mayStart: Bool = true
    ) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.content = content
        self.mayStart = mayStart
    }
}

extension TurnInput {
    /// The id of the event that this input is or becomes; nil for what is none.
    package var event: EventID? {
        switch content {
        case .delivery(let delivery), .replay(let delivery, _):
            Event.makeID(
                connector: delivery.connector, providerEventID: delivery.providerEventID)
        case .event(let event): event.id
        case .result, .command, .start, .exit, .schedule: nil
        }
    }

    /// What a run that this input starts is known by; nil for one that starts none.
    package var cause: String? {
        switch content {
        case .delivery, .replay: event?.text
        case .event(let event): event.segmentCause ?? event.id.text
        case .start(let start): start.request.cause
        case .schedule(let schedule): schedule.cause
        case .result, .command, .exit: nil
        }
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
