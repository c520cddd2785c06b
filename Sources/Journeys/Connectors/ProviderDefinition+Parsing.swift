internal import Crypto
internal import JSON
internal import JourneyModel

extension ProviderDefinition {
    /// Reads a definition; nothing doubtful passes, unknown keys neither.
    ///
    /// - Throws: ``ProviderDefinitionError`` with every problem and its place.
    package init(parsing text: [UInt8]) throws(ProviderDefinitionError) {
        let source: JSONValue
        do throws(JSONError) {
            source = try JSONParser.parse(text)
        } catch {
            throw ProviderDefinitionError(
                problems: [.init(pointer: JSONPointer(), message: error.description)])
        }
        var reader = DefinitionReader()
        let definition = Self(source, reader: &reader)
        guard reader.problems.isEmpty else {
            throw ProviderDefinitionError(problems: reader.problems)
        }
        self = definition
    }

    private init(_ source: JSONValue, reader: inout DefinitionReader) {
        let top = JSONPointer()
        let root = reader.object(
            source, top,
            keys: [
                "provider", "title", "version", "authenticate", "object", "id", "type", "time",
                "environment", "app", "customer", "properties", "rules",
            ])
        name = Self.name(root["provider"], top.appending("provider"), &reader)
        title = reader.text(root["title"], top.appending("title"))
        let number = root["version"]?.integer ?? 0
        if number < 1 { reader.refuse(top.appending("version"), "must be a whole number from 1") }
        mappingVersion = "\(number):" + SHA256.hex(source.canonicalBytes).prefix(12)
        (schemes, usualScheme) = Self.schemes(root["authenticate"], &reader)
        object = reader.pointer(root["object"], top.appending("object"))
        eventID = reader.pointers(root["id"], top.appending("id"))
        type = reader.pointers(root["type"], top.appending("type"))
        time = reader.list(root["time"], top.appending("time")).map { item, path in
            let field = reader.object(item, path, keys: ["at", "as"])
            return TimeField(
                pointer: reader.pointer(field["at"], path.appending("at")),
                unit: reader.word(field["as"], path.appending("as"), of: TimeUnit.self) ?? .seconds)
        }
        (environment, environments) = Self.environment(root["environment"], &reader)
        app = root["app"].map { reader.pointers($0, top.appending("app")) } ?? []
        (customer, anonymousPrefixes) = Self.customer(root["customer"], &reader)
        properties = Self.properties(root["properties"], top.appending("properties"), &reader)
        rules = reader.list(root["rules"], top.appending("rules")).map { item, path in
            Self.rule(item, path, &reader)
        }
        self.source = source
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
    ) -> ([CustomerField], [String]) {
        let path = JSONPointer(tokens: ["customer"])
        let object = reader.object(value, path, keys: ["ids", "anonymous_prefixes"])
        let fields = reader.list(object["ids"], path.appending("ids")).map { item, place in
            let field = reader.object(item, place, keys: ["when", "at"])
            let clauses = field["when"].map { reader.clauses($0, place.appending("when")) } ?? []
            return CustomerField(
                clauses: clauses, ids: reader.pointers(field["at"], place.appending("at")))
        }
        guard let prefixes = object["anonymous_prefixes"] else { return (fields, []) }
        let texts = reader.list(prefixes, path.appending("anonymous_prefixes")).map {
            reader.text($0, $1)
        }
        return (fields, texts)
    }

    private static func rule(
        _ value: JSONValue, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> MappingRule {
        let object = reader.object(value, path, keys: ["when", "outcome", "properties"])
        let outcome = reader.text(object["outcome"], path.appending("outcome"))
        if !outcome.isEmpty, Vocabulary.outcome(named: outcome) == nil {
            reader.refuse(path.appending("outcome"), "\"\(outcome)\" is no outcome")
        }
        let extra = object["properties"].map {
            properties($0, path.appending("properties"), &reader)
        }
        return MappingRule(
            clauses: reader.clauses(object["when"], path.appending("when")), outcome: outcome,
            properties: extra ?? [])
    }

    private static func properties(
        _ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> [PropertyField] {
        guard let object = value?.object else {
            reader.refuse(path, value == nil ? "is missing" : "must be an object")
            return []
        }
        return object.compactMap { name, field in
            PropertyField(name: name, field, path.appending(name), &reader)
        }
    }
}

extension PropertyField {
    /// The words for ``Reading`` in a definition.
    private enum Kind: String, CaseIterable {
        case text, word, boolean, texts, ms, s, rfc3339, money
    }

    fileprivate init?(
        name: String, _ value: JSONValue, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) {
        let object = reader.object(value, path, keys: ["at", "as", "currency"])
        guard
            let kind = reader.word(object["as"], path.appending("as"), of: Kind.self)
        else { return nil }
        if kind != .money, object["currency"] != nil {
            reader.refuse(path.appending("currency"), "belongs to money")
        }
        let pointers = reader.pointers(object["at"], path.appending("at"))
        self.name = name
        switch kind {
        case .text: reading = .text(pointers)
        case .word: reading = .word(pointers)
        case .boolean: reading = .boolean(pointers)
        case .texts: reading = .texts(pointers)
        case .ms: reading = .instant(pointers, .milliseconds)
        case .s: reading = .instant(pointers, .seconds)
        case .rfc3339: reading = .instant(pointers, .rfc3339)
        case .money:
            let place = path.appending("currency")
            let currency = reader.text(object["currency"], place)
            if pointers.count > 1 {
                reader.refuse(path.appending("at"), "must be one pointer for money")
            }
            reading = .money(
                amount: pointers.first ?? JSONPointer(),
                currency: currency.hasPrefix("/")
                    ? .named(reader.pointer(.string(currency), place)) : .always(currency))
        }
    }
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
