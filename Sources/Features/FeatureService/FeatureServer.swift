package import Configuration
internal import FeatureLedger
internal import HTTPServer
internal import Locks
internal import Postgres
package import Reactor
package import Telemetry
package import TimeZones

/// The whole service in one process: what `feature-server serve` runs, and the tests too.
package final class FeatureServer: Sendable {
    /// Where a started service listens.
    package struct Addresses: Sendable, Hashable {
        /// For apps.
        package let port: UInt16
        /// For health and metrics.
        package let adminPort: UInt16
    }

    private struct State {
        var isDraining = false
        var listener: HTTPListener?
        var admin: HTTPListener?
    }

    private let settings: FeatureSettings
    private let loop: EventLoop
    private let log: Log
    private let metrics: Metrics
    private let pool: PostgresPool
    private let endpoints: FeatureEndpoints
    private let state = Guarded(State())

    /// Prepares everything and starts nothing.
    ///
    /// - Throws: when a root certificate's file cannot be read.
    package init(
        settings: FeatureSettings, loop: EventLoop, log: Log, metrics: Metrics = Metrics(),
        clock: @escaping @Sendable () -> Instant
    ) throws(BoundedFile.Failure) {
        self.settings = settings
        self.loop = loop
        self.log = log
        self.metrics = metrics
        var roots: [[UInt8]]?
        if let files = settings.appStore.rootFiles {
            var read: [[UInt8]] = []
            for file in files { read.append(try BoundedFile.read(file, limit: 65_536)) }
            roots = read
        }
        pool = PostgresPool(
            settings: settings.database.postgres(applicationName: "feature-server"),
            size: settings.database.pool, loop: loop)
        endpoints = FeatureEndpoints(
            ledger: LedgerStore(pool: pool, catalogues: CatalogueStore(pool: pool)),
            keys: settings.keys,
            judge: PurchaseJudge(bundleIDs: settings.appStore.bundleIDs, roots: roots),
            mostInFlight: settings.mostInFlight, metrics: FeatureMetrics(metrics), log: log,
            nowMilliseconds: { clock().milliseconds })
        metrics.addProcessGauges()
    }

    /// Checks the schema and binds the listeners.
    ///
    /// - Throws: ``FeatureServerError``, the database's or the listener's error; nothing is left running.
    package func start() async throws -> Addresses {
        try await checkSchema()
        let admin = HTTPListener(loop: loop, address: settings.listen.admin) { [self] request in
            await answerAdmin(request)
        }
        let adminPort = try admin.start()
        let listener = makeListener()
        do {
            let port = try listener.start()
            state.withLock { state in
                state.listener = listener
                state.admin = admin
            }
            return Addresses(port: port, adminPort: adminPort)
        } catch {
            await admin.drain(within: .zero)
            throw error
        }
    }

    private func makeListener() -> HTTPListener {
        var limits = HTTPLimits()
        limits.maximumBody = settings.listen.maximumBody
        limits.maximumConnections = settings.listen.maximumConnections
        limits.handlerTimeout = .seconds(30)
        var tls: HTTPTLS?
        if let certificate = settings.listen.certificateFile, let key = settings.listen.keyFile {
            tls = HTTPTLS(certificateFile: certificate, keyFile: key)
        }
        let endpoints = endpoints
        return HTTPListener(
            loop: loop, address: settings.listen.address, limits: limits, tls: tls,
            trustedProxies: settings.listen.trustedProxies,
            onRefusal: { refusal, _ in endpoints.note(refusal) },
            decideEarly: { endpoints.decideEarly($0) },
            handler: { await endpoints.answer($0) })
    }

    /// How long ``drain()`` takes at the most where nothing hangs.
    package var longestDrain: Duration { settings.shutdownGrace + .seconds(15) }

    /// Stops accepting, answers what is under way within the grace, and closes everything. A decision that
    /// nobody heard is kept under its operation id.
    package func drain() async {
        let (listener, admin) = state.withLock { state in
            state.isDraining = true
            return (state.listener, state.admin)
        }
        await listener?.drain(within: settings.shutdownGrace)
        await admin?.drain(within: .milliseconds(200))
        await pool.close()
    }

    // MARK: Health

    private func answerAdmin(_ request: HTTPRequest) async -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            var response = HTTPResponse.text(405, "Only GET is answered here.\n")
            response.headers.append(HTTPField("Allow", "GET, HEAD"))
            return response
        }
        switch request.path {
        case "/healthz": return .text(200, "alive\n")
        case "/readyz":
            guard let reason = await reasonNotReady() else { return .text(200, "ready\n") }
            return .text(503, "not ready: \(reason)\n")
        case "/metrics":
            return HTTPResponse(
                status: 200,
                headers: [
                    HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                ], body: Array(metrics.text().utf8))
        default: return .text(404, "There are /healthz, /readyz and /metrics.\n")
        }
    }

    private func reasonNotReady() async -> String? {
        if state.withLock({ $0.isDraining }) { return "draining" }
        do {
            try await checkSchema()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// One step ahead is admitted: old and new servers run side by side during an upgrade.
    private func checkSchema() async throws {
        let status = try await FeatureSchema.migrator.status(
            settings.database.direct(applicationName: "feature-server"), on: loop)
        if !status.pending.isEmpty {
            throw FeatureServerError(
                sentence: "the schema features is at version \(status.current) and this program "
                    + "needs \(status.newest); run feature-server migrate up")
        }
        if status.current > status.newest + 1 {
            throw FeatureServerError(
                sentence: "the schema features is at version \(status.current), more than one step "
                    + "ahead of this program's \(status.newest); run the newer program")
        }
    }
}

/// Why the service does not start, with the next step.
package struct FeatureServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence.
    package let sentence: String
    package var description: String { sentence }
}
