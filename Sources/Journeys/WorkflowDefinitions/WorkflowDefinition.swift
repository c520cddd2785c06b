package import JSON
package import JourneyModel

/// One published (or publishable) version of a workflow, read and checked.
package struct WorkflowDefinition: Sendable, Hashable {
    /// The two kinds of workflows.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Stateful, per customer, lasting days.
        case journey
        /// One event, a few actions, done: it holds nothing that waits for time or events.
        case automation
    }

    package var id: WorkflowID
    package var kind: Kind
    package var name: String?
    package var description: String?
    package var tags: [String]
    /// Environments whose events start and reach runs.
    package var environments: [String]
    /// Default zone of this workflow; nil for the configuration's.
    package var timezone: String?
    package var entry: Entry
    package var goal: Goal?
    package var exitPolicy: ExitPolicy
    package var exits: [ExitRule]
    package var limits: Limits
    package var start: StepID
    package var steps: [StepID: Step]
    /// Every step once, as a walk from ``start`` along the outlets meets them: the order for people.
    /// It follows from the content, so a stored form (whose keys are sorted) has the same.
    package var stepOrder: [StepID]

    package init(
        id: WorkflowID, kind: Kind, name: String? = nil, description: String? = nil,
        tags: [String] = [], environments: [String] = ["production"], timezone: String? = nil,
        entry: Entry, goal: Goal? = nil, exitPolicy: ExitPolicy = .never, exits: [ExitRule] = [],
        limits: Limits = Limits(), start: StepID, steps: [StepID: Step], stepOrder: [StepID]
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.description = description
        self.tags = tags
        self.environments = environments
        self.timezone = timezone
        self.entry = entry
        self.goal = goal
        self.exitPolicy = exitPolicy
        self.exits = exits
        self.limits = limits
        self.start = start
        self.steps = steps
        self.stepOrder = stepOrder
    }
}

/// A definition with the form it is published in.
package struct PublishedWorkflow: Sendable, Hashable {
    package let definition: WorkflowDefinition
    /// RFC 8785 canonical JSON with every default written out.
    package let canonical: [UInt8]
    /// Lowercase hex SHA-256 of ``canonical``.
    package let digest: String

    package init(definition: WorkflowDefinition, canonical: [UInt8], digest: String) {
        self.definition = definition
        self.canonical = canonical
        self.digest = digest
    }
}

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
    package var whenLive: WhenLive

    package init(
        trigger: Trigger, connectors: [String]? = nil, condition: Condition? = nil,
        unless: Condition? = nil, key: Key? = nil, reentry: Reentry, whenLive: WhenLive = .ignore
    ) {
        self.trigger = trigger
        self.connectors = connectors
        self.condition = condition
        self.unless = unless
        self.key = key
        self.reentry = reentry
        self.whenLive = whenLive
    }
}

/// What counts as conversion.
package struct Goal: Sendable, Hashable {
    /// Where the goal's window begins.
    package enum Anchor: Sendable, Hashable {
        /// The trigger's `occurred_at`.
        case runStart
        /// The run's first entry into a step; opens no window if never reached.
        case step(StepID)
    }

    package var match: EventMatch
    /// The window's length from its anchor; both ends count. At most 366 days.
    package var within: Duration
    package var anchor: Anchor

    package init(
        match: EventMatch, within: Duration = .seconds(14 * 86_400), anchor: Anchor = .runStart
    ) {
        self.match = match
        self.within = within
        self.anchor = anchor
    }
}

/// What ends a run besides its steps; `exits` always apply.
package enum ExitPolicy: String, Sendable, Hashable, CaseIterable {
    case onGoal = "on_goal"
    case onStopMatching = "on_stop_matching"
    case onGoalOrStop = "on_goal_or_stop"
    case never

    /// Whether reaching the goal ends the run.
    package var endsOnGoal: Bool {
        switch self {
        case .onGoal, .onGoalOrStop: true
        case .onStopMatching, .never: false
        }
    }
}

/// Ends a run at once.
package struct ExitRule: Sendable, Hashable {
    /// What ends the run.
    package enum Cause: Sendable, Hashable {
        case event(EventMatch)
        case condition(Condition)
    }

    package var cause: Cause
    /// What the run's reason says; when absent the published form has the event's name (several are
    /// joined by `or`), or `condition`.
    package var reason: String

    package init(cause: Cause, reason: String) {
        self.cause = cause
        self.reason = reason
    }
}

/// Bounds of one run.
package struct Limits: Sendable, Hashable {
    /// Past it the run is exited `time_limit`. At most 366 days.
    package var time: Duration
    /// Steps entered; past it failed `loop`.
    package var steps: Int
    /// Visits of one action; past it failed `loop`.
    package var visits: Int

    package init(time: Duration = .seconds(90 * 86_400), steps: Int = 1_000, visits: Int = 10) {
        self.time = time
        self.steps = steps
        self.visits = visits
    }
}
