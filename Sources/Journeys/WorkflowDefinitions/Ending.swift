package import JourneyModel

// What ends a run besides its steps.

/// What counts as conversion.
package struct Goal: Sendable, Hashable {
    /// What reaches the goal.
    package enum Cause: Sendable, Hashable {
        case event(EventMatch)
        /// The run passes a `milestone` step of that id.
        case milestone(String)
        case segmentEnter(SegmentID)
        case segmentLeave(SegmentID)
        case condition(Condition)
    }

    /// Where the goal's window begins.
    package enum Anchor: Sendable, Hashable {
        /// The trigger's `occurred_at`.
        case runStart
        /// The run's first entry into a step; opens no window if never reached.
        case step(StepID)
    }

    package var cause: Cause
    /// The window's length from its anchor; both ends count. At most 366 days.
    package var within: Duration
    package var anchor: Anchor

    package init(
        cause: Cause, within: Duration = .seconds(14 * 86_400), anchor: Anchor = .runStart
    ) {
        self.cause = cause
        self.within = within
        self.anchor = anchor
    }

    package init(
        match: EventMatch, within: Duration = .seconds(14 * 86_400), anchor: Anchor = .runStart
    ) {
        self.init(cause: .event(match), within: within, anchor: anchor)
    }

    /// The events that reach it; nil for a goal of another kind.
    package var match: EventMatch? {
        switch cause {
        case .event(let match): match
        case .milestone, .segmentEnter, .segmentLeave, .condition: nil
        }
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

    /// Whether a run ends when its customer no longer matches the entry.
    package var endsOnStopMatching: Bool {
        switch self {
        case .onStopMatching, .onGoalOrStop: true
        case .onGoal, .never: false
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
