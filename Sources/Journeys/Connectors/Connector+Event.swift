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
            let body = DecodedBody(value, steps: provider.decoding)
            let replaced = replacements + body.replacements
            if replaced > 0 { draft.note("\(replaced) characters were replaced by U+FFFD") }
            for place in body.undecoded { draft.note("the text at \(place) could not be decoded") }
            draft.read(body.value)
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
        event.providerType = provider.type.firstPresent(in: body).flatMap(idText)
        if event.providerType == nil, !isHandshake(body) {
            return refuse(.noType, "no type stands where \(provider.title) puts it")
        }
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

    /// Whether a provider only asks if anybody is there; such a body may hold nothing at all.
    private func isHandshake(_ body: JSONValue) -> Bool {
        connector.provider.rules.lazy.compactMap { $0.outcome(for: body) }.first
            == "connector.handshake"
    }

    /// What is worth showing even if the rest cannot be read.
    private mutating func readSurroundings(_ body: JSONValue) {
        let (person, passedOver) = connector.person(in: body)
        event.person = person
        if passedOver > 0 {
            note("\(passedOver) customer ids past \(mostIDs) or \(longestText) bytes were left out")
        }
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
        var extra: [PropertyField] = []
        for rule in connector.provider.rules {
            guard let outcome = rule.outcome(for: body) else { continue }
            event.name = outcome
            extra = rule.properties
            break
        }
        for field in connector.provider.properties + extra {
            switch field.read(from: body) {
            case .absent: continue
            case .value(let value): event.properties[field.name] = value
            case .refused(let why): note("\(field.name) was left out: \(why)")
            }
        }
        readAttributes(body)
    }

    /// Customer attributes ride on the event as its properties `attributes` and `attribute_times`.
    private mutating func readAttributes(_ body: JSONValue) {
        let told = ToldAttributes(connector.provider.attributes, body: body)
        if !told.values.isEmpty { event.properties["attributes"] = .object(told.values) }
        if !told.times.isEmpty { event.properties["attribute_times"] = .object(told.times) }
        if told.passedOver > 0 {
            note("\(told.passedOver) attributes past \(mostAttributes) or of no use were left out")
        }
    }
}
