package import JSON
package import JourneyModel
package import TimeZones
package import WorkflowDefinitions

/// An effect that a turn asks for; the dispatcher makes attempts until it has a result (S13).
package struct EffectRequest: Sendable, Hashable {
    package var invocation: InvocationID
    package var run: RunID
    package var step: StepID
    /// Visits of the step in this run before this one, plus renewals by an operator.
    package var attemptGroup: Int
    package var tool: ActionStep.Tool
    package var account: String?
    /// The rendered request as the dispatcher sends it, secrets by name only.
    package var request: JSONObject
    package var requestedAt: Instant
    /// No attempt starts before it: when window and gap first allow one.
    package var notBefore: Instant
    /// No attempt starts after it.
    package var deadline: Instant
    /// An attempt starts only while this is open (S12); nil for always.
    package var window: AttemptWindow?
    package var attemptTimeout: Duration
    package var retry: RetryPolicy
    /// Why it is kept and never attempted; nil for one that is to be attempted.
    package var withheld: String?

    package init(
        invocation: InvocationID, run: RunID, step: StepID, attemptGroup: Int,
        tool: ActionStep.Tool, account: String?, request: JSONObject, requestedAt: Instant,
        notBefore: Instant? = nil, deadline: Instant, window: AttemptWindow? = nil,
        attemptTimeout: Duration, retry: RetryPolicy
    ) {
        self.invocation = invocation
        self.run = run
        self.step = step
        self.attemptGroup = attemptGroup
        self.tool = tool
        self.account = account
        self.request = request
        self.requestedAt = requestedAt
        self.notBefore = notBefore ?? requestedAt
        self.deadline = deadline
        self.window = window
        self.attemptTimeout = attemptTimeout
        self.retry = retry
    }
}

/// When attempts of an effect may start.
package struct AttemptWindow: Sendable, Hashable {
    package var window: DailyWindow
    /// The zone that was found for the customer as the effect was requested.
    package var zone: String

    package init(window: DailyWindow, zone: String) {
        self.window = window
        self.zone = zone
    }

    /// Whether an attempt may start now, and when the window opens or closes next. A zone that the
    /// present tzdata does not have any more counts as UTC.
    package func state(at instant: Instant, zones: TimeZoneSet) -> DailyWindow.State {
        window.state(at: instant, in: zones.rules(named: zone) ?? .utc)
    }

    /// `{"start", "end", "days"?, "timezone"}`.
    package var json: JSONObject {
        var json = window.json
        json["timezone"] = .string(zone)
        return json
    }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(json: JSONObject) {
        guard let window = DailyWindow(json: json), let zone = json["timezone"]?.string else {
            return nil
        }
        self.init(window: window, zone: zone)
    }
}

extension DailyWindow {
    /// `{"start", "end", "days"?}`, days in the order of the week.
    var json: JSONObject {
        var json = JSONObject([
            ("start", .string(start.description)), ("end", .string(end.description)),
        ])
        if days.count < Weekday.allCases.count {
            json["days"] = .array(
                Weekday.allCases.filter { days.contains($0) }.map { .string($0.rawValue) })
        }
        return json
    }

    init?(json: JSONObject) {
        guard let start = json["start"]?.string.flatMap({ LocalTime($0) }),
            let end = json["end"]?.string.flatMap({ LocalTime($0) })
        else { return nil }
        let named = json["days"]?.array?.compactMap {
            $0.string.flatMap { Weekday(rawValue: $0) }
        }
        self.init(start: start, end: end, days: Set(named ?? Weekday.allCases))
    }
}

/// How an effect ended; exactly one wakes the run.
package enum EffectOutcome: Sendable, Hashable {
    /// The tool's result, at most 16 KB.
    case succeeded(JSONValue)
    /// Attempts used up (or not worth repeating) with this error word, such as `http_404`.
    case failed(error: String, detail: JSONValue)
    /// The last attempt ran out of time.
    case timedOut
    /// The deadline passed before an attempt could start.
    case expired
    /// An attempt's outcome is not known and the receiver does not honour the key.
    case unknown
    /// Withheld on purpose, such as by `paused`; the run goes on by `next`.
    case suppressed(reason: String)

    /// Whether something was sent, or may have been.
    package var mayHaveBeenSent: Bool {
        switch self {
        case .succeeded, .timedOut, .unknown: true
        case .failed, .expired, .suppressed: false
        }
    }
}

/// An effect's end as an input of the customer's turn.
package struct EffectResult: Sendable, Hashable {
    package var invocation: InvocationID
    package var run: RunID
    package var step: StepID
    package var outcome: EffectOutcome
    /// Whether a message to the customer was sent, or may have been: `gap` counts from it. Nil in what
    /// was written before that was told; then every action of `http` that may have been sent is one.
    package var isMessage: Bool?

    package init(
        invocation: InvocationID, run: RunID, step: StepID, outcome: EffectOutcome,
        isMessage: Bool? = nil
    ) {
        self.invocation = invocation
        self.run = run
        self.step = step
        self.outcome = outcome
        self.isMessage = isMessage
    }
}
