package import JSON
internal import TimeZones

/// What is known about one provider's webhooks: where things stand in a body, and which outcome it tells.
///
/// A value read from JSON (`Providers/*.json`, or a file that a configuration names); no provider has
/// code of its own besides its signature.
package struct ProviderDefinition: Sendable, Hashable {
    /// `[a-z0-9][a-z0-9-]{0,62}`, as a connector's `provider` names it.
    package let name: String
    /// The name for people.
    package let title: String
    /// The definition's number and the beginning of its digest: kept with every event it maps.
    package let mappingVersion: String
    /// The schemes a connector of this provider may list.
    package let schemes: [AuthenticationScheme]
    /// The scheme to suggest first.
    package let usualScheme: AuthenticationScheme
    /// The definition as written, for `providers --print`.
    package let source: JSONValue

    /// The provider's object, which becomes `raw`.
    let object: JSONPointer
    let eventID: [JSONPointer]
    let type: [JSONPointer]
    let time: [TimeField]
    let environment: [JSONPointer]
    /// The provider's word to ours.
    let environments: [String: String]
    let app: [JSONPointer]
    let customer: [CustomerField]
    let anonymousPrefixes: [String]
    let properties: [PropertyField]
    let rules: [MappingRule]

    /// The outcomes that the rules can give, each once, in the order of the rules.
    package var outcomes: [String] {
        var seen: Set<String> = []
        return rules.map(\.outcome).filter { seen.insert($0).inserted }
    }
}

/// A place that may hold the event's time.
struct TimeField: Sendable, Hashable {
    let pointer: JSONPointer
    let unit: TimeUnit
}

/// Ids of the customer: the first field whose clauses hold and that yields any id is taken.
struct CustomerField: Sendable, Hashable {
    let clauses: [Clause]
    /// Each a text, a number or a list of them; the order is that of preference.
    let ids: [JSONPointer]
}

/// One property of the event.
struct PropertyField: Sendable, Hashable {
    enum Reading: Sendable, Hashable {
        case text([JSONPointer])
        /// Text with ASCII letters lowered: the word of an open set.
        case word([JSONPointer])
        case boolean([JSONPointer])
        /// A list of ids.
        case texts([JSONPointer])
        case instant([JSONPointer], TimeUnit)
        case money(amount: JSONPointer, currency: Currency)
    }

    enum Currency: Sendable, Hashable {
        case named(JSONPointer)
        case always(String)
    }

    let name: String
    let reading: Reading
}

/// One line of the mapping; the first whose clauses all hold tells the outcome.
struct MappingRule: Sendable, Hashable {
    let clauses: [Clause]
    let outcome: String
    /// Properties that this outcome has besides the definition's.
    let properties: [PropertyField]
}
