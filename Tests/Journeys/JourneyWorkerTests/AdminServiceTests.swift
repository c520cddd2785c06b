import HTTPServer
import JourneyWorker
import Synchronization
import Telemetry
import Testing

/// Health and metrics, apart from the worker they tell of.
@Suite struct AdminServiceTests {
    private func answer(
        _ path: String, method: String = "GET", reason: String? = nil,
        metrics: Metrics = Metrics(), refresh: @escaping @Sendable () async -> Void = {}
    ) async -> HTTPResponse {
        let service = AdminService(
            metrics: metrics, readiness: { reason }, refresh: refresh)
        return await service.answer(HTTPRequest(method: method, target: path))
    }

    private func text(_ response: HTTPResponse) -> String {
        String(decoding: response.body, as: UTF8.self)
    }

    @Test func `healthz says alive, whatever readyz says`() async {
        let response = await answer("/healthz", reason: "draining")
        #expect(response.status == 200)
        #expect(text(response) == "alive\n")
    }

    @Test func `readyz says why not`() async {
        #expect(await answer("/readyz").status == 200)
        let response = await answer("/readyz", reason: "the database is away")
        #expect(response.status == 503)
        #expect(text(response) == "not ready: the database is away\n")
    }

    @Test func `metrics are refreshed before they are printed`() async {
        let metrics = Metrics()
        let gauge = metrics.gauge("test_gauge", help: "A gauge.")
        let response = await answer("/metrics", metrics: metrics) { gauge.set(7) }
        #expect(response.status == 200)
        #expect(text(response).contains("test_gauge 7\n"))
        #expect(response.headers.first?.value.hasPrefix("text/plain; version=0.0.4") == true)
    }

    @Test(arguments: ["POST", "PUT", "DELETE"])
    func `only GET and HEAD are answered`(method: String) async {
        let response = await answer("/metrics", method: method)
        #expect(response.status == 405)
        #expect(response.headers.contains { $0.isNamed("Allow") })
        #expect(await answer("/healthz", method: "HEAD").status == 200)
    }

    @Test(arguments: ["/", "/health", "/metrics/", "/v1/webhooks/x"])
    func `another path is 404`(path: String) async {
        #expect(await answer(path).status == 404)
    }
}

/// `--role`.
@Suite struct RolesTests {
    @Test(
        arguments: [
            ("ingest", .ingest), ("worker,dispatch", [.worker, .dispatch]),
            ("dispatch,ingest,worker", .all), ("", nil), (",", nil), ("ingest,", .ingest),
            ("all", nil), ("Ingest", nil), ("ingest worker", nil),
        ] as [(String, WorkerService.Roles?)])
    func `roles are read from words`(words: String, roles: WorkerService.Roles?) {
        #expect(WorkerService.Roles(words: words) == roles)
    }
}
