internal import Telemetry

/// What the endpoint counts.
struct IngestMetrics: Sendable {
    private let deliveries: Counter
    private let latency: Histogram

    init(_ metrics: Metrics) {
        deliveries = metrics.counter(
            "journey_deliveries_total", help: "Webhook requests by connector and result.",
            labels: ["connector", "result"])
        latency = metrics.histogram(
            "journey_ingest_seconds",
            help: "Time from a webhook's last byte to its answer, the commit included.")
    }

    func count(connector: String, result: String) { deliveries.add(labels: [connector, result]) }

    func observe(_ duration: Duration) { latency.observe(duration) }
}
