package import JSON
package import TimeZones

/// A verified, normalised fact about a customer.
package struct Event: Sendable, Hashable {
    /// Who vouches for an event.
    package enum Trust: String, Sendable, Hashable {
        /// A connector's authenticated webhook.
        case provider
        /// The app's own back end, by its token.
        case source
        /// An app with a public key: starts and moves runs, never converts one (S21).
        case client
        /// The engine itself.
        case engine
    }

    /// The ids a provider gave for one customer.
    package struct Person: Sendable, Hashable {
        /// The id to know the customer by; nil when the event carries none that is usable.
        package var id: String?
        package var aliases: [String]
        /// Whether ``id`` is one that a provider made up before the person was known.
        package var isAnonymous: Bool

        package init(id: String?, aliases: [String] = [], isAnonymous: Bool = false) {
            self.id = id
            self.aliases = aliases
            self.isAnonymous = isAnonymous
        }
    }

    package var id: EventID
    package var connector: String
    package var providerEventID: String
    /// The provider's own type word, such as `RENEWAL`.
    package var providerType: String?
    /// The neutral outcome, such as `subscription.renewed`, or the app's own event name.
    package var name: String
    package var trust: Trust
    package var person: Person
    /// The provider's own app id; keys nothing.
    package var providerApp: String?
    /// The provider's time; clamped to ``receivedAt`` when more than 24 h ahead of it (S5).
    package var occurredAt: Instant
    package var isClamped: Bool
    package var receivedAt: Instant
    package var environment: String
    /// What `/event/…` reads, without `raw`.
    package var properties: JSONObject
    /// The provider's object; `/event/raw` reads it in `where` and `unless` only. Not stored with runs.
    package var raw: JSONValue
    /// Why the event could not be read, for `connector.unreadable`; also notes such as replaced characters.
    package var notes: [String]
    /// How many engine-made events led to this one; 0 for what came from outside.
    package var depth: Int
    /// Version of the mapping that made it.
    package var mappingVersion: String
    /// Whether a later fact had already set a field of its subscription that this event sets (S5).
    package var isLate: Bool
    /// The outcome that the mapping told, where the subscription's state made another of it: a renewal
    /// that is a recovery answers to both names.
    package var mappedName: String?

    package init(
        id: EventID, connector: String, providerEventID: String, providerType: String?,
        name: String, trust: Trust, person: Person, providerApp: String? = nil,
        occurredAt: Instant, isClamped: Bool = false, receivedAt: Instant, environment: String,
        properties: JSONObject, raw: JSONValue = .null, notes: [String] = [], depth: Int = 0,
        mappingVersion: String = "", isLate: Bool = false, mappedName: String? = nil
    ) {
        self.id = id
        self.connector = connector
        self.providerEventID = providerEventID
        self.providerType = providerType
        self.name = name
        self.trust = trust
        self.person = person
        self.providerApp = providerApp
        self.occurredAt = occurredAt
        self.isClamped = isClamped
        self.receivedAt = receivedAt
        self.environment = environment
        self.properties = properties
        self.raw = raw
        self.notes = notes
        self.depth = depth
        self.mappingVersion = mappingVersion
        self.isLate = isLate
        self.mappedName = mappedName
    }
}

extension Event {
    /// The name of what stands for an event whose id is kept longer than its content.
    package static let forgottenName = "connector.forgotten"

    /// The id of the event that a connector's provider calls `providerEventID`.
    package static func makeID(connector: String, providerEventID: String) -> EventID {
        EventID("evt_" + derivedID("event", connector, providerEventID))
    }

    /// The event as its mapping told it, before the customer's state was known.
    package var asMapped: Event {
        var event = self
        event.name = mappedName ?? name
        event.mappedName = nil
        event.isLate = false
        // Which side of a transfer it is was not told by the provider.
        if name == "customer.transferred" { event.properties["role"] = nil }
        return event
    }

    /// What `/event` (or `/trigger`) is while this event is bound: its properties and `meta`.
    package var scope: JSONObject {
        var scope = properties
        scope["meta"] = .object(
            JSONObject([
                ("id", .string(id.text)),
                ("name", .string(name)),
                ("provider_type", providerType.map { .string($0) } ?? .null),
                ("connector", .string(connector)),
                ("app", providerApp.map { .string($0) } ?? .null),
                ("trust", .string(trust.rawValue)), ("late", .bool(isLate)),
                ("occurred_at", .string(occurredAt.description)),
                ("received_at", .string(receivedAt.description)),
                ("environment", .string(environment)),
            ]))
        return scope
    }

    /// Whether a workflow's event name means this event: its outcome, `provider:<connector>:<TYPE>`, or
    /// `subscription.renewed` for a renewal that the subscription's state made a recovery (S5).
    package func answers(to eventName: String) -> Bool {
        if eventName.hasSameBytes(as: name) { return true }
        if let mappedName, eventName.hasSameBytes(as: mappedName) { return true }
        guard eventName.hasPrefix("provider:"), let providerType else { return false }
        return eventName.hasSameBytes(as: "provider:\(connector):\(providerType)")
    }
}
