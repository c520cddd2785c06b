package import HTTPServer
package import Telemetry

/// Health and metrics, on a listener of their own.
package final class AdminService: Sendable {
    /// What `/readyz` asks: a sentence that says why not, or nil when ready.
    package typealias ReadinessCheck = @Sendable () async -> String?

    private let metrics: Metrics
    private let readiness: ReadinessCheck
    /// Whether this process sends nothing, which `/readyz` says.
    private let holdsEffects: Bool
    /// Whether something reads features and there are none to read, which `/readyz` says too.
    private let isWithoutFeatures: @Sendable () -> Bool
    /// Called before metrics are printed, for values that are read from the database.
    private let refresh: @Sendable () async -> Void

    package init(
        metrics: Metrics, holdsEffects: Bool = false,
        isWithoutFeatures: @escaping @Sendable () -> Bool = { false },
        readiness: @escaping ReadinessCheck,
        refresh: @escaping @Sendable () async -> Void = {}
    ) {
        self.metrics = metrics
        self.readiness = readiness
        self.holdsEffects = holdsEffects
        self.isWithoutFeatures = isWithoutFeatures
        self.refresh = refresh
    }

    /// Answers `/healthz`, `/readyz` and `/metrics`.
    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            var response = HTTPResponse.text(405, "Only GET is answered here.\n")
            response.headers.append(HTTPField("Allow", "GET, HEAD"))
            return response
        }
        switch request.path {
        case "/healthz": return .text(200, "alive\n")
        case "/readyz":
            guard let reason = await readiness() else {
                var words = ["ready"]
                if holdsEffects { words.append("effects are held") }
                if isWithoutFeatures() { words.append("features are unknown") }
                return .text(200, words.joined(separator: ", ") + "\n")
            }
            return .text(503, "not ready: \(reason)\n")
        case "/metrics":
            await refresh()
            return HTTPResponse(
                status: 200,
                headers: [
                    HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                ], body: Array(metrics.text().utf8))
        default: return .text(404, "There are /healthz, /readyz and /metrics.\n")
        }
    }
}
