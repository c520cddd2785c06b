internal import JourneyEngine
internal import JourneyStorage
internal import Telemetry
internal import TimeZones
internal import WorkflowDefinitions

/// What the dispatcher counts.
struct DispatchMetrics: Sendable {
    private let attempts: Counter
    private let attemptSeconds: Histogram
    private let effects: Counter
    private let effectSeconds: Histogram
    private let retries: Counter
    private let ambiguous: Counter
    private let suppressed: Counter
    private let late: Counter
    private let held: Gauge

    init(_ metrics: Metrics) {
        attempts = metrics.counter(
            "journey_attempts_total", help: "Attempts of effects by tool and outcome.",
            labels: ["tool", "outcome"])
        attemptSeconds = metrics.histogram(
            "journey_attempt_seconds", help: "Time of one attempt by tool.", labels: ["tool"])
        effects = metrics.counter(
            "journey_effects_total", help: "Effects that ended, by tool and result.",
            labels: ["tool", "result"])
        effectSeconds = metrics.histogram(
            "journey_effect_seconds", help: "Time from an effect's request to its end, by tool.",
            labels: ["tool"])
        retries = metrics.counter(
            "journey_effect_retries_total", help: "Attempts that are to be repeated, by tool.",
            labels: ["tool"])
        ambiguous = metrics.counter(
            "journey_effects_ambiguous_total",
            help: "Attempts of which nobody knows whether they arrived, by tool.",
            labels: ["tool"])
        suppressed = metrics.counter(
            "journey_effects_suppressed_total", help: "Withheld effects, by tool and cause.",
            labels: ["tool", "cause"])
        late = metrics.counter(
            "journey_attempts_late_total",
            help: "Attempts that ended after their lease was lost, by tool.", labels: ["tool"])
        held = metrics.gauge(
            "journey_effects_held", help: "1 while this process sends nothing (--hold-effects).")
    }

    func noteHeld(_ isHeld: Bool) { held.set(isHeld ? 1 : 0) }

    func observe(_ duration: Duration, tool: String) {
        attemptSeconds.observe(duration, labels: [tool])
    }

    func countLate(tool: String) { late.add(labels: [tool]) }

    /// What leasing itself brought to an end.
    func note(_ ended: LeaseRound.Ended) {
        switch ended.word {
        case "put_off", "closed": return
        case "suppressed":
            suppressed.add(labels: [ended.tool, ended.reason ?? ""])
        case "unknown": ambiguous.add(labels: [ended.tool])
        default: break
        }
        effects.add(labels: [ended.tool, ended.word])
    }

    /// - Parameter took: from the attempt's start to its end.
    func note(_ finished: FinishedAttempt, took: Duration) {
        let tool = finished.lease.request.tool.rawValue
        attempts.add(labels: [tool, finished.outcome])
        if finished.isAmbiguous { ambiguous.add(labels: [tool]) }
        switch finished.next {
        case .retry: retries.add(labels: [tool])
        case .end(let outcome):
            effects.add(labels: [tool, outcome.word])
            let waited = finished.lease.startedAt - finished.lease.request.requestedAt
            effectSeconds.observe(max(.zero, waited + took), labels: [tool])
        }
    }
}
