package import Telemetry

/// What is counted. Labels are of bounded kinds only, never what a client sends.
package struct FeatureMetrics: Sendable {
    let requests: Counter
    let latency: Histogram
    let consumptions: Counter
    let purchases: Counter
    let limited: Counter
    let httpRefusals: Counter

    /// Registers everything.
    package init(_ metrics: Metrics) {
        requests = metrics.counter(
            "feature_requests_total", help: "Requests by endpoint and status.",
            labels: ["endpoint", "status"])
        latency = metrics.histogram(
            "feature_request_seconds", help: "From the whole request to its answer, by endpoint.",
            labels: ["endpoint"])
        consumptions = metrics.counter(
            "feature_consumptions_total",
            help: "Consumptions by code; replay is yes for decisions made earlier.",
            labels: ["code", "replay"])
        purchases = metrics.counter(
            "feature_purchases_total",
            help: "Signed transactions by what became of them: taken, or why refused.",
            labels: ["result"])
        limited = metrics.counter(
            "feature_rate_limited_total", help: "Requests past a key's rate, by the key's name.",
            labels: ["key"])
        httpRefusals = metrics.counter(
            "feature_http_refusals_total",
            help: "Requests and connections that the HTTP server itself refused, by cause.",
            labels: ["cause"])
    }
}
