package import JSON

/// One entry of a decision's row: an object whose `kind` is one of `history.md`'s.
package struct HistoryEntry: Sendable, Hashable {
    package var kind: Kind
    /// The members beside `kind`.
    package var members: JSONObject

    /// The kinds of entries; a stored word never changes its meaning.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case entered, input, read, moved, waiting, requested, attempted, result
        case milestone, exposed, converted, suppressed, stale
        case migrated, reset, skipped, paused, forgotten, merged
        case ended
    }

    package init(_ kind: Kind, _ members: JSONObject = JSONObject()) {
        self.kind = kind
        self.members = members
    }

    package var json: JSONValue {
        .object(JSONObject([("kind", .string(kind.rawValue))] + members.members))
    }
}
