internal import Crypto
internal import JourneyModel
internal import JourneyStorage
internal import JourneyWorker
internal import Postgres
internal import Reactor
internal import Telemetry
internal import WorkflowDefinitions

/// Inputs a second that the role `worker` routes, decides and writes, from an inbox that is full.
struct TurnsMeasure: Sendable {
    let world: BenchWorld
    let options: BenchOptions

    private static let database = "bench_turns"

    func run(_ judge: Judge) async throws -> [Outcome] {
        let floorDatabase = Self.database + "_floor"
        try await world.makeDatabase(floorDatabase)
        let floor = try await ClaimFloor.make(
            world.settings(database: floorDatabase), of: world, rows: options.deliveries)
        return try await judge.decide(
            Comparison(
                measure: .turns, connections: nil, floors: [floor.contender],
                product: Contender(name: "turns") { _ in try await drainOnce() }))
    }

    /// Fills a fresh database and times how long the worker takes to empty its inbox.
    private func drainOnce() async throws -> Sample {
        try await world.makeDatabase(Self.database)
        let sample: Sample
        do {
            let pool = PostgresPool(
                settings: world.settings(database: Self.database), size: 2, loop: world.loop)
            try await fill(pool)
            sample = try await world.metered { try await drain(pool) }
            await pool.close()
        } catch {
            try await world.dropDatabase(Self.database)
            throw error
        }
        try await world.dropDatabase(Self.database)
        return sample
    }

    private func fill(_ pool: PostgresPool) async throws {
        let workflow = WorkflowParser.read(
            Array(Self.workflow.utf8), file: "bench.json", events: EventDeclarations())
        guard let published = workflow.published else {
            throw BenchFailure(
                description: "the bench's workflow is refused: \(workflow.diagnostics)")
        }
        _ = try await DefinitionStore(pool: pool).publish(
            [published], by: "journey-bench", reason: "measured")
        let template = WebhookTemplate.revenueCat(secret: "")
        let store = DeliveryStore(pool: pool)
        for start in stride(from: 0, to: options.deliveries, by: DeliveryStore.batchLimit) {
            let end = min(start + DeliveryStore.batchLimit, options.deliveries)
            _ = try await store.store(
                (start..<end).map { number in
                    let id = WebhookTemplate.eventID(run: "00000000", number: number)
                    let person = WebhookTemplate.personID(number % options.customers)
                    let body = template.body(id: id, person: person)
                    return ArrivedDelivery(
                        connector: "revenuecat", providerEventID: id,
                        content: .body(body, digest: SHA256.digest(body)),
                        environment: "production", person: .init(id: person),
                        occurredAt: systemClock())
                })
        }
    }

    private func drain(_ pool: PostgresPool) async throws -> Sample {
        let metrics = Metrics()
        let service = WorkerService(
            settings: try ProductSettings().worker(database: Self.database, of: world.cluster),
            roles: .worker, loop: world.loop, log: ProductSettings.log, metrics: metrics,
            clock: systemClock)
        let began = ContinuousClock.now
        _ = try await service.start()
        while try await pool.query(Self.looking).only().bool("is_left") {
            guard ContinuousClock.now - began < .seconds(300) else {
                throw BenchFailure(description: "the inbox was not emptied within five minutes")
            }
            try await world.loop.sleep(for: .milliseconds(10))
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        await service.drain()
        let row = try await pool.query(Self.counting).only()
        let (events, unfit) = (try row.int64("events"), try row.int64("unfit"))
        guard events == Int64(options.deliveries), unfit == 0 else {
            throw BenchFailure(
                description: "\(options.deliveries) deliveries became \(events) events and "
                    + "\(unfit) failed: the numbers of this run are void")
        }
        return Sample(
            operations: options.deliveries, seconds: seconds,
            figures: [
                "turns_per_second": Self.count("journey_turns_total", in: metrics) / seconds,
                "runs_started_per_second": Double(try row.int64("runs")) / seconds,
            ])
    }

    private static func count(_ name: String, in metrics: Metrics) -> Double {
        metrics.text().split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
    }

    /// The first of each customer's events starts a run that then waits.
    private static let workflow = """
        {"dsl": 1, "id": "bench", "kind": "journey", "environments": ["production"],
         "entry": {"trigger": {"event": "trial.started"}, "key": "subscription", "reentry": "one_time"},
         "start": "wait",
         "steps": {"wait": {"type": "delay", "for": "P1D", "next": "end"}}}
        """

    private static let looking = SQLStatement(
        "bench_turns_left", "select exists (select from journey.inbox) as is_left")

    private static let counting = SQLStatement(
        "bench_turns_count",
        """
        select (select count(*) from journey.events) as events,
            (select count(*) from journey.runs) as runs,
            (select count(*) from journey.set_aside) + (select count(*) from journey.unassigned) as unfit
        """, timeout: .seconds(60))
}
