internal import JourneyStorage
internal import Locks
internal import Postgres
internal import Reactor
internal import Telemetry
internal import TimeZones
internal import WebhookIngest

/// Notices connectors that used to deliver and are silent for longer than expected: a metric, and one line
/// in the log of one process.
struct SilenceWatch: Sendable {
    let store: ConnectorActivityStore
    /// The newest delivery of each connector since the last call.
    let arrivals: @Sendable () -> [String: Instant]
    /// How long each configured connector may be silent, asked at each look.
    let silences: @Sendable () -> [String: Duration]
    let silent: Gauge
    let age: Gauge
    let loop: EventLoop
    let log: Log

    static let pause = Duration.seconds(10)

    init(
        store: ConnectorActivityStore, metrics: Metrics, loop: EventLoop, log: Log,
        arrivals: @escaping @Sendable () -> [String: Instant],
        silences: @escaping @Sendable () -> [String: Duration]
    ) {
        self.store = store
        self.loop = loop
        self.log = log
        self.arrivals = arrivals
        self.silences = silences
        silent = metrics.gauge(
            "journey_connector_silent",
            help: "1 for a connector that used to deliver and is silent for longer than expected.",
            labels: ["connector"])
        age = metrics.gauge(
            "journey_connector_last_delivery_seconds",
            help: "Time since a connector's last delivery.", labels: ["connector"])
    }

    /// Runs until its task is cancelled.
    func run() async {
        var unwritten: [String: Instant] = [:]
        while !Task.isCancelled {
            unwritten.merge(arrivals()) { max($0, $1) }
            do throws(PostgresError) {
                try await look(unwritten)
                unwritten = [:]
            } catch {
                if Task.isCancelled { return }
                log.debug(
                    "when connectors last delivered could not be written; trying again",
                    ["reason": .text("\(error)")])
            }
            do { try await loop.sleep(for: Self.pause) } catch { return }
        }
    }

    private func look(_ arrived: [String: Instant]) async throws(PostgresError) {
        let expected = silences()
        let report = try await store.note(arrived, silences: expected)
        for activity in report.activities {
            guard expected[activity.connector] != nil else { continue }
            silent.set(activity.isSilent ? 1 : 0, labels: [activity.connector])
            age.set(
                max(0, (activity.now - activity.lastAt) / .seconds(1)),
                labels: [activity.connector])
            if report.fellSilent.contains(activity.connector) {
                log.warning(
                    "a connector is silent for longer than expected; look at the provider's own list of "
                        + "deliveries and at the address it sends to",
                    [
                        "connector": .text(activity.connector),
                        "last_delivery": .text(activity.lastAt.description),
                    ])
            }
        }
        for connector in report.spokeAgain {
            log.info(
                "a connector that was silent delivers again", ["connector": .text(connector)])
        }
    }
}

extension WorkerService {
    /// What concerns providers besides their requests: issuers' keys, and who has fallen silent.
    func watchProviders() async {
        let webhooks = webhooks
        let silence = SilenceWatch(
            store: ConnectorActivityStore(pool: pool), metrics: metrics, loop: loop, log: log,
            arrivals: { webhooks.takeArrivals() },
            silences: { [self] in silences.withLock { $0 } })
        await withTaskGroup { group in
            group.addTask { await self.refreshKeys() }
            group.addTask(executorPreference: loop.tasks) { await silence.run() }
        }
    }
}
