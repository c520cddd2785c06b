package import JSON
package import JourneyModel
package import TimeZones

/// What a decision may read besides the run and its input: loaded before the engine runs, and fixed.
package struct Facts: Sendable, Hashable {
    /// `/customer`.
    package var attributes: JSONObject
    /// What `/subscription` shows, for each subscription of the customer.
    package var subscriptions: [SubscriptionID: JSONObject]
    /// `/features`, by feature id; one that is absent is unknown.
    package var features: [String: FeatureFacts]
    /// Membership by segment id; one that is absent is unknown.
    package var segments: [String: SegmentFacts]
    /// The customer's variant by experiment id, once assigned.
    package var assignments: [String: String]
    /// The customer's events by ordinal, as far back as any live run's waits and any question of the
    /// definitions may look; oldest first.
    package var events: [LoggedEvent]
    /// From here on ``events`` is complete by `occurred_at`: a question that reaches further back is
    /// unknown.
    package var eventsKnownSince: Instant
    /// The rules of every zone, with their release.
    package var zones: TimeZoneSet
    /// The configuration's zone; nil for none.
    package var defaultZone: String?
    /// The database's time of the turn.
    package var now: Instant
    /// Set to repeat a decision from its history: everything is then answered from these reads, and
    /// from nothing else here but ``now``.
    package var recorded: RecordedReads?
    /// `/features` as recorded, which is not whole answers.
    var recordedFeatures: JSONObject?

    package init(
        attributes: JSONObject, subscriptions: [SubscriptionID: JSONObject] = [:],
        features: [String: FeatureFacts] = [:], segments: [String: SegmentFacts] = [:],
        assignments: [String: String] = [:], events: [LoggedEvent] = [],
        eventsKnownSince: Instant = .earliest, zones: TimeZoneSet = .utcOnly,
        defaultZone: String? = nil, now: Instant, recorded: RecordedReads? = nil
    ) {
        self.attributes = attributes
        self.subscriptions = subscriptions
        self.features = features
        self.segments = segments
        self.assignments = assignments
        self.events = events
        self.eventsKnownSince = eventsKnownSince
        self.zones = zones
        self.defaultZone = defaultZone
        self.now = now
        self.recorded = recorded
    }
}

/// An event with its place among the customer's inputs.
package struct LoggedEvent: Sendable, Hashable {
    /// Counted up by one for each input a turn takes of this customer.
    package var ordinal: Int64
    package var recordedAt: Instant
    package var event: Event

    package init(ordinal: Int64, recordedAt: Instant, event: Event) {
        self.ordinal = ordinal
        self.recordedAt = recordedAt
        self.event = event
    }
}

/// Which subscription: a connector's, by its key.
package struct SubscriptionID: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var connector: String
    package var key: String

    package init(connector: String, key: String) {
        self.connector = connector
        self.key = key
    }

    /// The subscription that an event speaks of; nil when it carries no key.
    package init?(scope: JSONObject) {
        guard let key = scope["subscription_key"]?.string, !key.isEmpty,
            let connector = scope["meta"]?["connector"]?.string
        else { return nil }
        self.init(connector: connector, key: key)
    }

    /// `revenuecat/1000000123`.
    package var description: String { connector + "/" + key }

    package static func < (left: Self, right: Self) -> Bool {
        (left.connector, left.key) < (right.connector, right.key)
    }
}

/// What the feature house says of one feature for one customer; read only.
package struct FeatureAnswer: Sendable, Hashable {
    package var allowed: Bool
    package var unlimited: Bool
    /// Nil for a feature that is not counted.
    package var balance: JSONNumber?
    /// The feature's kind, as the catalog words it.
    package var type: String
    /// When the answer changes next without anybody's doing, as by a grant's end; nil for never.
    package var changesAt: Instant?

    package init(
        allowed: Bool, unlimited: Bool, balance: JSONNumber? = nil, type: String,
        changesAt: Instant? = nil
    ) {
        self.allowed = allowed
        self.unlimited = unlimited
        self.balance = balance
        self.type = type
        self.changesAt = changesAt
    }

    /// What is not held, as by an entity without an allowance.
    package static let denied = FeatureAnswer(allowed: false, unlimited: false, type: "boolean")

    /// `{"allowed", "unlimited", "balance"?, "type"}`, as `/features/<id>` shows it.
    package var json: JSONObject {
        var json = JSONObject([
            ("allowed", .bool(allowed)), ("unlimited", .bool(unlimited)),
            ("type", .string(type)),
        ])
        json["balance"] = balance.map { .number($0) }
        return json
    }
}

/// One feature: the customer's own answer and those of their entities.
package struct FeatureFacts: Sendable, Hashable {
    /// Nil when only entities have answers.
    package var own: FeatureAnswer?
    package var entities: [String: FeatureAnswer]

    package init(own: FeatureAnswer?, entities: [String: FeatureAnswer] = [:]) {
        self.own = own
        self.entities = entities
    }
}

/// One customer's place in one segment.
package struct SegmentFacts: Sendable, Hashable {
    package var isMember: Bool
    /// When they last came in, for members.
    package var enteredAt: Instant?

    package init(isMember: Bool, enteredAt: Instant? = nil) {
        self.isMember = isMember
        self.enteredAt = enteredAt
    }
}
