/// One header field: its name as sent, its value without surrounding white space.
package struct HTTPField: Sendable, Hashable {
    /// The name as sent; compare with ``isNamed(_:)``.
    package var name: String
    /// The value; bytes that are no UTF-8 were replaced by U+FFFD.
    package var value: String

    /// A field of this name and value.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field has this name; case does not matter (ASCII only, as field names are).
    package func isNamed(_ other: String) -> Bool {
        HTTPText.equalsIgnoringCase(name.utf8, other.utf8)
    }
}

/// The header fields of a message, in the order sent; names are compared without regard to case.
package struct HTTPFields: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Every field in the order sent.
    package private(set) var all: [HTTPField]

    /// Fields in the order given; none by default.
    package init(_ fields: [HTTPField] = []) { all = fields }

    /// Fields in the order written.
    package init(arrayLiteral elements: HTTPField...) { all = elements }

    /// The number of fields; a repeated name counts each time.
    package var count: Int { all.count }

    /// The first value of `name`. Ask ``values(of:)`` where a repeated field would be an attack.
    package subscript(name: String) -> String? {
        for field in all where field.isNamed(name) { return field.value }
        return nil
    }

    /// Every value of `name`, in the order sent.
    package func values(of name: String) -> [String] {
        all.compactMap { $0.isNamed(name) ? $0.value : nil }
    }

    /// Adds a field at the end; an earlier one of the same name stays.
    package mutating func append(_ field: HTTPField) { all.append(field) }
}
