internal import JSON

/// Why one item of a request was refused: the fact, its place in the item, the next step.
struct ItemProblem: Error, Hashable {
    /// What a program may branch on.
    enum Code: String, Hashable {
        case notAnObject = "not_an_object"
        case unknownKey = "unknown_key"
        case missing
        case invalid
        case tooLong = "too_long"
        /// A name of the vocabulary's, which providers tell and nobody else.
        case reservedName = "reserved_name"
    }

    let code: Code
    /// Where in the item, as a JSON Pointer.
    let pointer: String
    let message: String

    /// `{"code", "pointer", "message"}`.
    var json: JSONValue {
        [
            "code": .string(code.rawValue), "pointer": .string(pointer),
            "message": .string(message),
        ]
    }
}
