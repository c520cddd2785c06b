package import JourneyModel
package import TimeZones

// Steps at which a run stands still for time or events.

/// Waits for time alone.
package struct Delay: Sendable, Hashable {
    /// How long the delay lasts.
    package enum Length: Sendable, Hashable {
        /// Elapsed time from the step's entry.
        case duration(Duration)
        /// An instant value.
        case until(Value)
    }

    package var length: Length
    package var next: Edge
    /// The local time on the local date of the instant; only with `until`.
    package var at: LocalTime?
    /// Whether the delay moves with its value; only with `until`.
    package var follows: Bool
    /// Taken when the instant has already passed; required with `until`.
    package var onPast: Edge?
    /// Taken when there is no instant; else the run fails.
    package var onInvalid: Edge?

    package init(
        length: Length, at: LocalTime? = nil, follows: Bool = false, next: Edge,
        onPast: Edge? = nil, onInvalid: Edge? = nil
    ) {
        self.length = length
        self.at = at
        self.follows = follows
        self.next = next
        self.onPast = onPast
        self.onInvalid = onInvalid
    }
}

/// Waits for an event or a condition, at most for a time.
package struct WaitUntil: Sendable, Hashable {
    /// One way out, for an event or a condition.
    package struct Branch: Sendable, Hashable {
        /// What the branch waits for.
        package enum Cause: Sendable, Hashable {
            case event(EventMatch)
            case condition(Condition)
        }

        package var id: String
        package var cause: Cause
        package var next: Edge

        package init(id: String, cause: Cause, next: Edge) {
            self.id = id
            self.cause = cause
            self.next = next
        }
    }

    /// From where on an event may satisfy the wait (S3).
    package enum Since: Sendable, Hashable {
        /// After the input that brought the run to the step; where that was an effect's result, after
        /// the effect was requested.
        case step
        /// From the run's latest entry into that step.
        case entryInto(StepID)
        /// From the trigger, itself excluded.
        case run
    }

    /// When the wait gives up.
    package enum Timeout: Sendable, Hashable {
        case duration(Duration)
        /// An instant value; missing at run time fails the run.
        case until(Value)
    }

    package var branches: [Branch]
    package var since: Since
    package var timeout: Timeout
    package var onTimeout: Edge

    package init(branches: [Branch], since: Since = .step, timeout: Timeout, onTimeout: Edge) {
        self.branches = branches
        self.since = since
        self.timeout = timeout
        self.onTimeout = onTimeout
    }
}

/// Lets a run pass at certain times of the week only.
package struct TimeWindow: Sendable, Hashable {
    package var window: DailyWindow
    /// Overrides the workflow's zone; the customer's own comes before both (S6).
    package var timezone: String?
    /// Taken at once outside the window; nil waits for it.
    package var onSkip: Edge?
    package var next: Edge

    package init(
        window: DailyWindow, timezone: String? = nil, onSkip: Edge? = nil, next: Edge
    ) {
        self.window = window
        self.timezone = timezone
        self.onSkip = onSkip
        self.next = next
    }
}
