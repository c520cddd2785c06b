internal import CommandLine
internal import Configuration
internal import Crypto
internal import FeatureService
internal import Glibc
internal import Postgres
internal import Reactor
internal import Telemetry
internal import TimeZones

/// `serve`: runs the service until a signal ends it; `check-config` reads what it would run with.
struct ServeCommand {
    let context: CommandContext

    func check() throws -> ExitCode {
        let settings = try context.settings()
        for file in settings.appStore.rootFiles ?? [] {
            _ = try BoundedFile.read(file, limit: 65_536)
        }
        context.terminal.output.writeLine("The configuration is in order.")
        return .ok
    }

    func run() throws -> ExitCode {
        let settings = try context.settings()
        let loop = EventLoop()
        let log = Self.makeLog(settings.log)
        let server = try FeatureServer(
            settings: settings, loop: loop, log: log, clock: systemClock)
        let context = context
        return loop.runBlocking {
            // Beside the signals, so that SIGTERM ends a wait for the database too.
            Task(executorPreference: loop.tasks) { await Self.start(server, loop, log) }
            await Self.live(server, context, loop, log)
            return .ok
        }
    }

    /// Starts the service; a database that is out of reach is waited for, as at a reboot. Anything else
    /// ends the process with 1.
    private static func start(_ server: FeatureServer, _ loop: EventLoop, _ log: Log) async {
        var pause = Duration.seconds(1)
        while true {
            do {
                let addresses = try await server.start()
                log.info(
                    "ready",
                    [
                        "port": .integer(Int(addresses.port)),
                        "admin_port": .integer(Int(addresses.adminPort)),
                    ])
                return
            } catch let error as PostgresError where error.mayPass {
                log.warning(
                    "the database is out of reach; trying again", ["reason": .text("\(error)")])
                try? await loop.sleep(for: pause)
                pause = min(pause * 2, .seconds(10))
            } catch {
                log.error("the server does not start", ["reason": .text("\(error)")])
                _exit(ExitCode.failed.rawValue)
            }
        }
    }

    static func makeLog(_ settings: LogSettings) -> Log {
        // The key is made anew at each start: hashes tell lines of one run apart, and no more.
        let key = HMACSHA256(key: randomBytes(32))
        let hash: @Sendable (String) -> String = { id in
            String(Hex.encode(key.authenticate(Array(id.utf8))).prefix(16))
        }
        return Log(
            level: settings.level, format: settings.format,
            customers: settings.showsCustomerIDs ? .plain : .hash(hash), clock: systemClock)
    }

    /// Until SIGTERM or SIGINT, and then until the drain is over or a second one comes.
    static func live(
        _ server: FeatureServer, _ context: CommandContext, _ loop: EventLoop, _ log: Log
    ) async {
        let end: @Sendable () -> Never = {
            _exit(context.terminal.end(.ok, of: FeatureProgram.name).rawValue)
        }
        var drain: Task<Void, Never>?
        for await _ in context.signals.signals(on: loop) {
            if drain != nil {
                log.warning("stopped at once; what was decided is kept")
                end()
            }
            log.info("draining")
            drain = Task(executorPreference: loop.tasks) {
                await server.drain()
                log.info("drained")
                end()
            }
            Task(executorPreference: loop.tasks) {
                try? await loop.sleep(for: server.longestDrain)
                log.warning("not drained in time; what was decided is kept")
                end()
            }
        }
    }
}

extension PostgresError {
    /// Out of reach, starting up or shutting down (class 57P), or full (53300): it may be better soon.
    fileprivate var mayPass: Bool {
        isConnectionFailure || kind == .timedOut || sqlState == "53300"
            || sqlState?.hasPrefix("57P") == true
    }
}
