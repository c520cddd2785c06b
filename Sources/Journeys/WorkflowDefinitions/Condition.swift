package import JSON
package import JourneyModel

/// Three-valued: *true*, *false*, *unknown* (S11).
package indirect enum Condition: Sendable, Hashable {
    /// Comparisons of two values of one type.
    package enum Comparison: String, Sendable, Hashable, CaseIterable {
        case eq, neq, lt, lte, gt, gte
    }

    /// Tests of the ends of a text.
    package enum TextTest: String, Sendable, Hashable, CaseIterable {
        case startsWith = "starts_with"
        case endsWith = "ends_with"
    }

    case all([Condition])
    case any([Condition])
    case not(Condition)
    case compare(Comparison, Value, Value)
    /// Inclusive on both ends.
    case between(Value, low: Value, high: Value)
    case isIn(Value, [Value])
    /// An array holds the value, or a string holds the text.
    case contains(Value, Value)
    case text(TextTest, Value, Value)
    /// `null` exists.
    case exists(JSONPointer)
    case feature(FeatureTest)
    case segment(SegmentID, SegmentTest)
    /// Over `/subscription`: true if any subscription of the customer makes it true.
    case subscription(Condition)
    case events(EventHistory)
    /// A public Nuxie envelope as it was written, and what it was compiled to; the latter is decided.
    case envelope(JSONValue, Condition)
    /// An envelope's question whether a value is anything but null, false, 0 and the empty text;
    /// *unknown* when it is missing.
    case truthy(Value)
    /// A literal of an envelope.
    case constant(Bool)
    /// A part of an envelope that this evaluator does not know: always *unknown*.
    case undecidable(String)
}

/// What is asked of a customer's access to a feature; every part that is given must hold.
package struct FeatureTest: Sendable, Hashable {
    package var id: String
    /// The entity whose access is meant; nil for the customer's own.
    package var entity: Value?
    package var allowed: Bool?
    package var unlimited: Bool?
    package var balance: NumberRange?

    package init(
        id: String, entity: Value? = nil, allowed: Bool? = nil, unlimited: Bool? = nil,
        balance: NumberRange? = nil
    ) {
        self.id = id
        self.entity = entity
        self.allowed = allowed
        self.unlimited = unlimited
        self.balance = balance
    }
}

/// What is asked of a customer's membership.
package enum SegmentTest: Sendable, Hashable {
    case member(Bool)
    /// A member now, and for at most so long.
    case enteredWithin(Duration)
}

/// A number between bounds, both included; nil is open.
package struct NumberRange: Sendable, Hashable {
    package var atLeast: JSONNumber?
    package var atMost: JSONNumber?

    package init(atLeast: JSONNumber? = nil, atMost: JSONNumber? = nil) {
        self.atLeast = atLeast
        self.atMost = atMost
    }

    /// Whether a number lies between the bounds.
    package func contains(_ number: JSONNumber) -> Bool {
        if let atLeast, JSONNumber.compare(number, atLeast) < 0 { return false }
        if let atMost, JSONNumber.compare(number, atMost) > 0 { return false }
        return true
    }
}

/// A question about this customer's stored events.
package struct EventHistory: Sendable, Hashable {
    /// From when on events are looked at; both ends of a span count.
    package indirect enum Since: Sendable, Hashable {
        /// So long before now.
        case within(Duration)
        /// From the run's trigger, itself excluded.
        case run
        /// An instant value.
        case instant(Value)
        /// From the first event stored: only envelopes ask so far back.
        case ever
        /// The later of two; only envelopes have it.
        case later(Since, Since)
    }

    /// What is taken of the events found. Only ``count`` can be written; envelopes have the others.
    package enum Measure: Sendable, Hashable {
        case count
        /// Of the numbers at a pointer into `/event`; events without one do not count.
        case sum(JSONPointer), average(JSONPointer), minimum(JSONPointer), maximum(JSONPointer)
        /// Of different values at a pointer into `/event`.
        case distinct(JSONPointer)
        /// Milliseconds since 1970 of the first and the last event's `occurred_at`.
        case firstAt, lastAt
        /// Seconds from the last event's `occurred_at` to now.
        case lastAge
    }

    /// Which events; `correlates` says nothing here.
    package var match: EventMatch
    package var since: Since
    /// Up to when; nil for now.
    package var until: Value?
    package var measure: Measure
    package var range: NumberRange

    package init(
        match: EventMatch, since: Since, until: Value? = nil, measure: Measure = .count,
        range: NumberRange = NumberRange(atLeast: JSONNumber(1))
    ) {
        self.match = match
        self.since = since
        self.until = until
        self.measure = measure
        self.range = range
    }
}
