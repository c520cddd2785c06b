internal import CommandLine
internal import Configuration
internal import FeatureLedger
internal import FeatureService
internal import JSON
internal import Postgres
internal import Reactor

/// `dev`: the service on the private database of a `journey-worker dev` that runs, with a key for trying out.
struct DevCommand {
    let context: CommandContext

    static let key = "pk_dev_features"

    func run() throws -> ExitCode {
        let database = try context.privateDatabase(
            home: context.command.option("data") ?? CommandContext.defaultHome)
        let catalogue = try PublishCommand(context: context).read([
            context.command.option("catalog") ?? "Workflows/catalog"
        ])
        let settings = try FeatureSettings.read(
            ConfigurationSource(
                bytes: configuration(database).bytes, environment: [:], place: "dev's own settings")
        )
        let loop = EventLoop()
        let log = ServeCommand.makeLog(settings.log)
        let server = try FeatureServer(
            settings: settings, loop: loop, log: log, clock: systemClock)
        let context = context
        let started = loop.runBlocking { () async -> Result<Void, any Error> in
            do {
                let direct = settings.database.direct(applicationName: "feature-server dev")
                try await FeatureSchema.migrator.up(direct, on: loop)
                let pool = PostgresPool(settings: direct, size: 1, loop: loop)
                defer { Task(executorPreference: loop.tasks) { await pool.close() } }
                _ = try await CatalogueStore(pool: pool).publish(
                    catalogue, by: "feature-server dev", reason: "started")
                let addresses = try await server.start()
                announce(addresses.port, addresses.adminPort)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try started.get()
        return loop.runBlocking {
            await ServeCommand.live(server, context, loop, log)
            return .ok
        }
    }

    private func configuration(_ database: String) -> JSONValue {
        [
            "allow_literal_secrets": true, "database": ["url": .string(database), "pool": 4],
            "listen": [
                "public": .string(context.command.option("listen") ?? "127.0.0.1:8081"),
                "admin": .string(context.command.option("admin") ?? "127.0.0.1:9091"),
            ],
            "keys": ["dev": ["public_key": .string(Self.key)]], "log": ["format": "text"],
        ]
    }

    private func announce(_ port: UInt16, _ adminPort: UInt16) {
        context.terminal.output.write(
            """
            Features   http://127.0.0.1:\(port), apiKey \(Self.key)
            Health     http://127.0.0.1:\(adminPort)/readyz

            Try it:
              feature-server grant user-1042 --product pro-monthly --data \
            \(context.command.option("data") ?? CommandContext.defaultHome) --reason trying --yes
              curl --data '{"apiKey": "\(Self.key)", "customerId": "user-1042", "featureId": \
            "premium-content"}' http://127.0.0.1:\(port)/entitled

            """)
    }
}
