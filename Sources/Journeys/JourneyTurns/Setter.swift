package import JSON
package import JourneyModel
package import TimeZones

/// What set a value last: facts arrive in any order, and the greatest of these wins in each (S5).
package struct Setter: Sendable, Hashable, Comparable {
    package var occurredAt: Instant
    /// The outcome's place among others of the same instant.
    package var rank: Int
    package var event: EventID

    package init(occurredAt: Instant, rank: Int, event: EventID) {
        self.occurredAt = occurredAt
        self.rank = rank
        self.event = event
    }

    package init(_ event: Event) {
        self.init(
            occurredAt: event.occurredAt, rank: Vocabulary.rank(of: event.name), event: event.id)
    }

    package static func < (left: Setter, right: Setter) -> Bool {
        if left.occurredAt != right.occurredAt { return left.occurredAt < right.occurredAt }
        if left.rank != right.rank { return left.rank < right.rank }
        return left.event.text.utf8.lexicographicallyPrecedes(right.event.text.utf8)
    }

    /// The stored form: `[occurred_at, rank, event id]`.
    package var json: JSONValue {
        .array([.string(occurredAt.description), .integer(rank), .string(event.text)])
    }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(json: JSONValue) {
        guard let parts = json.array, parts.count == 3,
            let at = parts[0].string.flatMap({ Instant($0) }), let rank = parts[1].integer,
            let event = parts[2].string
        else { return nil }
        self.init(occurredAt: at, rank: Int(rank), event: EventID(event))
    }
}
