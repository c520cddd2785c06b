package import JSON

/// Why a provider definition cannot be used: everything that is wrong, each with its place.
package struct ProviderDefinitionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One thing wrong with the definition, and where.
    package struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// Where in the definition.
        package let pointer: JSONPointer
        package let message: String

        package var description: String {
            let place = pointer.tokens.isEmpty ? "the definition" : pointer.description
            return "\(place): \(message)"
        }
    }

    package let problems: [Problem]

    package var description: String {
        "the provider definition cannot be used: "
            + problems.map(\.description).joined(separator: "; ")
    }
}

/// Takes a definition's JSON apart and collects what is wrong instead of stopping at the first.
struct DefinitionReader {
    private(set) var problems: [ProviderDefinitionError.Problem] = []

    mutating func refuse(_ path: JSONPointer, _ message: String) {
        problems.append(.init(pointer: path, message: message))
    }

    /// An object whose keys are all known; empty when it is none.
    mutating func object(
        _ value: JSONValue?, _ path: JSONPointer, keys: [String]
    ) -> JSONObject {
        guard let object = value?.object else {
            refuse(path, value == nil ? "is missing" : "must be an object")
            return JSONObject()
        }
        for key in object.keys where !keys.contains(key) {
            refuse(
                path.appending(key),
                "is no key here; known are \(keys.joined(separator: ", "))"
                    + Spelling.ending(for: key, among: keys))
        }
        return object
    }

    mutating func text(_ value: JSONValue?, _ path: JSONPointer) -> String {
        if let text = value?.string, !text.isEmpty { return text }
        refuse(path, value == nil ? "is missing" : "must be a text that is not empty")
        return ""
    }

    mutating func list(_ value: JSONValue?, _ path: JSONPointer) -> [(JSONValue, JSONPointer)] {
        guard let items = value?.array, !items.isEmpty, items.count <= 1_000 else {
            refuse(path, value == nil ? "is missing" : "must be a list of 1 to 1000 items")
            return []
        }
        return items.enumerated().map { ($1, path.appending($0)) }
    }

    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ value: JSONValue?, _ path: JSONPointer, of: Word.Type
    ) -> Word? where Word.RawValue == String {
        if let word = value?.string.flatMap({ Word(rawValue: $0) }) { return word }
        let known = Word.allCases.map(\.rawValue)
        refuse(
            path,
            "must be one of \(known.joined(separator: ", "))"
                + (value?.string.map { Spelling.ending(for: $0, among: known) } ?? ""))
        return nil
    }

    mutating func pointer(_ value: JSONValue?, _ path: JSONPointer) -> JSONPointer {
        if let pointer = value?.string.flatMap({ JSONPointer($0) }), !pointer.tokens.isEmpty {
            return pointer
        }
        refuse(path, value == nil ? "is missing" : "must be a JSON Pointer that begins with /")
        return JSONPointer()
    }

    /// One pointer, or a list of them in order of preference.
    mutating func pointers(_ value: JSONValue?, _ path: JSONPointer) -> [JSONPointer] {
        guard case .array? = value else { return [pointer(value, path)] }
        return list(value, path).map { pointer($0, $1) }
    }

    /// One place of a text, or a list of them in order of preference: pointers, or objects with `at` or
    /// `format`, and `when`.
    mutating func textPlaces(_ value: JSONValue?, _ path: JSONPointer) -> [TextPlace] {
        guard case .array? = value else { return [textPlace(value, path)] }
        return list(value, path).map { textPlace($0, $1) }
    }

    private mutating func textPlace(_ value: JSONValue?, _ path: JSONPointer) -> TextPlace {
        guard value?.object != nil else {
            return TextPlace(clauses: [], parts: [.pointer(pointer(value, path))])
        }
        let object = object(value, path, keys: ["at", "format", "when"])
        let conditions = object["when"].map { clauses($0, path.appending("when")) } ?? []
        if let format = object["format"] {
            let place = path.appending("format")
            if object["at"] != nil { refuse(path.appending("at"), "cannot stand beside format") }
            guard let parts = TextPlace.parts(of: text(format, place)) else {
                refuse(place, "must be text with pointers in braces, such as \"order.{/status}\"")
                return TextPlace(clauses: conditions, parts: [])
            }
            return TextPlace(clauses: conditions, parts: parts)
        }
        return TextPlace(
            clauses: conditions, parts: [.pointer(pointer(object["at"], path.appending("at")))])
    }

    /// One unit, or a list of them to try in order.
    mutating func timeUnits(_ value: JSONValue?, _ path: JSONPointer) -> [TimeUnit] {
        guard case .array? = value else {
            return word(value, path, of: TimeUnit.self).map { [$0] } ?? []
        }
        return list(value, path).compactMap { word($0, $1, of: TimeUnit.self) }
    }

    /// A `when`: pointers with a scalar, a list of scalars, `{"exists": …}` or `{"lt": …}`.
    mutating func clauses(_ value: JSONValue?, _ path: JSONPointer) -> [Clause] {
        guard let object = value?.object else {
            refuse(path, value == nil ? "is missing" : "must be an object of pointers")
            return []
        }
        var clauses: [Clause] = []
        for (key, wanted) in object {
            let place = path.appending(key)
            let pointer = pointer(.string(key), place)
            if let condition = condition(wanted, place) {
                clauses.append(Clause(pointer: pointer, condition: condition))
            }
        }
        return clauses
    }

    private mutating func condition(_ value: JSONValue, _ path: JSONPointer) -> Condition? {
        switch value {
        case .string, .number, .bool: return .oneOf([value])
        case .array:
            let items = list(value, path)
            for (item, place) in items where !Self.isScalar(item) {
                refuse(place, "must be a text, a number or a boolean")
            }
            return .oneOf(items.map(\.0))
        case .object(let object):
            if object.count == 1, let flag = object["exists"]?.bool { return .exists(flag) }
            if object.count == 1, let bound = object["lt"]?.number { return .below(bound) }
            if object.count == 1, let bound = object["gt"]?.number { return .above(bound) }
            if object.count == 1, let unwanted = object["not"] {
                let items = unwanted.array ?? [unwanted]
                if !items.isEmpty, items.allSatisfy(Self.isScalar) { return .noneOf(items) }
            }
            refuse(
                path,
                "must be a text, a number, a boolean, a list of them, {\"exists\": boolean}, "
                    + "{\"lt\": number}, {\"gt\": number} or {\"not\": …}")
            return nil
        case .null:
            refuse(path, "cannot be null; write {\"exists\": false}")
            return nil
        }
    }

    private static func isScalar(_ value: JSONValue) -> Bool {
        switch value {
        case .string, .number, .bool: true
        case .null, .array, .object: false
        }
    }
}
