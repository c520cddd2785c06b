import Synchronization
import Telemetry
import Testing

@Suite struct MetricsTests {
    @Test func `the text is Prometheus' own format`() {
        let metrics = Metrics()
        let total = metrics.counter(
            "deliveries_total", help: "Deliveries\nby \\ result.", labels: ["connector", "result"])
        let depth = metrics.gauge("queue_depth", help: "Waiting.")
        metrics.gauge("pool_in_use", help: "In use.", labels: ["pool"]) {
            [Metrics.Reading(2.5, labels: ["a"]), Metrics.Reading(.infinity, labels: ["b"])]
        }
        let latency = metrics.histogram(
            "latency_seconds", help: "How long.", labels: ["route"], buckets: [0.1, 1])
        total.add(labels: ["b", "ok"])
        total.add(2, labels: ["a\"\\\n", "é"])
        depth.set(-3)
        latency.observe(0.1, labels: ["/"])
        latency.observe(.milliseconds(500), labels: ["/"])
        latency.observe(7, labels: ["/"])
        latency.observe(.nan, labels: ["/"])
        #expect(
            metrics.text() == #"""
                # HELP deliveries_total Deliveries\nby \\ result.
                # TYPE deliveries_total counter
                deliveries_total{connector="a\"\\\n",result="é"} 2
                deliveries_total{connector="b",result="ok"} 1
                # HELP queue_depth Waiting.
                # TYPE queue_depth gauge
                queue_depth -3
                # HELP pool_in_use In use.
                # TYPE pool_in_use gauge
                pool_in_use{pool="a"} 2.5
                pool_in_use{pool="b"} +Inf
                # HELP latency_seconds How long.
                # TYPE latency_seconds histogram
                latency_seconds_bucket{route="/",le="0.1"} 1
                latency_seconds_bucket{route="/",le="1"} 2
                latency_seconds_bucket{route="/",le="+Inf"} 3
                latency_seconds_sum{route="/"} 7.6
                latency_seconds_count{route="/"} 3

                """#)
        #expect(total.value(labels: ["b", "ok"]) == 1)
        #expect(latency.count(labels: ["/"]) == 3)
        #expect(metrics.text() == metrics.text())
    }

    @Test func `a metric without labels shows zero from the start`() {
        let metrics = Metrics()
        let total = metrics.counter("a_total", help: "A.")
        _ = metrics.histogram("b_seconds", help: "B.", buckets: Histogram.latencySeconds)
        #expect(metrics.text().contains("a_total 0\n"))
        #expect(metrics.text().contains("b_seconds_bucket{le=\"0.0025\"} 0\n"))
        #expect(metrics.text().contains("b_seconds_count 0\n"))
        #expect(total.value() == 0)
    }

    @Test func `past the bound label values share one series`() {
        let metrics = Metrics()
        let total = metrics.counter("a_total", help: "A.", labels: ["id", "kind"])
        for number in 0..<1_500 { total.add(labels: ["\(number)", "k"]) }
        total.add(labels: ["3", "k"])
        #expect(total.value(labels: ["other", "other"]) == 500)
        #expect(total.value(labels: ["3", "k"]) == 2)
        #expect(total.value(labels: ["1400", "k"]) == 0)
        #expect(metrics.text().split(separator: "\n").count == 2 + 1_001)
    }

    @Test func `a gauge's series can be forgotten`() {
        let metrics = Metrics()
        let gauge = metrics.gauge("g", help: "G.", labels: ["x"])
        gauge.set(1, labels: ["a"])
        gauge.add(-0.5, labels: ["a"])
        #expect(gauge.value(labels: ["a"]) == 0.5)
        gauge.remove(labels: ["a"])
        #expect(!metrics.text().contains("g{"))
    }

    @Test func `counts from many tasks are all there`() async {
        let metrics = Metrics()
        let total = metrics.counter("a_total", help: "A.", labels: ["x"])
        let spread = metrics.histogram("b_seconds", help: "B.", buckets: [1, 2])
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<1_000 {
                        total.add(labels: ["\(task % 2)"])
                        spread.observe(Double(number % 3))
                        if number % 100 == 0 { _ = metrics.text() }
                    }
                }
            }
        }
        #expect(total.value(labels: ["0"]) + total.value(labels: ["1"]) == 8_000)
        #expect(spread.count() == 8_000)
    }

    @Test func `the process's own numbers are read when asked`() {
        let metrics = Metrics()
        metrics.addProcessGauges()
        let lines = metrics.text().split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { !$0.hasSuffix(" 0") })
    }

    @Test func `a bad name or a second metric of a name is a wrong program`() async {
        await #expect(processExitsWith: .failure) { _ = Metrics().counter("bad name", help: "") }
        await #expect(processExitsWith: .failure) {
            let metrics = Metrics()
            _ = metrics.gauge("a", help: "")
            _ = metrics.gauge("a", help: "")
        }
        await #expect(processExitsWith: .failure) {
            Metrics().counter("a_total", help: "", labels: ["x"]).add()
        }
        await #expect(processExitsWith: .failure) {
            _ = Metrics().histogram("a", help: "", buckets: [2, 1])
        }
    }
}
