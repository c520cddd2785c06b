/// One JSON value, with what the text said kept: digits of numbers, order of members.
///
/// Equality is by bytes: strings compare by their UTF-8, never by canonical equivalence, and numbers
/// by their literal (`1.0` is not `1`). Use ``JSONNumber/compare(_:_:)`` to compare amounts.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The member of an object; nil for other values and for an absent key.
    package subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    /// The text of a string; nil for other values.
    package var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The flag of a boolean; nil for other values.
    package var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    /// The number, with its digits; nil for other values.
    package var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }
    /// The number where it is whole and fits 64 bits, whatever its spelling; else nil.
    package var integer: Int64? { number?.int64 }
    /// The items of an array; nil for other values.
    package var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    /// The members of an object; nil for other values.
    package var object: JSONObject? {
        if case .object(let members) = self { members } else { nil }
    }
    /// Whether this is `null`; an absent value is nil instead.
    package var isNull: Bool { if case .null = self { true } else { false } }

    /// A whole number.
    package static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
    /// A whole number.
    package static func integer(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }

    /// The value's kind in a reader's words, for error sentences.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: Hashable {
    /// Compares bytes of strings and literals of numbers.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
        }
    }

    /// Hashes as `==` compares.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let flag): hasher.combine(flag)
        case .number(let number): hasher.combine(number)
        case .string(let text): text.hashBytes(into: &hasher)
        case .array(let items): hasher.combine(items)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// A string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// A boolean.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// An array.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; the caller sees to it that no key stands twice.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { (key: $0.0, value: $0.1) }))
    }
    /// `null`.
    package init(nilLiteral: ()) { self = .null }
}

extension String {
    /// Whether two strings are the same bytes; `==` would call é and e + U+0301 equal.
    package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Hashes as ``hasSameBytes(as:)`` compares.
    func hashBytes(into hasher: inout Hasher) {
        hasher.combine(utf8.count)
        let isDone: Void? = utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isDone == nil {
            Array(utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
