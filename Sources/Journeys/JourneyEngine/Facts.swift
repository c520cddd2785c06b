package import JSON
package import JourneyModel
package import TimeZones

/// What a decision may read besides the run and its input: loaded before the engine runs, and fixed.
package struct Facts: Sendable, Hashable {
    /// `/customer`.
    package var attributes: JSONObject
    /// The customer's events by ordinal, as far back as any live run's waits may look; oldest first.
    package var events: [LoggedEvent]
    /// The database's time of the turn.
    package var now: Instant

    package init(attributes: JSONObject, events: [LoggedEvent] = [], now: Instant) {
        self.attributes = attributes
        self.events = events
        self.now = now
    }
}

/// An event with its place among the customer's inputs.
package struct LoggedEvent: Sendable, Hashable {
    /// Counted up by one for each input a turn takes of this customer.
    package var ordinal: Int64
    package var recordedAt: Instant
    package var event: Event

    package init(ordinal: Int64, recordedAt: Instant, event: Event) {
        self.ordinal = ordinal
        self.recordedAt = recordedAt
        self.event = event
    }
}
