package import JSON
package import JourneyModel
package import TimeZones

/// Names an event must have one of, and what it must (not) say.
package struct EventMatch: Sendable, Hashable {
    /// One or more names: outcomes, the app's own, or `provider:<connector>:<TYPE>`.
    package var names: [String]
    /// Must be *true*.
    package var condition: Condition?
    /// Stops only on *true*.
    package var unless: Condition?
    /// Whether the run's key decides which run an event reaches (`"correlate": false` turns it off).
    package var correlates: Bool

    package init(
        names: [String], condition: Condition? = nil, unless: Condition? = nil,
        correlates: Bool = true
    ) {
        self.names = names
        self.condition = condition
        self.unless = unless
        self.correlates = correlates
    }
}

/// Who enters, when, how often.
package struct Entry: Sendable, Hashable {
    /// What starts a run.
    package enum Trigger: Sendable, Hashable {
        case event(names: [String])
        /// The customer enters or leaves a segment.
        case segment(SegmentID, on: SegmentTurn)
        case date(DateTrigger)
        case schedule(ScheduleTrigger)
        /// Only `start` and `POST /v1/runs`.
        case api
    }

    /// How often a customer may enter, by key.
    package enum Reentry: Sendable, Hashable {
        case oneTime
        case everyTime
        /// Measured from the last entry.
        case oncePerWindow(Duration)
    }

    /// What an entry does while a run with its key is live.
    package enum WhenLive: String, Sendable, Hashable, CaseIterable {
        case ignore
        case restart
        case startAnother = "start_another"
    }

    /// What tells a customer's runs of one workflow apart.
    package enum Key: Sendable, Hashable {
        /// The event's subscription key, `/event/subscription_key`.
        case subscription
        /// One pointer under `/event` or `/customer`.
        case reference(JSONPointer)

        /// The field an event must carry to be correlated.
        package var pointer: JSONPointer {
            switch self {
            case .subscription: JSONPointer(tokens: ["event", "subscription_key"])
            case .reference(let pointer): pointer
            }
        }
    }

    package var trigger: Trigger
    /// Connector names that may start it; nil for all.
    package var connectors: [String]?
    package var condition: Condition?
    package var unless: Condition?
    package var key: Key?
    package var reentry: Reentry
    /// Never two entries of this workflow with the same value, over all connectors.
    package var oncePer: Value?
    package var whenLive: WhenLive

    package init(
        trigger: Trigger, connectors: [String]? = nil, condition: Condition? = nil,
        unless: Condition? = nil, key: Key? = nil, reentry: Reentry, oncePer: Value? = nil,
        whenLive: WhenLive = .ignore
    ) {
        self.trigger = trigger
        self.connectors = connectors
        self.condition = condition
        self.unless = unless
        self.key = key
        self.reentry = reentry
        self.oncePer = oncePer
        self.whenLive = whenLive
    }
}

/// The two ways a membership changes.
package enum SegmentTurn: String, Sendable, Hashable, CaseIterable {
    case enter
    case leave
}

/// Starts a run at an instant that the customer's data names.
package struct DateTrigger: Sendable, Hashable {
    /// An instant value. One that reads `/subscription` watches each subscription by itself.
    package var value: Value
    /// Added to the instant; negative for `minus`.
    package var offset: Duration
    /// The local time on the local date of the shifted instant; nil keeps the instant.
    package var at: LocalTime?
    /// How long an instant that is past when it becomes known may still start a run; zero or more.
    package var late: Duration

    package init(
        value: Value, offset: Duration = .zero, at: LocalTime? = nil, late: Duration = .zero
    ) {
        self.value = value
        self.offset = offset
        self.at = at
        self.late = late
    }
}

/// Starts runs for many customers at times of a calendar.
package struct ScheduleTrigger: Sendable, Hashable {
    package var cron: CronExpression
    /// Decided in each customer's turn; must be *true*.
    package var audience: Condition
    /// Customers a second, at most: 1 to 10,000.
    package var rate: Int

    package init(cron: CronExpression, audience: Condition, rate: Int = 500) {
        self.cron = cron
        self.audience = audience
        self.rate = rate
    }
}
