internal import Telemetry

/// What the dispatcher counts.
struct DispatchMetrics: Sendable {
    private let attempts: Counter
    private let seconds: Histogram

    init(_ metrics: Metrics) {
        attempts = metrics.counter(
            "journey_attempts_total", help: "Attempts of effects by tool and outcome.",
            labels: ["tool", "outcome"])
        seconds = metrics.histogram(
            "journey_attempt_seconds", help: "Time of one attempt by tool.", labels: ["tool"])
    }

    func count(tool: String, outcome: String) { attempts.add(labels: [tool, outcome]) }

    func observe(_ duration: Duration, tool: String) { seconds.observe(duration, labels: [tool]) }
}
