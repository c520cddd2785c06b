internal import Crypto
internal import JSON
internal import JourneyModel

extension ProviderDefinition {
    /// Reads a definition; nothing doubtful passes, unknown keys neither.
    ///
    /// One with `"extends": "NAME"` is laid over the definition of that name: its rules come first, its
    /// members of `properties`, `attributes` and `exponents` are added or take the place of those of the
    /// same name (null removes one), and any other key takes the place of the whole.
    ///
    /// - Parameter base: finds the definition that is extended.
    /// - Throws: ``ProviderDefinitionError`` with every problem and its place.
    package init(
        parsing text: [UInt8],
        extending base: (String) -> ProviderDefinition? = { .shipped(named: $0) }
    ) throws(ProviderDefinitionError) {
        var source: JSONValue
        do throws(JSONError) {
            source = try JSONParser.parse(text)
        } catch {
            throw ProviderDefinitionError(
                problems: [.init(pointer: JSONPointer(), message: error.description)])
        }
        var reader = DefinitionReader()
        if let extended = source["extends"] {
            let place = JSONPointer(tokens: ["extends"])
            if let found = extended.string.flatMap(base) {
                source = Self.laid(source, over: found.source)
            } else {
                reader.refuse(
                    place, "must be the name of a provider; journey-worker providers lists them")
            }
        }
        let definition = Self(source, reader: &reader)
        guard reader.problems.isEmpty else {
            throw ProviderDefinitionError(problems: reader.problems)
        }
        self = definition
    }

    private static func laid(_ source: JSONValue, over base: JSONValue) -> JSONValue {
        var result = base.object ?? JSONObject()
        for (key, value) in source.object ?? JSONObject() where key != "extends" {
            switch key {
            case "rules": result[key] = .array((value.array ?? [value]) + (base[key]?.array ?? []))
            case "properties", "attributes", "exponents":
                var members = base[key]?.object ?? JSONObject()
                guard let changes = value.object else {
                    result[key] = value
                    continue
                }
                for (name, member) in changes {
                    // A null literal would be a JSON null here.
                    let kept: JSONValue? = member.isNull ? .none : .some(member)
                    members[name] = kept
                }
                result[key] = .object(members)
            case _: result[key] = value
            }
        }
        return .object(result)
    }

    private static let keys = [
        "provider", "title", "about", "version", "authenticate", "decode", "object", "id", "type",
        "time", "environment", "app", "customer", "properties", "attributes", "exponents", "rules",
    ]

    private init(_ source: JSONValue, reader: inout DefinitionReader) {
        let top = JSONPointer()
        let root = reader.object(source, top, keys: Self.keys + ["extends"])
        name = Self.name(root["provider"], top.appending("provider"), &reader)
        title = reader.text(root["title"], top.appending("title"))
        if let about = root["about"] { _ = reader.text(about, top.appending("about")) }
        let number = root["version"]?.integer ?? 0
        if number < 1 { reader.refuse(top.appending("version"), "must be a whole number from 1") }
        mappingVersion = "\(number):" + SHA256.hex(source.canonicalBytes).prefix(12)
        (schemes, usualScheme) = Self.schemes(root["authenticate"], &reader)
        decoding = Self.decoding(root["decode"], &reader)
        // The whole body is written as the empty pointer.
        object =
            root["object"]?.string == ""
            ? JSONPointer() : reader.pointer(root["object"], top.appending("object"))
        eventID = root["id"].map { reader.textPlaces($0, top.appending("id")) } ?? []
        type = reader.textPlaces(root["type"], top.appending("type"))
        time = reader.list(root["time"], top.appending("time")).map { item, path in
            let field = reader.object(item, path, keys: ["at", "as"])
            return TimeField(
                pointer: reader.pointer(field["at"], path.appending("at")),
                units: reader.timeUnits(field["as"], path.appending("as")))
        }
        (environment, environments) = Self.environment(root["environment"], &reader)
        app = root["app"].map { reader.pointers($0, top.appending("app")) } ?? []
        (customer, anonymousPrefixes, anonymousIDs) = Self.customer(root["customer"], &reader)
        let exponents = Self.exponents(root["exponents"], &reader)
        properties = Self.properties(
            root["properties"], top.appending("properties"), exponents, &reader)
        attributes = AttributeMapping(root["attributes"], top.appending("attributes"), &reader)
        rules = reader.list(root["rules"], top.appending("rules")).map { item, path in
            Self.rule(item, path, exponents, &reader)
        }
        self.source = source
    }

    private static func decoding(
        _ value: JSONValue?, _ reader: inout DefinitionReader
    ) -> [DecodingStep] {
        guard let value else { return [] }
        let path = JSONPointer(tokens: ["decode"])
        let steps = reader.list(value, path)
        if steps.count > 16 { reader.refuse(path, "must hold 16 steps at most") }
        return steps.compactMap { item, place in
            let step = reader.object(item, place, keys: ["at", "as"])
            let form = reader.word(step["as"], place.appending("as"), of: DecodingStep.Form.self)
            let pointer = reader.pointer(step["at"], place.appending("at"))
            return form.map { DecodingStep(pointer: pointer, form: $0) }
        }
    }

