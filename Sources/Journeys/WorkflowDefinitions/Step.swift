package import JSON
package import JourneyModel

/// Where an outlet leads.
package enum Edge: Sendable, Hashable {
    case step(StepID)
    /// `"end"`: the run is completed.
    case end
}

/// A named node of a workflow.
package struct Step: Sendable, Hashable {
    /// What the step does, with what its type needs.
    package enum Action: Sendable, Hashable {
        case delay(Delay)
        case waitUntil(WaitUntil)
        case branch(Branch)
        case action(ActionStep)
        case exit(reason: String?)
    }

    package var id: StepID
    package var name: String?
    package var note: String?
    package var action: Action

    package init(id: StepID, name: String? = nil, note: String? = nil, action: Action) {
        self.id = id
        self.name = name
        self.note = note
        self.action = action
    }

    /// The `type` word.
    package var type: String {
        switch action {
        case .delay: "delay"
        case .waitUntil: "wait_until"
        case .branch: "branch"
        case .action: "action"
        case .exit: "exit"
        }
    }

    /// Every outlet with its name, in the order of the file.
    package var outlets: [(name: String, edge: Edge)] {
        switch action {
        case .delay(let delay):
            [("next", delay.next)] + optional("on_past", delay.onPast)
                + optional("on_invalid", delay.onInvalid)
        case .waitUntil(let wait):
            wait.branches.map { ($0.id, $0.next) } + [("on_timeout", wait.onTimeout)]
        case .branch(let branch):
            branch.branches.map { ($0.id, $0.next) } + [("else", branch.otherwise)]
        case .action(let action):
            [("next", action.next)] + optional("on_failed", action.onFailed)
                + optional("on_timeout", action.onTimeout)
        case .exit: []
        }
    }

    private func optional(_ name: String, _ edge: Edge?) -> [(name: String, edge: Edge)] {
        edge.map { [(name, $0)] } ?? []
    }
}

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
    /// Taken when the instant has already passed; required with `until`.
    package var onPast: Edge?
    /// Taken when there is no instant; else the run fails.
    package var onInvalid: Edge?

    package init(length: Length, next: Edge, onPast: Edge? = nil, onInvalid: Edge? = nil) {
        self.length = length
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

/// Goes one of several ways at once.
package struct Branch: Sendable, Hashable {
    /// One way, taken when its condition is the first that is *true*.
    package struct Arm: Sendable, Hashable {
        package var id: String
        package var condition: Condition
        package var next: Edge

        package init(id: String, condition: Condition, next: Edge) {
            self.id = id
            self.condition = condition
            self.next = next
        }
    }

    package var branches: [Arm]
    package var otherwise: Edge

    package init(branches: [Arm], otherwise: Edge) {
        self.branches = branches
        self.otherwise = otherwise
    }
}

/// Requests an effect and waits for its result.
package struct ActionStep: Sendable, Hashable {
    /// The kinds of effects.
    package enum Tool: String, Sendable, Hashable, CaseIterable {
        case http
        case log
    }

    package var tool: Tool
    /// A name of the configuration's `accounts`; `log` needs none.
    package var account: String?
    /// The tool's parameters, `with`, in the tool's order.
    package var parameters: ValueTree
    /// Longest wait for one attempt.
    package var attemptTimeout: Duration
    /// No attempt starts later than this after the request.
    package var deadline: Duration
    package var retry: RetryPolicy
    package var next: Edge
    package var onFailed: Edge?
    package var onTimeout: Edge?

    package init(
        tool: Tool, account: String? = nil, parameters: ValueTree,
        attemptTimeout: Duration = .seconds(30), deadline: Duration = .seconds(86_400),
        retry: RetryPolicy = RetryPolicy(), next: Edge, onFailed: Edge? = nil,
        onTimeout: Edge? = nil
    ) {
        self.tool = tool
        self.account = account
        self.parameters = parameters
        self.attemptTimeout = attemptTimeout
        self.deadline = deadline
        self.retry = retry
        self.next = next
        self.onFailed = onFailed
        self.onTimeout = onTimeout
    }
}

/// When and how often an attempt is repeated.
package struct RetryPolicy: Sendable, Hashable {
    /// An outcome of an attempt that is worth another one.
    package enum Cause: String, Sendable, Hashable, CaseIterable {
        case timeout
        case network
        case tooManyRequests = "429"
        case serverError = "5xx"
    }

    /// Attempts in all, 1 to 20.
    package var attempts: Int
    package var backoff: Duration
    /// Each wait is the previous one times this, 1 to 10.
    package var factor: JSONNumber
    package var longest: Duration
    /// Whether a wait is drawn from half to all of its length.
    package var jitter: Bool
    package var causes: [Cause]

    package init(
        attempts: Int = 5, backoff: Duration = .seconds(1), factor: JSONNumber = JSONNumber(2),
        longest: Duration = .seconds(3_600), jitter: Bool = true,
        causes: [Cause] = Cause.allCases
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.factor = factor
        self.longest = longest
        self.jitter = jitter
        self.causes = causes
    }
}
