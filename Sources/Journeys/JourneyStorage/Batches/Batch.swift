package import JourneyModel
package import JourneyTurns
package import TimeZones

/// One piece of long work: it survives whoever asked for it and whoever does it.
package struct Batch: Sendable, Hashable {
    /// What is done to each object.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Stored deliveries are offered again.
        case replay
    }

    /// `running` → `paused`, `cancelled`, `done`; `paused` → `running`, `cancelled`. The others are final.
    package enum State: String, Sendable, Hashable, CaseIterable {
        case running, paused, cancelled, done

        /// Whether it may go on some time.
        package var isOpen: Bool {
            switch self {
            case .running, .paused: true
            case .cancelled, .done: false
            }
        }
    }

    package var id: Int64
    package var kind: Kind
    package var state: State
    package var selection: DeliverySelection
    package var replay: Replay
    /// Objects a second that something is done to, at most.
    package var rate: Int
    /// Objects selected as it was made.
    package var total: Int64
    /// Objects it has come by.
    package var passed: Int64
    /// Objects to which something was done.
    package var done: Int64
    /// Objects to which it could not be done; its findings say why.
    package var unable: Int64
    /// Why it stands still, when it does by itself.
    package var error: String?
    package var createdAt: Instant
    package var endedAt: Instant?
    package var who: String
    package var reason: String
}

/// What a batch did to one object, or why it could not.
package struct BatchFinding: Sendable, Hashable {
    /// The object's number: of a delivery.
    package var object: Int64
    /// `offered` or `unable`.
    package var outcome: String
    package var event: EventID?
    /// The event's names before and now.
    package var before: String?
    package var after: String?
    package var sentence: String?

    package init(
        object: Int64, outcome: String, event: EventID? = nil, before: String? = nil,
        after: String? = nil, sentence: String? = nil
    ) {
        self.object = object
        self.outcome = outcome
        self.event = event
        self.before = before
        self.after = after
        self.sentence = sentence
    }
}

/// A stored delivery as a replay or a recheck meets it.
package struct DeliveryCandidate: Sendable {
    /// With the event that it became.
    package var delivery: StoredDelivery
    package var hasBody: Bool
    /// As received, where they were kept.
    package var signatureHeaders: [(name: String, value: String)]?
    /// A state's word, `unread`, or `unassigned`.
    package var state: String
    package var environment: String
    package var app: String?
    /// Whether it is the first of its event's id: repeats are never offered again.
    package var isFirst: Bool
    /// Whose the event is now.
    package var customer: CustomerID?

    /// The event's id.
    package var event: EventID {
        Event.makeID(connector: delivery.connector, providerEventID: delivery.providerEventID)
    }
}

/// What is to be done with a candidate.
package enum ReplayJudgement: Sendable {
    /// Nothing, and nothing to tell.
    case pass
    case unable(BatchFinding)
    /// An input of its customer, or of whom `person` names where that is set.
    case offer(BatchFinding, to: NewOwner?)

    /// Whom a delivery belongs to by what it tells now.
    package struct NewOwner: Sendable {
        package var environment: String
        package var person: Event.Person
        package var occurredAt: Instant

        package init(environment: String, person: Event.Person, occurredAt: Instant) {
            self.environment = environment
            self.person = person
            self.occurredAt = occurredAt
        }
    }
}