    private static func exponents(
        _ value: JSONValue?, _ reader: inout DefinitionReader
    ) -> [String: Int] {
        guard let value else { return [:] }
        let path = JSONPointer(tokens: ["exponents"])
        guard let object = value.object else {
            reader.refuse(path, "must be an object from currencies to their decimal places")
            return [:]
        }
        var exponents: [String: Int] = [:]
        for (code, places) in object {
            if let number = places.integer, (0...6).contains(number),
                CurrencyExponents.exponent(of: code) != nil
            {
                exponents[code] = Int(number)
            } else {
                reader.refuse(
                    path.appending(code), "must be a code such as EUR with 0 to 6 decimal places")
            }
        }
        return exponents
    }

    private static func name(
        _ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> String {
        let name = reader.text(value, path)
        if !name.isEmpty, !isPlainName(name) {
            reader.refuse(path, "must be lower-case letters, digits and hyphens, 63 at most")
        }
        return name
    }

    private static func schemes(
        _ value: JSONValue?, _ reader: inout DefinitionReader
    ) -> ([AuthenticationScheme], AuthenticationScheme) {
        let path = JSONPointer(tokens: ["authenticate"])
        let object = reader.object(value, path, keys: ["schemes", "usual"])
        let schemes = reader.list(object["schemes"], path.appending("schemes")).compactMap {
            reader.word($0, $1, of: AuthenticationScheme.self)
        }
        let usual = reader.word(
            object["usual"], path.appending("usual"), of: AuthenticationScheme.self)
        if let usual, !schemes.contains(usual) {
            reader.refuse(path.appending("usual"), "must be one of the schemes above it")
        }
        return (schemes, usual ?? .none)
    }

    private static func environment(
        _ value: JSONValue?, _ reader: inout DefinitionReader
    ) -> ([JSONPointer], [String: String]) {
        // Some providers name none: then the connector's unknown_environment stands for all.
        guard let value else { return ([], [:]) }
        let path = JSONPointer(tokens: ["environment"])
        let object = reader.object(value, path, keys: ["at", "values"])
        var names: [String: String] = [:]
        let values = path.appending("values")
        if let given = object["values"]?.object {
            for (word, name) in given {
                names[word] = reader.text(name, values.appending(word))
            }
        } else {
            reader.refuse(values, "must be an object from the provider's words to ours")
        }
        return (reader.pointers(object["at"], path.appending("at")), names)
    }

    private static func customer(
        _ value: JSONValue?, _ reader: inout DefinitionReader
    ) -> ([CustomerField], [String], [JSONPointer]) {
        let path = JSONPointer(tokens: ["customer"])
        let object = reader.object(value, path, keys: ["ids", "anonymous_prefixes", "anonymous"])
        let fields = reader.list(object["ids"], path.appending("ids")).map { item, place in
            let field = reader.object(item, place, keys: ["when", "at"])
            let clauses = field["when"].map { reader.clauses($0, place.appending("when")) } ?? []
            return CustomerField(
                clauses: clauses, ids: reader.pointers(field["at"], place.appending("at")))
        }
        let prefixes = object["anonymous_prefixes"].map { value in
            reader.list(value, path.appending("anonymous_prefixes")).map { reader.text($0, $1) }
        }
        let anonymous = object["anonymous"].map {
            reader.pointers($0, path.appending("anonymous"))
        }
        return (fields, prefixes ?? [], anonymous ?? [])
    }

    private static func rule(
        _ value: JSONValue, _ path: JSONPointer, _ exponents: [String: Int],
        _ reader: inout DefinitionReader
    ) -> MappingRule {
        let object = reader.object(value, path, keys: ["when", "outcome", "properties"])
        let extra = object["properties"].map {
            properties($0, path.appending("properties"), exponents, &reader)
        }
        return MappingRule(
            clauses: reader.clauses(object["when"], path.appending("when")),
            outcome: outcome(object["outcome"], path.appending("outcome"), &reader),
            properties: extra ?? [])
    }

    private static func outcome(
        _ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> MappingRule.Outcome {
        if value?.object != nil {
            let object = reader.object(value, path, keys: ["at"])
            return .told(reader.pointer(object["at"], path.appending("at")))
        }
        let outcome = reader.text(value, path)
        if !outcome.isEmpty, Vocabulary.outcome(named: outcome) == nil {
            let known = Vocabulary.outcomes.map(\.name)
            reader.refuse(
                path,
                "\"\(outcome.prefix(64))\" is no outcome; write one that "
                    + "journey-replay vocabulary lists"
                    + Spelling.ending(for: outcome, among: known))
        }
        return .named(outcome)
    }

    private static func properties(
        _ value: JSONValue?, _ path: JSONPointer, _ exponents: [String: Int],
        _ reader: inout DefinitionReader
    ) -> [PropertyField] {
        guard let object = value?.object else {
            reader.refuse(path, value == nil ? "is missing" : "must be an object")
            return []
        }
        return object.compactMap { name, field in
            let place = path.appending(name)
            if Self.reserved.contains(name) {
                reader.refuse(place, "is a name that the product fills itself; choose another")
            }
            return PropertyField(name: name, field, place, exponents, &reader)
        }
    }

    private static let reserved = ["meta", "raw", "role", "attributes", "attribute_times"]
}

/// Whether a text is `[a-z0-9][a-z0-9-]{0,62}`.
func isPlainName(_ text: String, alsoUnderscore: Bool = false) -> Bool {
    let bytes = Array(text.utf8)
    guard (1...63).contains(bytes.count), bytes[0] != UInt8(ascii: "-"), bytes[0] != 0x5f else {
        return false
    }
    return bytes.allSatisfy {
        ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 48 && $0 <= 57) || $0 == UInt8(ascii: "-")
            || (alsoUnderscore && $0 == 0x5f)
    }
}
