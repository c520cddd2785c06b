internal import Telemetry

/// What the app's own requests came to.
struct EventIngestMetrics: Sendable {
    private let items: Counter

    init(_ metrics: Metrics) {
        items = metrics.counter(
            "journey_app_events_total",
            help: "Events and updates of the app's own, by source and result.",
            labels: ["source", "result"])
    }

    func count(source: String, result: String) { items.add(labels: [source, result]) }
}
