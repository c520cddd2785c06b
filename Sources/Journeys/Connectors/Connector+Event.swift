internal import JSON
package import JourneyModel
package import TimeZones

extension Connector {
    /// Why a delivery became `connector.unreadable`; the word stands in its property `reason`.
    package enum Unreadable: String, Sendable, Hashable, CaseIterable {
        case notOneJSONObject = "not_one_json_object"
        case tooDeep = "too_deep"
        case noObject = "no_object"
        case noType = "no_type"
        case impossibleTime = "impossible_time"
    }

    /// The event that a stored body tells; never fails, since what is stored must be shown.
    ///
    /// A body that the mapping cannot read becomes `connector.unreadable` with a `reason`, at the time it
    /// was received. A type that no rule knows becomes `connector.unknown` with whatever could be read.
    /// An event without a time, or with one over 24 h ahead, takes `receivedAt` and is marked (S5).
    /// A property that cannot be read is left out and noted.
    package func event(body: [UInt8], receivedAt: Instant, providerEventID: String) -> Event {
        var draft = Draft(
            connector: self, receivedAt: receivedAt, providerEventID: providerEventID)
        switch DeliveredBody(body) {
        case .object(let value, let replacements):
            if replacements > 0 { draft.note("\(replacements) characters were replaced by U+FFFD") }
            draft.read(value)
        case .tooDeep:
            draft.refuse(.tooDeep, "the body is nested more than 64 levels deep")
        case .refused(let what):
            draft.refuse(.notOneJSONObject, what)
        }
        return draft.event
    }
}

/// An event while it is being read.
private struct Draft {
    let connector: Connector
    private(set) var event: Event

    init(connector: Connector, receivedAt: Instant, providerEventID: String) {
        self.connector = connector
        event = Event(
            id: Event.makeID(connector: connector.name, providerEventID: providerEventID),
            connector: connector.name, providerEventID: providerEventID, providerType: nil,
            name: "connector.unknown", trust: .provider, person: Event.Person(id: nil),
            occurredAt: receivedAt, receivedAt: receivedAt,
            environment: connector.unknownEnvironment, properties: JSONObject(),
            mappingVersion: connector.provider.mappingVersion)
    }

    mutating func note(_ text: String) { event.notes.append(text) }

    mutating func refuse(_ reason: Connector.Unreadable, _ text: String) {
        event.name = "connector.unreadable"
        event.properties = JSONObject([("reason", .string(reason.rawValue))])
        note(text)
    }

    mutating func read(_ body: JSONValue) {
        let provider = connector.provider
        readSurroundings(body)
        guard let object = provider.object.resolve(in: body), case .object = object else {
            keep(body)
            return refuse(.noObject, "nothing stands at \(provider.object) that is an object")
        }
        keep(object)
        guard let type = provider.type.firstPresent(in: body).flatMap(idText) else {
            return refuse(.noType, "no type stands at \(provider.type[0])")
        }
        event.providerType = type
        switch connector.statedTime(in: body) {
        case .at(let instant): take(instant)
        case .absent:
            event.isClamped = true
            note(EventTime.missing)
        case .impossible:
            return refuse(
                .impossibleTime, "the time at \(provider.time[0].pointer) is none from 1970 to 9999"
            )
        }
        readMapped(body)
    }

    /// What is worth showing even if the rest cannot be read.
    private mutating func readSurroundings(_ body: JSONValue) {
        event.person = connector.person(in: body)
        let environment = connector.environment(in: body)
        event.environment = environment.name
        if let word = environment.unknownWord { note("the environment \(word) is not known") }
        event.providerApp = connector.provider.app.firstPresent(in: body).flatMap(idText)
    }

    private mutating func keep(_ object: JSONValue) {
        var changes = 0
        event.raw = object.storable(changes: &changes)
        if changes > 0 { note("\(changes) numbers past PostgreSQL's range are kept as text") }
    }

    private mutating func take(_ instant: Instant) {
        if instant > event.receivedAt + .seconds(86_400) {
            event.isClamped = true
            note(EventTime.clamped(from: instant))
        } else {
            event.occurredAt = instant
        }
    }

    private mutating func readMapped(_ body: JSONValue) {
        let rule = connector.provider.rules.first { $0.clauses.hold(in: body) }
        event.name = rule?.outcome ?? "connector.unknown"
        for field in connector.provider.properties + (rule?.properties ?? []) {
            switch field.read(from: body) {
            case .absent: continue
            case .value(let value): event.properties[field.name] = value
            case .refused(let why): note("\(field.name) was left out: \(why)")
            }
        }
    }
}
