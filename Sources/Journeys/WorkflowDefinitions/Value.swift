package import JSON

/// Something that has a JSON value once the scope is known.
package indirect enum Value: Sendable, Hashable {
    case literal(JSONValue)
    /// A pointer into the scope; absent is *missing*, unless a default stands in for missing or null.
    case reference(JSONPointer, default: Value?)
    /// Text of a Mustache template over the scope.
    case template(String)
    /// An instant moved by a duration (negative for `minus`).
    case time(Value, moved: Duration)
}

/// JSON in which any part may be a ``Value``: an action's `with`.
package indirect enum ValueTree: Sendable, Hashable {
    case value(Value)
    case array([ValueTree])
    case object([Member])

    /// One member of a built object, in the file's order.
    package struct Member: Sendable, Hashable {
        package var key: String
        package var tree: ValueTree

        package init(key: String, tree: ValueTree) {
            self.key = key
            self.tree = tree
        }
    }
}
