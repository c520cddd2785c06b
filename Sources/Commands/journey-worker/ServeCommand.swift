internal import CommandLine
internal import Configuration
internal import Crypto
internal import Glibc
internal import JourneyWorker
internal import Postgres
internal import Reactor
internal import Settings
internal import Telemetry

/// `serve`: runs the service until a signal ends it.
struct ServeCommand {
    let context: CommandContext

    func run() -> ExitCode {
        guard let settings = context.readSettings() else { return .usage }
        var roles = WorkerService.Roles.all
        if let words = context.command.option("role") {
            guard let parsed = WorkerService.Roles(words: words) else {
                context.fail("--role takes ingest, worker and dispatch, split by commas; mend it")
                return .usage
            }
            roles = parsed
        }
        let loop = EventLoop()
        let log = Self.makeLog(settings.log)
        let service = WorkerService(
            settings: settings, roles: roles,
            holdsEffects: context.command.flag("hold-effects"), loop: loop, log: log,
            clock: systemClock)
        let context = context
        return loop.runBlocking {
            // Beside the signals, so that SIGTERM ends a wait for the database too.
            Task(executorPreference: loop.tasks) { await Self.start(service, loop, log) }
            await Self.live(service, context, loop, log)
            return .ok
        }
    }

    /// Starts the service; a database that is out of reach is waited for, as at a reboot. Anything else
    /// ends the process with 1.
    private static func start(_ service: WorkerService, _ loop: EventLoop, _ log: Log) async {
        var pause = Duration.seconds(1)
        while true {
            do {
                let addresses = try await service.start()
                log.info(
                    "ready",
                    [
                        "ingest_port": .integer(Int(addresses.ingestPort ?? 0)),
                        "admin_port": .integer(Int(addresses.adminPort)),
                    ])
                return
            } catch let error as PostgresError where error.mayPass {
                log.warning(
                    "the database is out of reach; trying again", ["reason": .text("\(error)")])
                try? await loop.sleep(for: pause)
                pause = min(pause * 2, .seconds(10))
            } catch {
                log.error("the worker does not start", ["reason": .text("\(error)")])
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
        _ service: WorkerService, _ context: CommandContext, _ loop: EventLoop, _ log: Log,
        atEnd: @escaping @Sendable () -> Void = {}
    ) async {
        let end: @Sendable () -> Never = {
            atEnd()
            _exit(context.terminal.end(.ok, of: "journey-worker").rawValue)
        }
        var drain: Task<Void, Never>?
        for await signal in context.signals.signals(on: loop) {
            if signal == SIGHUP {
                reload(service, context, log)
                continue
            }
            if drain != nil {
                log.warning("stopped at once; what was under way is taken up again elsewhere")
                end()
            }
            log.info("draining")
            drain = Task(executorPreference: loop.tasks) {
                await service.drain()
                log.info("drained")
                end()
            }
            Task(executorPreference: loop.tasks) {
                try? await loop.sleep(for: service.longestDrain)
                log.warning("not drained in time; what is left is taken up again elsewhere")
                end()
            }
        }
    }

    private static func reload(_ service: WorkerService, _ context: CommandContext, _ log: Log) {
        guard context.command.path.first == "serve" else {
            log.info("dev makes its settings itself; there is nothing to read again")
            return
        }
        do throws(ConfigurationRejection) {
            service.reload(try context.loadSettings())
            log.info("the connectors were read again; other settings take a restart")
        } catch {
            for problem in error.problems {
                log.error(
                    "the new configuration is refused; the old one stays",
                    ["file": .text(error.place), "problem": .text("\(problem)")])
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
