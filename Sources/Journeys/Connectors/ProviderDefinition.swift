package import JSON
internal import JourneyModel
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
    /// Texts that hold JSON themselves, in the order in which they are opened.
    let decoding: [DecodingStep]
    let eventID: [TextPlace]
    let type: [TextPlace]
    let time: [TimeField]
    let environment: [JSONPointer]
    /// The provider's word to ours; a boolean's words are `true` and `false`.
    let environments: [String: String]
    let app: [JSONPointer]
    let customer: [CustomerField]
    /// Ids that begin so were made up by the provider.
    let anonymousPrefixes: [String]
    /// Where ids stand that the provider always makes up; they are read besides the others.
    let anonymousIDs: [JSONPointer]
    let properties: [PropertyField]
    let attributes: AttributeMapping
    let rules: [MappingRule]

    /// The outcomes that the rules can give by themselves, each once, in the order of the rules.
    package var outcomes: [String] {
        var seen: Set<String> = []
        return rules.compactMap { rule in
            guard case .named(let name) = rule.outcome else { return nil }
            return seen.insert(name).inserted ? name : nil
        }
    }
}

/// A place that may hold the event's time.
struct TimeField: Sendable, Hashable {
    let pointer: JSONPointer
    let units: [TimeUnit]
}

/// Ids of the customer: the first field whose clauses hold and that yields any id is taken.
struct CustomerField: Sendable, Hashable {
    let clauses: [Clause]
    /// Each a text, a number or a list of them; the order is that of preference.
    let ids: [JSONPointer]
}

/// One line of the mapping; the first whose clauses all hold tells the outcome.
struct MappingRule: Sendable, Hashable {
    enum Outcome: Sendable, Hashable {
        case named(String)
        /// The body itself names an outcome there; the line holds only where the vocabulary has it.
        case told(JSONPointer)
    }

    let clauses: [Clause]
    let outcome: Outcome
    /// Properties that this outcome has besides the definition's.
    let properties: [PropertyField]

    /// The outcome's name when the line holds.
    func outcome(for body: JSONValue) -> String? {
        guard clauses.hold(in: body) else { return nil }
        switch outcome {
        case .named(let name): return name
        case .told(let pointer):
            guard let name = pointer.resolve(in: body)?.string, Self.mayBeTold(name) else {
                return nil
            }
            return name
        }
    }

    /// What the product says of a delivery itself is no sender's to say.
    private static func mayBeTold(_ name: String) -> Bool {
        Vocabulary.outcome(named: name) != nil
            && (!name.hasPrefix("connector.") || name == "connector.test")
    }
}
