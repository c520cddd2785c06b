internal import JSON
internal import JourneyModel
internal import TimeZones

/// Turns items of a source's requests into events.
///
/// A source says what happened in the app. What happened to a subscription is the providers' to say: names
/// of the vocabulary are refused, but for `purchase.started`, which only the app knows.
struct AppEventReader {
    let source: Source
    /// When the request was read.
    let now: Instant
    /// Makes the id of an event that carries none: every call another one.
    let makeID: () -> String

    /// Bytes of an id or name.
    static let longestText = 512
    /// Bytes of one item's properties, as JSON.
    static let largestProperties = 65_536
    static let mostAliases = 50
    static let mostAttributes = 100

    // MARK: POST /v1/events

    func event(of json: JSONValue) throws(ItemProblem) -> Event {
        let fields = try ItemFields(
            json, known: ["event", "customer_id", "id", "occurred_at", "properties", "environment"])
        let name = try fields.requiredID("event")
        try checkName(name)
        return make(
            name: name, id: try fields.id("id"),
            person: Event.Person(id: try fields.requiredID("customer_id")),
            occurredAt: try fields.instant("occurred_at"),
            environment: try fields.environment() ?? source.environment,
            properties: try properties(fields))
    }

    // MARK: POST /event and /batch

    /// An item in the public SDK's form. It tells checkouts under names of its own, which become outcomes
    /// of the vocabulary that a client vouches for.
    func clientEvent(of json: JSONValue) throws(ItemProblem) -> Event {
        guard case .object(let object) = json else {
            throw ItemProblem(
                code: .notAnObject, pointer: "",
                message: "The item is \(json.kind); send a JSON object.")
        }
        let fields = ItemFields(object)
        let told = try fields.requiredID("event")
        let outcome = Self.checkouts[told]
        if outcome == nil { try checkName(told) }
        var properties = try properties(fields)
        for name in ["value", "entity_id"] where properties[name] == nil {
            if let value = fields.present(name) { properties[name] = value }
        }
        let own = try fields.requiredID("distinct_id")
        var anonymous = try fields.id("anon_distinct_id")
        if anonymous == nil { anonymous = try fields.id("$anon_distinct_id") }
        if anonymous == nil { anonymous = try ItemFields(properties).id("$anon_distinct_id") }
        var event = make(
            name: outcome ?? told, id: try fields.id("idempotency_key"),
            person: Event.Person(
                id: own, aliases: anonymous.map { $0 == own ? [] : [$0] } ?? []),
            occurredAt: try fields.instant("timestamp"), environment: source.environment,
            properties: properties)
        event.providerType = told
        return event
    }

    /// The SDK's checkout outcomes, as the vocabulary calls them; a restore that failed or found nothing
    /// stays an event of the app's own.
    static let checkouts = [
        "$purchase_completed": "purchase.completed", "$purchase_failed": "purchase.failed",
        "$purchase_cancelled": "purchase.cancelled", "$purchase_pending": "purchase.pending",
        "$restore_completed": "purchase.restored",
    ]

    // MARK: POST /v1/customers/{id}

    /// An update of what is known of a customer: an input like an event, so that it is decided in order.
    func update(of customer: String, _ json: JSONValue, id: String?) throws(ItemProblem) -> Event {
        let fields = try ItemFields(
            json, known: ["attributes", "unset", "aliases", "environment", "occurred_at"])
        guard !customer.isEmpty, customer.utf8.count <= Self.longestText else {
            throw ItemProblem(
                code: .invalid, pointer: "",
                message: "The customer's id in the path has 1 to \(Self.longestText) bytes.")
        }
        let aliases = try fields.texts("aliases", atMost: Self.mostAliases)
        let attributes = try CustomerAttributes.read(fields)
        guard !attributes.isEmpty || !aliases.isEmpty else {
            throw ItemProblem(
                code: .missing, pointer: "",
                message: "Nothing is to be changed; send \"attributes\", \"unset\" or \"aliases\".")
        }
        return make(
            name: "customer.updated", id: id,
            person: Event.Person(id: customer, aliases: aliases.filter { $0 != customer }),
            occurredAt: try fields.instant("occurred_at"),
            environment: try fields.environment() ?? source.environment,
            properties: JSONObject([("attributes", .object(attributes))]))
    }

    // MARK: Parts

    private func make(
        name: String, id: String?, person: Event.Person, occurredAt: Instant?,
        environment: String, properties: JSONObject
    ) -> Event {
        let id = id ?? makeID()
        // As a provider's: a time that is far ahead is not believed (S5).
        let isClamped = occurredAt.map { $0 > now + .seconds(86_400) } ?? false
        return Event(
            id: Event.makeID(connector: source.name, providerEventID: id), connector: source.name,
            providerEventID: id, providerType: name, name: name, trust: source.trust,
            person: person, occurredAt: isClamped ? now : occurredAt ?? now,
            isClamped: isClamped, receivedAt: now, environment: environment,
            properties: properties)
    }

    private func checkName(_ name: String) throws(ItemProblem) {
        guard name.utf8.count <= 128, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw ItemProblem(
                code: .invalid, pointer: "/event",
                message: "An event's name has at most 128 bytes and no control characters.")
        }
        let isOwn = source.trust == .source && name == "purchase.started"
        guard isOwn || !Self.isReserved(name) else {
            throw ItemProblem(
                code: .reservedName, pointer: "/event",
                message: "\(name) is told by providers or by the engine, not by a source; send an "
                    + "event of your own name.")
        }
    }

    /// Names that only providers and the engine tell.
    private static func isReserved(_ name: String) -> Bool {
        Vocabulary.owns(name) || name.hasPrefix("provider:") || name.hasPrefix("segment.")
    }

    private func properties(_ fields: ItemFields) throws(ItemProblem) -> JSONObject {
        let properties = try fields.members("properties")
        for name in ["meta", "raw"] where properties[name] != nil {
            throw ItemProblem(
                code: .invalid, pointer: "/properties/\(name)",
                message: "/event/\(name) has a meaning of its own; give the property another name.")
        }
        guard JSONValue.object(properties).bytes.count <= Self.largestProperties else {
            throw ItemProblem(
                code: .tooLong, pointer: "/properties",
                message: "The properties have more than \(Self.largestProperties) bytes as JSON.")
        }
        return properties
    }
}
