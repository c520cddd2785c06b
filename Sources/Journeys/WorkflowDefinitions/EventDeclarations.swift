internal import JSON
package import JourneyModel

/// The app's own events with their property types, as `Workflows/events.json` declares them.
package struct EventDeclarations: Sendable, Hashable {
    /// Property types by name, by event.
    package var events: [String: [String: Vocabulary.PropertyType]]

    package init(events: [String: [String: Vocabulary.PropertyType]] = [:]) {
        self.events = events
    }

    /// What reading the declarations gave.
    package struct Outcome: Sendable, Hashable {
        /// What could be read; without errors, all of it.
        package var declarations: EventDeclarations
        package var diagnostics: [Diagnostic]

        package init(declarations: EventDeclarations, diagnostics: [Diagnostic]) {
            self.declarations = declarations
            self.diagnostics = diagnostics
        }
    }

    /// Reads `{"dsl": 1, "events": {"checkout.opened": {"properties": {"product_id": "string"}}}}`.
    ///
    /// - Parameter file: the file's name for the diagnostics.
    package static func read(_ bytes: [UInt8], file: String) -> Outcome {
        let source = DefinitionSource(bytes, file: file)
        var reader = DefinitionReader(context: nil)
        reader.problems = source.problems
        let declarations = source.root.map { reader.declarations($0) }
        return Outcome(
            declarations: declarations ?? EventDeclarations(),
            diagnostics: source.diagnostics(reader.problems))
    }

    /// Whether an outcome is stored and shown only.
    static func reachesNoRun(_ name: String) -> Bool {
        name == "connector.test" || name == "connector.handshake"
    }

    /// What is wrong with an event's name, or nil for one that may come.
    func complaint(
        about name: String
    ) -> (sentence: String, code: Diagnostic.Code, fix: String?)? {
        if name.hasPrefix("provider:") {
            if providerEvent(name) != nil { return nil }
            return ("\"\(name)\" is not of the form provider:<connector>:<TYPE>.", .form, nil)
        }
        if Self.reachesNoRun(name) {
            return ("The event \"\(name)\" is stored and shown and reaches no run.", .form, nil)
        }
        if Vocabulary.outcome(named: name) != nil || events[name] != nil { return nil }
        let known = Vocabulary.outcomes.map(\.name) + events.keys.sorted()
        let fix = Spelling.nearestWord(to: name, among: known)
        if Vocabulary.owns(name) {
            return (
                "The vocabulary has no event \"\(name)\"; its names are listed by "
                    + "\"journey-replay vocabulary\".", .form, fix
            )
        }
        return (
            "The event \"\(name)\" is declared nowhere; add it to Workflows/events.json with its "
                + "properties.", isEventName(name) ? .event : .form, fix
        )
    }

    /// The properties of an event; nil for a name that is not known.
    func properties(of name: String) -> [String: Vocabulary.PropertyType]? {
        if let declared = events[name] { return declared }
        guard Vocabulary.outcome(named: name) != nil || providerEvent(name) != nil else {
            return nil
        }
        return Dictionary(
            Vocabulary.properties.map { ($0.name, $0.type) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension DefinitionReader {
    private static let propertyTypes = [
        "string", "number", "boolean", "instant", "money", "array", "object",
    ]

    mutating func declarations(_ node: Node) -> EventDeclarations {
        let what = "the file of events"
        var declared = EventDeclarations()
        guard let fields = fields(node, what, keys: ["$schema", "dsl", "events"]) else {
            return declared
        }
        if let dsl = required("dsl", in: fields, what), dsl.value.integer != 1 {
            complain(dsl, "This version reads \"dsl\": 1 only.")
        }
        guard let events = required("events", in: fields, what) else { return declared }
        guard let object = events.value.object else {
            complain(events, "The events are an object by name, not \(events.value.kind).")
            return declared
        }
        for member in object {
            let place = Node(value: member.value, pointer: events.pointer.appending(member.key))
            if Vocabulary.owns(member.key) {
                complain(
                    place,
                    "\"\(member.key)\" lies in the vocabulary's namespaces; give the app's own event "
                        + "another first word.")
            } else if !isEventName(member.key) {
                complain(
                    place,
                    "\"\(member.key)\" is not an event name; write words of lowercase letters, "
                        + "digits, hyphens and underscores with dots between.")
            }
            declared.events[member.key] = properties(place)
        }
        return declared
    }

    private mutating func properties(_ node: Node) -> [String: Vocabulary.PropertyType] {
        guard let fields = fields(node, "an event's declaration", keys: ["properties"]),
            let inner = fields["properties"]
        else { return [:] }
        guard let object = inner.value.object else {
            complain(inner, "The properties are an object of types by name.")
            return [:]
        }
        var types: [String: Vocabulary.PropertyType] = [:]
        for member in object {
            let place = Node(value: member.value, pointer: inner.pointer.appending(member.key))
            if !isPropertyName(member.key) || ["meta", "raw"].contains(member.key) {
                complain(
                    place,
                    "\"\(member.key)\" is not a property's name; write letters, digits and "
                        + "underscores, and neither meta nor raw.")
            }
            guard let text = member.value.string,
                let type = Vocabulary.PropertyType(rawValue: text)
            else {
                complain(
                    place, "A property's type is \(alternatives(Self.propertyTypes)).",
                    fix: member.value.string.flatMap {
                        Spelling.nearestWord(to: $0, among: Self.propertyTypes)
                    })
                continue
            }
            types[member.key] = type
        }
        return types
    }
}
