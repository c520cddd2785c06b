internal import Crypto
internal import JourneyWorker
internal import Postgres
internal import Reactor

/// Webhooks a second through the real front door: sockets, signature, one durable insert a group, 200.
struct IngestMeasure: Sendable {
    let world: BenchWorld
    let options: BenchOptions

    private static let database = "bench_ingest"

    func run(_ judge: Judge) async throws -> [Outcome] {
        try await world.makeDatabase(Self.database)
        let product = ProductSettings()
        let service = WorkerService(
            settings: try product.worker(database: Self.database, of: world.cluster),
            roles: .ingest, loop: world.loop, log: ProductSettings.log, clock: systemClock)
        let port = try await service.start().ingestPort ?? 0
        let settings = world.settings(database: Self.database)
        let bodies = (0..<InsertFloor.batch).map { number in
            product.templates[number % 2].body(
                id: WebhookTemplate.eventID(run: "floor000", number: number),
                person: WebhookTemplate.personID(number))
        }
        let floor = try await InsertFloor.make(settings, of: world, bodies: bodies)
        let stored = StoredDeliveries(settings: settings, loop: world.loop)
        try await stored.makePeopleKnown()
        var outcomes: [Outcome] = []
        for senders in options.connections {
            let generator = LoadGenerator(loop: world.loadLoop, templates: product.templates)
            try await generator.open(senders, port: port)
            outcomes += try await judge.decide(
                Comparison(
                    measure: .ingest, connections: senders,
                    floors: [floor.batched, floor.single(senders: senders)],
                    product: frontDoor(generator, stored)))
            await generator.close()
        }
        await service.drain()
        return outcomes
    }

    private func frontDoor(
        _ generator: LoadGenerator, _ stored: StoredDeliveries
    ) -> Contender {
        let world = world
        return Contender(name: "webhooks") { duration in
            // As a worker beside it would: what waits stays little.
            try await stored.emptyInbox()
            let run = Hex.encode(randomBytes(4))
            let sample = try await world.metered {
                try await world.loadLoop.run {
                    try await generator.send(for: duration, run: run)
                }
            }
            try await stored.requireOnce(run: run, count: sample.operations)
            return sample
        }
    }
}
