internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Telemetry
internal import WorkflowDefinitions

/// What the worker counts.
struct WorkerMetrics: Sendable {
    let turns: Counter
    let turnFailures: Counter
    let inputs: Counter
    let routed: Counter
    let unassigned: Counter
    let batchSeconds: Histogram
    private let events: Counter
    private let counts: Counter
    private let requested: Counter

    init(_ metrics: Metrics) {
        turns = metrics.counter("journey_turns_total", help: "Turns written.")
        turnFailures = metrics.counter(
            "journey_turn_failures_total", help: "Rounds that the database did not let through.")
        inputs = metrics.counter("journey_inputs_total", help: "Inputs taken by turns.")
        routed = metrics.counter("journey_routed_total", help: "Inputs given to a customer.")
        unassigned = metrics.counter(
            "journey_unassigned_total", help: "Inputs without a usable customer id.")
        batchSeconds = metrics.histogram(
            "journey_turn_batch_seconds", help: "Time of one batch of turns, the commit included.")
        events = metrics.counter(
            "journey_events_total", help: "Events by name.", labels: ["name"])
        counts = metrics.counter(
            "journey_counts_total",
            help: "What did not happen, or ended, by cause.",
            labels: ["name", "workflow", "cause"])
        requested = metrics.counter(
            "journey_effects_requested_total", help: "Effects requested by tool.",
            labels: ["tool"])
    }

    /// Counts a decided turn; one that the database then refuses is counted again when it is retried.
    func note(_ result: TurnResult) {
        for event in result.events { events.add(labels: [event.event.name]) }
        for (count, amount) in result.counts {
            counts.add(
                Double(amount),
                labels: [count.name.rawValue, count.workflow?.text ?? "", count.cause])
        }
        for request in result.requests { requested.add(labels: [request.tool.rawValue]) }
    }
}
