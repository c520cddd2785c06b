internal import Configuration
internal import FeatureLedger
internal import FeatureModel
internal import FeatureService
internal import JSON
internal import Postgres
internal import PrivateCluster
internal import Reactor

/// "May this customer use this feature?" through the real front door, beside bare reads of the same rows.
struct FeaturesMeasure: Sendable {
    let world: BenchWorld
    let options: BenchOptions

    private static let database = "bench_features"
    private static let key = "pk_live_bench"
    /// Of the service, and of the floor.
    private static let connections = 8
    /// Customers that are asked about by turns.
    private static let customers = 1_000

    func run(_ judge: Judge) async throws -> [Outcome] {
        try await world.makeDatabase(Self.database)
        let settings = world.settings(database: Self.database)
        _ = try await FeatureSchema.migrator.up(settings, on: world.loop)
        try await fill(settings)
        let server = try FeatureServer(
            settings: try configuration(), loop: world.loop, log: ProductSettings.log,
            clock: systemClock)
        let port = try await server.start().port
        let floorPool = PostgresPool(
            settings: settings, size: Self.connections, loop: world.loop)
        let requests = Self.requests()
        var outcomes: [Outcome] = []
        for senders in options.connections {
            let generator = LoadGenerator(loop: world.loadLoop) { _, number, _ in
                requests[number % requests.count]
            }
            try await generator.open(senders, port: port)
            outcomes += try await judge.decide(
                Comparison(
                    measure: .features, connections: senders,
                    floors: [bareReads(floorPool, senders: senders)],
                    product: questions(generator)))
            await generator.close()
        }
        await floorPool.close()
        await server.drain()
        return outcomes
    }

    // MARK: Contenders

    private func questions(_ generator: LoadGenerator) -> Contender {
        let world = world
        return Contender(name: "entitled") { duration in
            try await world.metered {
                try await world.loadLoop.run {
                    try await generator.send(for: duration, run: "features")
                }
            }
        }
    }

    private func bareReads(_ pool: PostgresPool, senders: Int) -> Contender {
        let world = world
        return Contender(name: "select of the row") { duration in
            try await world.metered {
                try await world.loop.run { try await Self.read(pool, senders, for: duration) }
            }
        }
    }

    private static func read(
        _ pool: PostgresPool, _ senders: Int, for duration: Duration
    ) async throws -> Sample {
        let began = ContinuousClock.now
        let latencies = try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for sender in 0..<senders {
                group.addTask {
                    var latencies: [UInt32] = []
                    var number = sender
                    while .now - began < duration {
                        let start = ContinuousClock.now
                        let rows = try await pool.query(select, [.text(customer(number))])
                        guard rows.count == 1 else {
                            throw BenchFailure(description: "a customer's row is missing")
                        }
                        let microseconds = (ContinuousClock.now - start) / .microseconds(1)
                        latencies.append(UInt32(clamping: Int64(microseconds)))
                        number += 1
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: [UInt32]()) { $0 += $1 }
        }
        return Sample(
            operations: latencies.count, seconds: (ContinuousClock.now - began) / .seconds(1),
            latencies: latencies)
    }

    private static let select = SQLStatement(
        "bench_account",
        """
        select state from features.accounts where environment = 'production' and customer_id = $1
        """)

    // MARK: Preparing

    private static func customer(_ number: Int) -> String { "user-\(number % customers)" }

    private static func requests() -> [[UInt8]] {
        (0..<customers).map { number in
            let body: JSONValue = [
                "apiKey": .string(key), "customerId": .string(customer(number)),
                "featureId": "ai-generations",
            ]
            let head =
                "POST /entitled HTTP/1.1\r\nHost: bench\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.bytes.count)\r\n\r\n"
            return Array(head.utf8) + body.bytes
        }
    }

    private func configuration() throws -> FeatureSettings {
        let json: JSONValue = [
            "allow_literal_secrets": true,
            "database": [
                "url": .string(world.cluster.connectionString(database: Self.database)),
                "pool": .integer(Self.connections),
            ],
            "listen": ["public": "127.0.0.1:0", "admin": "127.0.0.1:0"],
            "keys": [
                "bench": [
                    "public_key": .string(Self.key), "rate_per_second": 100_000,
                    "burst": 1_000_000,
                ]
            ],
            "limits": ["in_flight": 10_000], "shutdown": ["grace": "PT2S"],
        ]
        return try FeatureSettings.read(
            ConfigurationSource(bytes: json.bytes, environment: [:], place: "the bench's settings"))
    }

    /// Every customer holds a boolean, a metered and a wallet's allowance, and has used some.
    private func fill(_ settings: PostgresSettings) async throws {
        let pool = PostgresPool(settings: settings, size: Self.connections, loop: world.loop)
        let catalogues = CatalogueStore(pool: pool)
        _ = try await catalogues.publish(try Self.catalogue(), by: "bench", reason: "bench")
        let ledger = LedgerStore(pool: pool, catalogues: catalogues)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.connections {
                group.addTask {
                    for number in stride(from: lane, to: Self.customers, by: Self.connections) {
                        try await Self.fill(Self.customer(number), ledger)
                    }
                }
            }
            try await group.waitForAll()
        }
        await pool.close()
    }

    private static func fill(_ customer: String, _ ledger: LedgerStore) async throws {
        let key = CustomerKey(checked: customer)
        guard let product = try catalogue().products[ProductKey(checked: "pro")] else { return }
        _ = try await ledger.grant(
            OperatorGrant(id: .byOperator("bench"), entitlements: product.entitlements),
            to: key, in: .production, by: Authorship(who: "bench", reason: "bench"))
        _ = try await ledger.consume(
            ConsumeCommand(
                customer: key, feature: FeatureKey(checked: "ai-generations"),
                operation: OperationID(checked: "bench"), quantity: .one), in: .production)
    }

    private static func catalogue() throws -> Catalogue {
        let text = """
            {"dsl": 1,
             "features": {"premium-content": {"type": "boolean"},
               "ai-generations": {"type": "metered"}, "credits": {"type": "creditSystem"}},
             "products": {"pro": {"entitlements": [{"feature": "premium-content"},
               {"feature": "ai-generations", "allowance": 100, "interval": "month"},
               {"feature": "credits", "allowance": 50}]}}}
            """
        let outcome = CatalogueReader.read([.init(name: "bench", bytes: Array(text.utf8))])
        guard let catalogue = outcome.catalogue else {
            throw BenchFailure(description: "the bench's catalogue is wrong")
        }
        return catalogue
    }
}
