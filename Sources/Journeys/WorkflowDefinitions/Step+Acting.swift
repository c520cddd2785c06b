package import JSON
package import JourneyModel
package import TimeZones

// Steps that do something: effects, and what the engine does itself.

/// Requests an effect and waits for its result.
package struct ActionStep: Sendable, Hashable {
    /// The kinds of effects.
    package enum Tool: String, Sendable, Hashable, CaseIterable {
        case http
        case slack
        case log
    }

    package var tool: Tool
    /// A name of the configuration's `accounts`; `log` needs none.
    package var account: String?
    /// The tool's parameters, `with`, in the tool's order.
    package var parameters: ValueTree
    /// Longest wait for one attempt.
    package var attemptTimeout: Duration
    /// Attempts start inside it only; nil at any time.
    package var window: SendWindow?
    /// At least this after the run's previous message; nil for none.
    package var gap: Duration?
    /// No attempt starts later than this after the first instant at or after the request at which
    /// ``window`` and ``gap`` allow one.
    package var deadline: Duration
    package var retry: RetryPolicy
    package var next: Edge
    package var onFailed: Edge?
    package var onTimeout: Edge?

    package init(
        tool: Tool, account: String? = nil, parameters: ValueTree,
        attemptTimeout: Duration = .seconds(30), window: SendWindow? = nil,
        gap: Duration? = nil, deadline: Duration = .seconds(86_400),
        retry: RetryPolicy = RetryPolicy(), next: Edge, onFailed: Edge? = nil,
        onTimeout: Edge? = nil
    ) {
        self.tool = tool
        self.account = account
        self.parameters = parameters
        self.attemptTimeout = attemptTimeout
        self.window = window
        self.gap = gap
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

/// The times of the week at which an action's attempts may start.
package struct SendWindow: Sendable, Hashable {
    package var window: DailyWindow
    /// Overrides the workflow's zone; the customer's own comes before both (S6).
    package var timezone: String?

    package init(window: DailyWindow, timezone: String? = nil) {
        self.window = window
        self.timezone = timezone
    }
}

/// Makes an event of the app's own for this customer.
package struct SendEvent: Sendable, Hashable {
    package var event: String
    /// An object; empty without properties.
    package var properties: ValueTree
    package var next: Edge

    package init(event: String, properties: ValueTree = .object([]), next: Edge) {
        self.event = event
        self.properties = properties
        self.next = next
    }
}

/// Sets and removes attributes of the customer.
package struct UpdateCustomer: Sendable, Hashable {
    /// In the order of their names.
    package var attributes: [ValueTree.Member]
    /// Names of attributes that are removed, sorted.
    package var removed: [String]
    package var next: Edge

    package init(attributes: [ValueTree.Member], removed: [String] = [], next: Edge) {
        self.attributes = attributes
        self.removed = removed
        self.next = next
    }
}

/// Starts or ends this customer's run of another workflow, whose trigger is `api`.
package struct RunCommand: Sendable, Hashable {
    package var workflow: WorkflowID
    /// The key of the run; nil for the workflow's runs without one.
    package var key: Value?
    package var next: Edge

    package init(workflow: WorkflowID, key: Value? = nil, next: Edge) {
        self.workflow = workflow
        self.key = key
        self.next = next
    }
}
