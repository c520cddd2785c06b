internal import Crypto
package import JSON
package import JourneyModel
package import TimeZones

/// What the request path needs of a body: enough to store and to find the customer.
package struct Envelope: Sendable, Hashable {
    /// The provider's id of the event; nil when there is none, and the body's SHA-256 stands for it.
    package var eventID: String?
    package var person: Event.Person
    /// The provider's time as sent; nil when there is none or it is impossible.
    package var occurredAt: Instant?
    package var environment: String
    /// The connector's `app`, never the provider's.
    package var app: String?
}

extension Connector {
    /// Reads a few places of a body; never fails.
    package func envelope(of body: JSONValue) -> Envelope {
        let body = DecodedBody(body, steps: provider.decoding).value
        return Envelope(
            eventID: eventID(in: body), person: person(in: body).person,
            occurredAt: statedTime(in: body).instant, environment: environment(in: body).name,
            app: app)
    }

    /// The id under which a delivery is deduplicated (S16): the provider's, else the body's SHA-256.
    package static func deduplicationID(_ envelope: Envelope?, body: [UInt8]) -> String {
        envelope?.eventID ?? SHA256.hex(body)
    }

    private func eventID(in body: JSONValue) -> String? {
        guard let value = provider.eventID.firstPresent(in: body) else { return nil }
        if let id = idText(value) { return id }
        // Too long for an index, but still the provider's name for this event: its digest is as good.
        switch value {
        case .string(let text): return "sha256-" + SHA256.hex(text)
        case .number(let number): return "sha256-" + SHA256.hex(number.literal)
        case .null, .bool, .array, .object: return nil
        }
    }

    /// The person of a decoded body; the first id that is not made up by the provider is the person's;
    /// without one, the first. `passedOver` counts ids past the bound, and those no index could hold.
    func person(in body: JSONValue) -> (person: Event.Person, passedOver: Int) {
        var ids: [String] = []
        var passedOver = 0
        func add(_ value: JSONValue) {
            guard !value.isAbsent else { return }
            guard let id = idText(value) else {
                if value.string != nil || value.number != nil { passedOver += 1 }
                return
            }
            if ids.contains(where: { $0.hasSameBytes(as: id) }) { return }
            if ids.count < mostIDs { ids.append(id) } else { passedOver += 1 }
        }
        if let own = identity?.resolve(in: body) { add(own) }
        for field in provider.customer where field.clauses.hold(in: body) {
            let before = ids.count
            for pointer in field.ids {
                guard let found = pointer.resolve(in: body) else { continue }
                if case .array(let items) = found { items.forEach(add) } else { add(found) }
            }
            if ids.count > before { break }
        }
        let named = ids.count
        for pointer in provider.anonymousIDs { pointer.resolve(in: body).map(add) }
        let known = ids[..<named].firstIndex { id in
            !provider.anonymousPrefixes.contains { id.utf8.starts(with: $0.utf8) }
        }
        guard !ids.isEmpty else { return (Event.Person(id: nil), passedOver) }
        let id = ids.remove(at: known ?? 0)
        return (Event.Person(id: id, aliases: ids, isAnonymous: known == nil), passedOver)
    }

    /// The environment, and the provider's word when it is one that the definition does not know.
    func environment(in body: JSONValue) -> (name: String, unknownWord: String?) {
        guard let word = provider.environment.firstPresent(in: body) else {
            return (unknownEnvironment, nil)
        }
        let text = word.string ?? word.bool.map { $0 ? "true" : "false" }
        if let text, let name = provider.environments[text] { return (name, nil) }
        return (unknownEnvironment, idText(word) ?? word.kind)
    }

    enum StatedTime {
        case absent
        case at(Instant)
        case impossible

        var instant: Instant? { if case .at(let instant) = self { instant } else { nil } }
    }

    /// The provider's time; the first place that holds anything decides.
    func statedTime(in body: JSONValue) -> StatedTime {
        var decisive: JSONPointer?
        for field in provider.time where decisive == nil || field.pointer == decisive {
            guard let value = field.pointer.resolve(in: body), !value.isAbsent else { continue }
            if let instant = field.units.instant(value) { return .at(instant) }
            decisive = field.pointer
        }
        return decisive == nil ? .absent : .impossible
    }
}
