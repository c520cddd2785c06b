package import JSON

extension JSONValue {
    /// What stands in place of a value that was erased.
    package static var redactedMark: JSONValue { ["redacted": true] }

    /// Whether the value, or one inside it, was erased.
    package var holdsRedaction: Bool {
        switch self {
        case .object(let object):
            self == .redactedMark || object.contains { $0.value.holdsRedaction }
        case .array(let items): items.contains(where: \.holdsRedaction)
        case .null, .bool, .number, .string: false
        }
    }
}
