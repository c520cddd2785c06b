internal import JSON

extension PropertyField {
    /// The words for ``Reading`` in a definition.
    private enum Kind: String, CaseIterable {
        case text, word, boolean, number, texts, constant
        case milliseconds = "ms"
        case seconds = "s"
        case microseconds = "us"
        case nanoseconds = "ns"
        case rfc3339
        case money
        case minorUnits = "money-minor"
        case thousandths = "money-thousandths"
        case millionths = "money-millionths"

        var timeUnit: TimeUnit? { TimeUnit(rawValue: rawValue) }

        var amountUnit: AmountUnit? {
            switch self {
            case .money: .decimal
            case .minorUnits: .minor
            case .thousandths: .thousandths
            case .millionths: .millionths
            case .text, .word, .boolean, .number, .texts, .constant, .milliseconds, .seconds,
                .microseconds, .nanoseconds, .rfc3339:
                nil
            }
        }
    }

    init?(
        name: String, _ value: JSONValue, _ path: JSONPointer, _ exponents: [String: Int],
        _ reader: inout DefinitionReader
    ) {
        let object = reader.object(
            value, path,
            keys: ["at", "as", "when", "currency", "values", "only", "true", "value", "set_at"])
        guard let kind = Self.kind(object["as"], path.appending("as"), &reader) else { return nil }
        Self.refuseStrangers(object, kind, path, &reader)
        clauses = object["when"].map { reader.clauses($0, path.appending("when")) } ?? []
        self.name = name
        let at = path.appending("at")
        switch kind {
        case .text: reading = .text(reader.textPlaces(object["at"], at))
        case .word:
            reading = .word(
                reader.textPlaces(object["at"], at),
                table: Self.table(object["values"], path.appending("values"), &reader),
                isClosed: object["only"]?.bool ?? false)
        case .boolean:
            let words = object["true"].map { value in
                reader.list(value, path.appending("true")).map { reader.text($0, $1) }
            }
            reading = .boolean(reader.pointers(object["at"], at), trueWords: words ?? [])
        case .number: reading = .number(reader.pointers(object["at"], at))
        case .texts: reading = .texts(reader.pointers(object["at"], at))
        case .constant:
            if object["value"] == nil { reader.refuse(path.appending("value"), "is missing") }
            reading = .constant(object["value"] ?? .null)
        case .milliseconds, .seconds, .microseconds, .nanoseconds, .rfc3339:
            let units = reader.timeUnits(object["as"], path.appending("as"))
            reading = .instant(reader.pointers(object["at"], at), units)
        case .money, .minorUnits, .thousandths, .millionths:
            reading = .money(
                MoneyField(
                    amounts: reader.pointers(object["at"], at), unit: kind.amountUnit ?? .decimal,
                    currency: Self.currency(
                        object["currency"], path.appending("currency"), &reader),
                    exponents: exponents))
        }
    }

    /// A list of units of time counts as its first.
    private static func kind(
        _ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> Kind? {
        guard case .array(let items)? = value else {
            return reader.word(value, path, of: Kind.self)
        }
        if let kind = items.first?.string.flatMap(Kind.init(rawValue:)), kind.timeUnit != nil {
            return kind
        }
        reader.refuse(path, "must be one word; only units of time may stand in a list")
        return nil
    }

    /// A key that belongs to another kind would be passed over without a word.
    private static func refuseStrangers(
        _ object: JSONObject, _ kind: Kind, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) {
        func allow(_ key: String, _ owner: String, _ isAllowed: Bool) {
            if !isAllowed, object[key] != nil {
                reader.refuse(path.appending(key), "belongs to \(owner)")
            }
        }
        allow("currency", "money", kind.amountUnit != nil)
        allow("values", "word", kind == .word)
        allow("only", "word", kind == .word)
        allow("true", "boolean", kind == .boolean)
        allow("value", "constant", kind == .constant)
        allow("at", "other kinds than constant", kind != .constant)
        if let only = object["only"], only.bool == nil {
            reader.refuse(path.appending("only"), "must be true or false")
        }
    }

    private static func table(
        _ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> [String: String] {
        guard let value else { return [:] }
        guard let object = value.object else {
            reader.refuse(path, "must be an object from the provider's words to ours")
            return [:]
        }
        var table: [String: String] = [:]
        for (word, name) in object { table[word] = reader.text(name, path.appending(word)) }
        return table
    }

    private static func currency(
        _ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> MoneyField.Currency {
        if case .array? = value { return .named(reader.pointers(value, path)) }
        let text = reader.text(value, path)
        if text.hasPrefix("/") { return .named(reader.pointers(value, path)) }
        if !text.isEmpty, CurrencyExponents.exponent(of: text) == nil {
            reader.refuse(path, "must be a code such as EUR, or a pointer to one")
        }
        return .always(text)
    }
}

extension AttributeMapping {
    init(_ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader) {
        guard let value else {
            self = .none
            return
        }
        guard let object = value.object else {
            reader.refuse(path, "must be an object from attributes to their places")
            self = .none
            return
        }
        var named: [AttributeField] = []
        for (name, field) in object where name != "*" {
            let place = path.appending(name)
            guard let read = PropertyField(name: name, field, place, [:], &reader) else { continue }
            let (setAt, units) = Self.setAt(field["set_at"], place.appending("set_at"), &reader)
            named.append(AttributeField(field: read, setAt: setAt.map { [$0] } ?? [], units: units))
        }
        self.named = named
        every = object["*"].map { AttributeMap($0, path.appending("*"), &reader) }
    }

    fileprivate static func setAt(
        _ value: JSONValue?, _ path: JSONPointer, _ reader: inout DefinitionReader
    ) -> (JSONPointer?, [TimeUnit]) {
        guard let value else { return (nil, []) }
        let object = reader.object(value, path, keys: ["at", "as"])
        return (
            reader.pointer(object["at"], path.appending("at")),
            reader.timeUnits(object["as"], path.appending("as"))
        )
    }
}

extension AttributeMap {
    init(_ source: JSONValue, _ path: JSONPointer, _ reader: inout DefinitionReader) {
        let object = reader.object(
            source, path, keys: ["at", "value", "set_at", "names", "skip_prefixes"])
        at = reader.pointer(object["at"], path.appending("at"))
        value = object["value"].map { reader.pointer($0, path.appending("value")) } ?? JSONPointer()
        (setAt, units) = AttributeMapping.setAt(
            object["set_at"], path.appending("set_at"), &reader)
        var names: [String: String] = [:]
        if let given = object["names"]?.object {
            for (name, ours) in given {
                names[name] = reader.text(ours, path.appending("names").appending(name))
            }
        } else if object["names"] != nil {
            reader.refuse(path.appending("names"), "must be an object from their names to ours")
        }
        self.names = names
        skippedPrefixes =
            object["skip_prefixes"].map { value in
                reader.list(value, path.appending("skip_prefixes")).map { reader.text($0, $1) }
            } ?? []
    }
}
