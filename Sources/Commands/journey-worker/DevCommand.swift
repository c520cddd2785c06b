internal import CommandLine
internal import Configuration
internal import Glibc
internal import JSON
internal import JourneyStorage
internal import JourneyWorker
internal import Locks
internal import Postgres
internal import PrivateCluster
internal import Reactor
internal import Settings
internal import Telemetry

/// `dev`: the same service as `serve`, on a private database, with demo connectors and a receiver.
struct DevCommand {
    let context: CommandContext

    static let database = "journeys"

    private var data: String { context.command.option("data") ?? ".journeys" }
    private var workflows: String { context.command.option("workflows") ?? "Workflows" }

    func run() -> ExitCode {
        let cluster: PrivateCluster
        do throws(PrivateClusterError) {
            // From the main thread: the database ends with the thread that started it.
            cluster = try PrivateCluster.start(home: data)
        } catch {
            context.fail("\(error)")
            return .failed
        }
        defer { cluster.stop() }
        let loop = EventLoop()
        return loop.runBlocking { await start(cluster, on: loop) }
    }

    private func start(_ cluster: PrivateCluster, on loop: EventLoop) async -> ExitCode {
        do {
            let secrets = try DevSecrets.keep(in: data)
            let receiver = DevReceiver(loop: loop, terminal: context.terminal)
            let receiverPort = try receiver.start()
            try await createDatabase(cluster, on: loop)
            let settings = try WorkerSettings.read(
                secrets.configuration(
                    database: cluster.connectionString(database: Self.database),
                    ingest: context.command.option("ingest") ?? "127.0.0.1:8080",
                    admin: context.command.option("admin") ?? "127.0.0.1:9090",
                    receiverPort: receiverPort))
            try await JourneySchema.migrator.up(
                settings.database.direct(applicationName: "journey-worker dev"), on: loop)
            let log = ServeCommand.makeLog(settings.log)
            let service = WorkerService(
                settings: settings, holdsEffects: context.command.flag("hold-effects"), loop: loop,
                log: log, clock: systemClock)
            let publisher = DevPublisher(
                folder: workflows, settings: settings, loop: loop, terminal: context.terminal)
            await publisher.publishIfChanged()
            let addresses = try await service.start()
            try announce(addresses, secrets, cluster)
            let watch = Task(executorPreference: loop.tasks) { await publisher.watch() }
            let isEnding = Guarded(false)
            Task(executorPreference: loop.tasks) {
                await endWithDatabase(cluster, on: loop) { isEnding.withLock { $0 } }
            }
            await ServeCommand.live(service, context, loop, log) {
                isEnding.withLock { $0 = true }
                cluster.stop()
            }
            watch.cancel()
            return .ok
        } catch {
            context.fail("\(error)")
            return .failed
        }
    }

    /// Ends the process when its database has gone: without it nothing here can go on.
    private func endWithDatabase(
        _ cluster: PrivateCluster, on loop: EventLoop, unless isEnding: @Sendable () -> Bool
    ) async {
        while cluster.isRunning {
            guard (try? await loop.sleep(for: .seconds(1))) != nil else { return }
        }
        if isEnding() { return }
        context.fail(
            "the private PostgreSQL under \(cluster.home) ended while dev was running; start dev again"
        )
        _exit(ExitCode.failed.rawValue)
    }

    private func createDatabase(_ cluster: PrivateCluster, on loop: EventLoop) async throws {
        let settings = PostgresSettings(
            connectionString: cluster.connectionString, applicationName: "journey-worker dev")
        let connection = try await PostgresConnection.connect(settings, on: loop)
        defer { Task(executorPreference: loop.tasks) { await connection.close() } }
        let rows = try await connection.query(
            SQLStatement(
                "dev_database_exists",
                "select exists (select from pg_database where datname = $1) as there"),
            [.text(Self.database)])
        if try !rows.only().bool("there") {
            try await connection.simple(
                "create database \(Self.database)", name: "dev_database_create")
        }
    }

    private func announce(
        _ addresses: WorkerService.Addresses, _ secrets: DevSecrets, _ cluster: PrivateCluster
    ) throws {
        let webhooks = "http://127.0.0.1:\(addresses.ingestPort ?? 0)/v1/webhooks"
        let admin = "http://127.0.0.1:\(addresses.adminPort)"
        context.terminal.output.write(
            """
            Webhooks   \(webhooks)/{revenuecat,superwall}
            Health     \(admin)/readyz, metrics at /metrics
            Database   \(cluster.connectionString(database: Self.database))
            Secrets    RevenueCat Authorization: \(secrets.revenueCat)
                       Superwall signing secret: \(secrets.superwall)

            Try it:
              curl -H 'Authorization: \(secrets.revenueCat)' -H 'Content-Type: application/json' \\
                --data-binary @Tests/Fixtures/webhooks/revenuecat/trial-started.json \\
                \(webhooks)/revenuecat
              journey-replay --data \(data) customer user-1042

            """)
        guard let path = context.command.option("ready-file") else { return }
        let ready: JSONValue = [
            "webhooks_url": .string(webhooks), "admin_url": .string(admin),
            "revenuecat_authorization": .string(secrets.revenueCat),
            "superwall_secret": .string(secrets.superwall),
            "database": .string(cluster.connectionString(database: Self.database)),
        ]
        try PrivateFile.write(Array((ready.pretty + "\n").utf8), to: path)
    }
}
