internal import JSON
package import JourneyModel

extension Connector {
    /// Whether a repeat tells the same event, whatever its bytes (S16): outcome, type, ids, the provider's
    /// time, environment and properties; `raw` is left out. What cannot be read or is not known has no
    /// mapped properties to speak for it, so there `raw` counts too.
    package static func sameEvent(_ first: Event, _ second: Event) -> Bool {
        guard first.connector == second.connector,
            first.providerEventID.hasSameBytes(as: second.providerEventID),
            first.name == second.name, first.providerType == second.providerType,
            first.providerApp == second.providerApp, first.environment == second.environment,
            samePerson(first.person, second.person), first.properties == second.properties
        else { return false }
        switch first.name {
        case "connector.unreadable": return first.raw == second.raw
        case "connector.unknown":
            guard first.raw == second.raw else { return false }
            return EventTime.stated(by: first) == EventTime.stated(by: second)
        case _: return EventTime.stated(by: first) == EventTime.stated(by: second)
        }
    }

    /// Ids compare by their bytes, not by what Unicode calls equal.
    private static func bytes(_ id: String?) -> [UInt8]? { id.map { Array($0.utf8) } }

    /// Aliases are a set: providers list them in any order.
    private static func samePerson(_ first: Event.Person, _ second: Event.Person) -> Bool {
        bytes(first.id) == bytes(second.id) && first.isAnonymous == second.isAnonymous
            && Set(first.aliases.map(bytes)) == Set(second.aliases.map(bytes))
    }
}
