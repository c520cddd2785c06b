internal import Crypto
internal import EventIngest
internal import JourneyModel
internal import JourneyStorage
internal import Postgres
internal import Settings
internal import Telemetry
internal import TimeZones
internal import WebhookIngest

// The app's own requests, put together from the settings and the stores.

extension EventService {
    convenience init(
        settings: WorkerSettings, pool: PostgresPool, definitions: DefinitionCache,
        commit: GroupCommit, log: Log, metrics: Metrics, clock: @escaping @Sendable () -> Instant,
        onStored: @escaping @Sendable () -> Void
    ) {
        let deliveries = DeliveryStore(pool: pool)
        let look = LookStore(pool: pool)
        let runs = RunRequests(pool: pool, definitions: definitions)
        self.init(
            sources: settings.eventSources,
            doors: Doors(
                store: { try await commit.commit($0) },
                storeInOrder: { arrivals in
                    var tries = 0
                    while true {
                        do {
                            return try await deliveries.store(arrivals)
                        } catch let error as PostgresError where error.isRetryable && tries < 3 {
                            tries += 1
                        }
                    }
                },
                customer: { id, environment, app in
                    try await look.customer(id, environment: environment, app: app)
                }, start: { try await runs.start($0) }, cancel: { try await runs.cancel($0) },
                onStored: onStored),
            largestBody: settings.listen.maximumBody, log: log, metrics: metrics, clock: clock,
            makeID: {
                randomBytes(16).map { byte in
                    let digits = String(byte, radix: 16)
                    return digits.count == 1 ? "0" + digits : digits
                }.joined()
            })
    }
}

extension WorkerSettings {
    /// `sources`, as the requests are judged by.
    var eventSources: [String: Source] {
        sources.mapValues { settings in
            switch settings.access {
            case .tokens(let tokens):
                Source(
                    name: settings.name, trust: .source, keys: tokens,
                    environment: settings.environment, app: settings.app)
            case .publicKey(let key):
                Source(
                    name: settings.name, trust: .client, keys: [key],
                    environment: settings.environment, app: settings.app)
            }
        }
    }
}
