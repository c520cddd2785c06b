internal import JourneyModel
internal import Postgres

// Rows by the beginning of their id.
extension LookStore {
    /// Runs whose id begins with `prefix`, in id order; for ids that people cut short.
    /// - Parameter limit: 1 to ``listLimit``; 2 are enough to tell whether a prefix names one run.
    package func runs(prefix: String, limit: Int = 2) async throws -> [RunSummary] {
        try await look { tx in
            try await tx.query(
                Self.listingRunsByPrefix, [.text(storable(prefix)), Self.limit(limit)]
            ).map(Self.readSummary)
        }
    }

    /// Events whose id begins with `prefix`, in id order; for ids that people cut short.
    package func events(prefix: String, limit: Int) async throws -> [EventView] {
        try await look { tx in
            try await tx.query(
                Self.listingEventsByPrefix, [.text(storable(prefix)), Self.limit(limit)]
            ).map { row in
                EventView(
                    customer: CustomerID(try row.int64("customer")),
                    logged: try Self.readLogged(row))
            }
        }
    }

    /// A range under every collation: what follows the beginning is hex, which comes before `g`.
    static let listingEventsByPrefix = SQLStatement(
        "look_events_by_prefix",
        """
        select e.customer, e.ordinal, e.recorded_at, e.event
        from journey.event_ids i
        join journey.events e
            on e.customer = i.customer and e.ordinal = i.ordinal and e.recorded_at = i.recorded_at
        where i.id >= $1::text and i.id < $1::text || 'g' and starts_with(i.id, $1)
        order by i.id
        limit $2::integer
        """)
}
