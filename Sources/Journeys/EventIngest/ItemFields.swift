internal import JSON
internal import TimeZones

/// Reads members of an item, each with a refusal that names its place.
struct ItemFields {
    let object: JSONObject

    /// - Parameter known: what may stand in it; anything else is refused, since it would be lost.
    init(_ json: JSONValue, known: Set<String>) throws(ItemProblem) {
        guard case .object(let object) = json else {
            throw ItemProblem(
                code: .notAnObject, pointer: "",
                message: "The item is \(json.kind); send a JSON object.")
        }
        if let unknown = object.keys.first(where: { !known.contains($0) }) {
            throw ItemProblem(
                code: .unknownKey, pointer: "/\(unknown.prefix(64))",
                message: "There is no member \"\(unknown.prefix(64))\"; put what is your own under "
                    + "\"properties\".")
        }
        self.object = object
    }

    init(_ object: JSONObject) { self.object = object }

    /// The value, or nil when it is absent or null.
    func present(_ name: String) -> JSONValue? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }

    /// A text, or a whole number by its digits; nil when absent, null or empty.
    func id(_ name: String) throws(ItemProblem) -> String? {
        guard let value = present(name) else { return nil }
        let text: String
        switch value {
        case .string(let string): text = string
        case .number(let number): text = number.int64.map { String($0) } ?? number.literal
        case .null, .bool, .array, .object:
            throw invalid(name, "is \(value.kind); send a string")
        }
        guard text.utf8.count <= AppEventReader.longestText else {
            throw ItemProblem(
                code: .tooLong, pointer: "/\(name)",
                message: "\"\(name)\" has more than \(AppEventReader.longestText) bytes.")
        }
        return text.isEmpty ? nil : text
    }

    /// As ``id(_:)``, and it must be there.
    func requiredID(_ name: String) throws(ItemProblem) -> String {
        guard let id = try id(name) else {
            throw ItemProblem(
                code: .missing, pointer: "/\(name)", message: "\"\(name)\" is missing; send it.")
        }
        return id
    }

    /// An RFC 3339 time; nil when absent.
    func instant(_ name: String) throws(ItemProblem) -> Instant? {
        guard let value = present(name) else { return nil }
        guard let instant = value.string.flatMap({ Instant($0) }) else {
            throw invalid(name, "is no time; write RFC 3339, such as 2026-11-30T10:00:00Z")
        }
        return instant
    }

    /// An object; empty when absent.
    func members(_ name: String) throws(ItemProblem) -> JSONObject {
        guard let value = present(name) else { return JSONObject() }
        guard let object = value.object else {
            throw invalid(name, "is \(value.kind); send an object")
        }
        return object
    }

    /// A list of texts; empty when absent.
    func texts(_ name: String, atMost limit: Int) throws(ItemProblem) -> [String] {
        guard let value = present(name) else { return [] }
        guard let items = value.array, items.count <= limit else {
            throw invalid(name, "must be a list of at most \(limit) strings")
        }
        var texts: [String] = []
        for item in items {
            guard let text = item.string, !text.isEmpty,
                text.utf8.count <= AppEventReader.longestText
            else { throw invalid(name, "must hold non-empty strings only") }
            texts.append(text)
        }
        return texts
    }

    func invalid(_ name: String, _ fact: String) -> ItemProblem {
        ItemProblem(code: .invalid, pointer: "/\(name)", message: "\"\(name)\" \(fact).")
    }

    /// The environment of the item; nil when absent.
    func environment() throws(ItemProblem) -> String? {
        guard let name = try id("environment") else { return nil }
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
        guard isPlain, name.utf8.count <= 63 else {
            throw invalid(
                "environment", "must be lower-case letters, digits, - and _, such as sandbox")
        }
        return name
    }
}
