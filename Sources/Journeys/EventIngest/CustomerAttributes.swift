internal import JSON

/// What a request may set of a customer; null stands for "remove".
enum CustomerAttributes {
    /// Bytes of one value, as JSON.
    static let largestValue = 8_192

    private enum Form: Hashable { case text, texts }

    /// Attributes that the product itself reads, and what they must be.
    private static let wellKnown: [String: Form] = [
        "email": .text, "phone": .text, "locale": .text, "timezone": .text, "first_name": .text,
        "push_tokens": .texts, "unsubscribed": .texts,
    ]

    /// Reads `attributes` and `unset`.
    static func read(_ fields: ItemFields) throws(ItemProblem) -> JSONObject {
        var read = JSONObject()
        for (name, value) in try fields.members("attributes") {
            try check(name, at: "/attributes/\(name.prefix(64))")
            try check(value, of: name)
            read[name] = value
        }
        for name in try fields.texts("unset", atMost: AppEventReader.mostAttributes) {
            try check(name, at: "/unset")
            guard read[name] == nil else {
                throw ItemProblem(
                    code: .invalid, pointer: "/unset",
                    message: "\"\(name)\" is set and unset at once; leave it out of one.")
            }
            read[name] = .null
        }
        guard read.count <= AppEventReader.mostAttributes else {
            throw ItemProblem(
                code: .tooLong, pointer: "/attributes",
                message: "At most \(AppEventReader.mostAttributes) attributes change at once.")
        }
        return read
    }

    private static func check(_ name: String, at pointer: String) throws(ItemProblem) {
        let isPlain = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
                || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
                || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
        }
        guard isPlain, (1...128).contains(name.utf8.count) else {
            throw ItemProblem(
                code: .invalid, pointer: pointer,
                message: "An attribute's name is 1 to 128 letters, digits, _ and $.")
        }
    }

    private static func check(_ value: JSONValue, of name: String) throws(ItemProblem) {
        func refuse(_ text: String) -> ItemProblem {
            ItemProblem(code: .invalid, pointer: "/attributes/\(name)", message: text)
        }
        guard value.bytes.count <= largestValue else {
            throw ItemProblem(
                code: .tooLong, pointer: "/attributes/\(name)",
                message: "The value has more than \(largestValue) bytes as JSON.")
        }
        guard !value.isNull else { return }
        switch wellKnown[name] {
        case .text:
            guard value.string != nil else { throw refuse("\"\(name)\" is a string.") }
        case .texts:
            guard let items = value.array, items.allSatisfy({ $0.string != nil }) else {
                throw refuse("\"\(name)\" is a list of strings.")
            }
        case nil: return
        }
    }
}
