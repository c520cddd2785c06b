internal import Connectors
internal import EffectDispatch
internal import EventIngest
package import HTTPServer
internal import JourneyStorage
internal import Locks
internal import Postgres
package import Reactor
package import Settings
package import Telemetry
package import TimeZones
internal import WebhookIngest
internal import WorkflowDefinitions

/// The whole worker in one process, by its roles: what `serve` and `dev` run, and the tests too.
package final class WorkerService: Sendable {
    /// Where a started service listens.
    package struct Addresses: Sendable, Hashable {
        /// Nil without the role `ingest`.
        package var ingestPort: UInt16?
        package var adminPort: UInt16
    }

    private struct State {
        var loops: [Task<Void, Never>] = []
        var housekeeping: Task<Void, Never>?
        /// Ended by cancellation, since it waits for others.
        var hearing: Task<Void, Never>?
        var refreshing: Task<Void, Never>?
        var retention: Task<Void, Never>?
        var telling: Task<Void, Never>?
        var ingest: HTTPListener?
        var admin: HTTPListener?
    }

    let settings: WorkerSettings
    let roles: Roles
    let holdsEffects: Bool
    let loop: EventLoop
    let log: Log
    let metrics: Metrics
    private let refusals: Counter
    private let limits: HTTPLimits
    let clock: @Sendable () -> Instant
    let pool: PostgresPool
    let connectors: Guarded<[String: Connector]>
    /// How long each may be silent.
    let silences: Guarded<[String: Duration]>
    let wakeTurns: WakeSignal
    private let wakeDispatch: WakeSignal
    let webhooks: WebhookService
    private let events: EventService
    let dispatcher: Dispatcher
    private let gauges: StorageGauges
    private let definitions: DefinitionCache
    /// Nil without the role `worker`.
    private let features: FeatureSide?
    private let missesFeatures = Guarded(false)
    private let zones: TimeZoneSet
    private let workerMetrics: WorkerMetrics
    private let relay: WakeRelay
    private let beat: ProcessBeat
    let stop = StopFlag()
    private let state = Guarded(State())

    /// Prepares everything and starts nothing.
    ///
    /// - Parameters:
    ///   - holdsEffects: takes turns and sends nothing, as after a restore: effects wait for a process
    ///     that does not hold them.
    ///   - limits: bounds of the webhook endpoint; those that the settings name are taken from there.
    ///   - clock: for the log, and for the time in a signature's header.
    package init(
        settings: WorkerSettings, roles: Roles = .all, holdsEffects: Bool = false,
        loop: EventLoop, log: Log,
        metrics: Metrics = Metrics(), limits: HTTPLimits = HTTPLimits(),
        clock: @escaping @Sendable () -> Instant
    ) {
        self.settings = settings
        self.roles = roles
        self.holdsEffects = holdsEffects
        self.loop = loop
        self.log = log
        self.metrics = metrics
        self.clock = clock
        self.limits = limits
        features =
            roles.contains(.worker)
            ? FeatureSide(settings: settings, loop: loop, log: log) : nil
        // Some six hundred small files: read once, by who takes turns.
        let tzdata = roles.contains(.worker) ? try? TimeZoneDatabase() : nil
        zones = tzdata?.everyZone() ?? .utcOnly
        refusals = metrics.counter(
            "journey_http_refusals_total",
            help: "Webhook requests and connections that the HTTP server itself refused, by cause.",
            labels: ["cause"])
        connectors = Guarded(settings.connectors)
        silences = Guarded(settings.silences)
        let pool = PostgresPool(
            settings: settings.database.postgres(
                applicationName: holdsEffects ? JourneySchema.holdingName : "journey-worker"),
            size: settings.database.pool, loop: loop)
        self.pool = pool
        let wakeTurns = WakeSignal(loop: loop)
        self.wakeTurns = wakeTurns
        wakeDispatch = WakeSignal(loop: loop)
        let stop = stop
        let relay = WakeRelay(
            pool: pool, direct: settings.database.direct(applicationName: "journey-worker"),
            loop: loop, isStopping: { stop.isRaised })
        self.relay = relay
        // Who has no turns of its own wakes those who have.
        let hasTurns = roles.contains(.worker)
        let onInput: @Sendable () -> Void = {
            if hasTurns { wakeTurns.raise() } else { relay.tell(.turns) }
        }
        let deliveries = DeliveryStore(pool: pool)
        let commit = GroupCommit(loop: loop) { try await deliveries.store($0) }
        webhooks = WebhookService(
            connectors: settings.connectors, commit: commit, log: log, metrics: metrics,
            clock: clock, onStored: onInput)
        definitions = DefinitionCache(
            readSegment: { try WorkflowParser.loadSegment(canonical: $0).definition },
            read: { try WorkflowParser.load(canonical: $0).definition })
        events = EventService(
            settings: settings, pool: pool, definitions: definitions, commit: commit, log: log,
            metrics: metrics, clock: clock, onStored: onInput)
        dispatcher = Dispatcher(
            store: EffectStore(pool: pool, opening: WindowOpenings.opening),
            accounts: settings.accountsServed,
            concurrency: settings.dispatch.concurrency, isHeld: holdsEffects,
            poll: settings.worker.poll,
            wake: wakeDispatch, loop: loop, log: log, metrics: metrics, clock: clock,
            onFinished: onInput)
        beat = ProcessBeat(
            roles: roles, settings: settings, holdsEffects: holdsEffects, dispatcher: dispatcher,
            store: ProcessStore(pool: pool), loop: loop, log: log, clock: clock)
        gauges = StorageGauges(
            store: BacklogStore(pool: pool), pool: pool, metrics: metrics, log: log)
        workerMetrics = WorkerMetrics(metrics)
        metrics.addProcessGauges()
    }

    // MARK: Life

    /// Checks the schema, binds the listeners and starts the loops of the roles.
    ///
    /// - Throws: `WorkerStartError` or the listener's error; nothing is then left running.
    package func start() async throws -> Addresses {
        try await checkSchema()
        let admin = HTTPListener(loop: loop, address: settings.listen.admin) { [self] request in
            await adminService.answer(request)
        }
        let adminPort = try admin.start()
        state.withLock { $0.admin = admin }
        var ingestPort: UInt16?
        if roles.contains(.ingest) {
            let ingest = makeIngestListener()
            do throws(HTTPServerError) {
                ingestPort = try ingest.start()
            } catch {
                await admin.drain(within: .zero)
                throw error
            }
            state.withLock { $0.ingest = ingest }
        }
        startLoops()
        return Addresses(ingestPort: ingestPort, adminPort: adminPort)
    }

    private func makeIngestListener() -> HTTPListener {
        var limits = limits
        limits.maximumBody = settings.listen.maximumBody
        limits.maximumConnections = settings.listen.maximumConnections
        let tls: HTTPTLS? =
            if let certificate = settings.listen.certificateFile,
                let key = settings.listen.keyFile
            {
                HTTPTLS(certificateFile: certificate, keyFile: key)
            } else {
                nil
            }
        let webhooks = webhooks
        let events = events
        let refusals = refusals
        return HTTPListener(
            loop: loop, address: settings.listen.ingest, limits: limits, tls: tls,
            trustedProxies: settings.listen.trustedProxies,
            onRefusal: { refusal, _ in refusals.add(labels: [refusal.rawValue]) },
            decideEarly: {
                WebhookService.serves($0) ? webhooks.decideEarly($0) : events.decideEarly($0)
            },
            handler: {
                WebhookService.serves($0.head) ? await webhooks.answer($0) : await events.answer($0)
            })
    }

    private func startLoops() {
        if roles.contains(.ingest) {
            let refreshing = Task(executorPreference: loop.tasks) { await self.watchProviders() }
            state.withLock { $0.refreshing = refreshing }
        }
        if roles.contains(.worker) {
            for _ in 0..<settings.worker.concurrency {
                let turns = makeTurnLoop()
                start { await turns.run() }
            }
            let schedules = makeScheduleLoop()
            start { await schedules.run() }
            let batches = makeBatchLoop()
            start { await batches.run() }
            let retention = makeRetentionLoop()
            let letting = Task(executorPreference: loop.tasks) { await retention.run() }
            state.withLock { $0.retention = letting }
            if let watch = makeFeatureWatch() { start { await watch.run() } }
            let housekeeping = Task(executorPreference: loop.tasks) { await self.keepHouse() }
            state.withLock { $0.housekeeping = housekeeping }
        }
        if roles.contains(.dispatch) {
            let dispatcher = dispatcher
            start { await dispatcher.run() }
        }
        startRelay()
        let beat = beat
        let telling = Task(executorPreference: loop.tasks) { await beat.run() }
        state.withLock { $0.telling = telling }
    }

    private func startRelay() {
        let relay = relay
        if !roles.contains(.worker) { start { await relay.send(.turns) } }
        if roles.contains(.worker), !roles.contains(.dispatch) {
            start { await relay.send(.effects) }
        }
        var heard: [WakeStore.Channel: WakeSignal] = [:]
        if roles.contains(.worker) { heard[.turns] = wakeTurns }
        if roles.contains(.dispatch) { heard[.effects] = wakeDispatch }
        guard !heard.isEmpty else { return }
        let signals = heard
        let hearing = Task(executorPreference: loop.tasks) { await relay.hear(signals) }
        state.withLock { $0.hearing = hearing }
    }

    private func start(_ body: @escaping @Sendable () async -> Void) {
        let task = Task(executorPreference: loop.tasks) { await body() }
        state.withLock { $0.loops.append(task) }
    }

    /// Called when a turn requested effects.
    private var onRequested: @Sendable () -> Void {
        let (wakeDispatch, relay) = (wakeDispatch, relay)
        let hasDispatch = roles.contains(.dispatch)
        return { if hasDispatch { wakeDispatch.raise() } else { relay.tell(.effects) } }
    }

    private func makeTurnLoop() -> TurnLoop {
        TurnLoop(
            routing: RoutingStore(
                pool: pool,
                reading: { [self] connector, id, body, at in
                    subscription(connector, id, body, at)
                }),
            transfers: TransferStore(
                pool: pool, definitions: definitions, features: features?.house.answers),
            merges: MergeStore(
                pool: pool, definitions: definitions, features: features?.house.answers),
            turns: TurnStore(
                pool: pool, definitions: definitions, features: features?.house.answers),
            connectors: { [self] in connectors.withLock { $0 } }, zones: zones,
            defaultZone: settings.timezone, outbound: settings.outbound?.choice, wake: wakeTurns,
            onRequested: onRequested, batch: settings.worker.batch, poll: settings.worker.poll,
            loop: loop, log: log, metrics: workerMetrics, beat: beat,
            isStopping: { [stop] in stop.isRaised })
    }

    private func makeScheduleLoop() -> ScheduleLoop {
        let (pool, definitions, wakeTurns) = (pool, definitions, wakeTurns)
        return ScheduleLoop(
            schedules: ScheduleStore(pool: pool), leases: LeaseStore(pool: pool),
            definitions: { try await DefinitionStore(pool: pool).definitions(in: definitions) },
            zones: zones, defaultZone: settings.timezone,
            holder: "worker-\(UInt64.random(in: .min ... .max))",
            onInput: { wakeTurns.raise() }, pause: stop.makePause(on: loop), log: log,
            isStopping: { [stop] in stop.isRaised })
    }

    private func makeFeatureWatch() -> FeatureWatch? {
        guard let features else { return nil }
        let (pool, definitions, wakeTurns) = (pool, definitions, wakeTurns)
        return FeatureWatch(
            house: features.house, wakes: FeatureWakeStore(pool: pool),
            definitions: { try await DefinitionStore(pool: pool).definitions(in: definitions) },
            onMissed: { [missesFeatures] isMissed in missesFeatures.withLock { $0 = isMissed } },
            onInput: { wakeTurns.raise() }, pause: stop.makePause(on: loop), log: log,
            isStopping: { [stop] in stop.isRaised })
    }

    /// How long ``drain()`` takes at the most where nothing hangs; past it the process may just end.
    package var longestDrain: Duration { settings.shutdownGrace + .seconds(15) }

    /// Stops taking work in, finishes what is under way within the grace, and closes everything.
    ///
    /// What could not be finished is handed back or left to its lease: nothing is lost.
    package func drain() async {
        let end = ContinuousClock.now + settings.shutdownGrace
        stop.raise()
        let (loops, idlers, ingest, admin) = state.withLock { state in
            let idlers = [
                state.housekeeping, state.hearing, state.refreshing, state.retention, state.telling,
            ]
            return (state.loops, idlers.compactMap(\.self), state.ingest, state.admin)
        }
        for task in idlers { task.cancel() }
        relay.wakeAll()
        dispatcher.requestStop()
        for _ in loops { wakeTurns.raise() }
        await ingest?.drain(within: max(.zero, end - .now))
        // Statements have time limits of their own, so a turn under way ends soon in any case.
        for task in loops { await task.value }
        for task in idlers { await task.value }
        await dispatcher.drain(within: max(.zero, end - .now))
        await admin?.drain(within: .milliseconds(200))
        await beat.end()
        await features?.close()
        await pool.close()
    }

    /// Puts other connectors in place and reads the TLS files again, as after SIGHUP.
    package func reload(_ settings: WorkerSettings) {
        connectors.withLock { $0 = settings.connectors }
        silences.withLock { $0 = settings.silences }
        webhooks.reload(settings.connectors)
        events.reload(settings.eventSources)
        guard self.settings.listen.certificateFile != nil,
            let ingest = state.withLock({ $0.ingest })
        else { return }
        do throws(HTTPServerError) {
            try ingest.reloadTLS()
        } catch {
            log.error(
                "the TLS files cannot be used; the old certificate stays",
                ["reason": .text("\(error)")])
        }
    }

    // MARK: Health and housekeeping

    private var adminService: AdminService {
        AdminService(
            metrics: metrics, holdsEffects: holdsEffects,
            isWithoutFeatures: { [missesFeatures] in missesFeatures.withLock { $0 } },
            readiness: { [self] in
                if stop.isRaised { return "draining" }
                do {
                    let standing = try await JourneySchema.standing(pool)
                    if standing.isReadOnly {
                        return "the database takes no writes; point the worker at the primary"
                    }
                    return Self.problem(standing.status)
                } catch {
                    return "\(error)"
                }
            },
            refresh: { [self] in await gauges.refresh() })
    }

    private func checkSchema() async throws {
        let status = try await JourneySchema.migrator.status(directDatabase, on: loop)
        if let problem = Self.problem(status) { throw WorkerStartError(sentence: problem) }
    }

    private var directDatabase: PostgresSettings {
        settings.database.direct(applicationName: "journey-worker")
    }

    /// One step ahead is admitted: old and new workers run side by side during an upgrade.
    private static func problem(_ status: MigrationStatus) -> String? {
        if !status.pending.isEmpty {
            return "the database's schema is at version \(status.current) and this program needs "
                + "\(status.newest); run journey-worker migrate up"
        }
        if status.current > status.newest + 1 {
            return
                "the database's schema is at version \(status.current), more than one step ahead "
                + "of this program's \(status.newest); run the newer program"
        }
        return nil
    }
}
