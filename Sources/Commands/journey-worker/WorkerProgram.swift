internal import CommandLine
internal import Configuration
internal import Glibc
internal import Reactor
internal import Settings
internal import Telemetry
internal import TimeZones

/// The program `journey-worker`: what can be typed, and which part of it runs.
enum WorkerProgram {
    static let version = "0.1.0"

    static let specification = CommandSpecification(
        name: "journey-worker",
        summary: "takes provider webhooks in and moves customers through journeys",
        discussion: """
            The worker stores every webhook durably before it answers, turns it into a neutral \
            event, and moves customers through the published workflows. It never touches feature \
            access. Administer it with journey-replay.
            """,
        examples: [
            .init("journey-worker dev", "everything at once, on a private database"),
            .init(
                "journey-worker serve --config /etc/journey-worker/config.json",
                "the daemon beside your PostgreSQL"),
        ],
        options: [],
        subcommands: [
            serve, dev, migrate, connectors, providers, checkConfig,
        ])

    private static let config = OptionSpecification(
        "config", valueName: "FILE",
        help: "the configuration; default /etc/journey-worker/config.json")

    private static let serve = CommandSpecification(
        name: "serve", summary: "webhook endpoint, worker and dispatcher",
        discussion: """
            Runs until SIGTERM, then drains: stops accepting, finishes turns and attempts under \
            way within shutdown.grace, and hands the rest back. A second SIGTERM stops at once: no \
            delivery and no step is lost, but whether attempts under way arrived is then not \
            known. SIGHUP reads the connectors and the TLS files again.
            """,
        examples: [
            .init("journey-worker serve --role ingest", "only the endpoint, on this host"),
            .init("journey-worker serve --role worker,dispatch", "the rest, on another"),
        ],
        options: [
            config,
            OptionSpecification(
                "role", valueName: "ROLES", help: "of ingest,worker,dispatch; default all"),
            holdEffects,
        ])

    private static let holdEffects = OptionSpecification(
        "hold-effects",
        help: "send nothing: effects wait, as after a restore; without it again they go out")

    private static let dev = CommandSpecification(
        name: "dev", summary: "everything on a private PostgreSQL, for trying things out",
        discussion: """
            Starts a private PostgreSQL under the data folder (as an unprivileged user when you \
            are root), publishes the Workflows folder at start and on change, and takes webhooks \
            of two demo connectors whose secrets it prints. Actions go to a receiver of its own. \
            DATABASE_URL is not looked at.
            """,
        examples: [.init("journey-worker dev", "then type the curl line it prints")],
        options: [
            OptionSpecification(
                "data", valueName: "DIR", help: "where the database lives; default .journeys"),
            OptionSpecification(
                "workflows", valueName: "DIR", help: "what to publish; default Workflows"),
            OptionSpecification(
                "ingest", valueName: "HOST:PORT",
                help: "the webhook endpoint; default 127.0.0.1:8080"),
            OptionSpecification(
                "admin", valueName: "HOST:PORT",
                help: "health and metrics; default 127.0.0.1:9090"),
            OptionSpecification(
                "ready-file", valueName: "FILE",
                help: "written when webhooks are taken: addresses and demo secrets as JSON"),
            holdEffects,
        ])

    private static let migrate = CommandSpecification(
        name: "migrate", summary: "brings the database's schema forward",
        discussion: """
            Migrations only ever go forward, take a lock so that two at once do no harm, and never \
            rewrite a large table. An old and a new worker may run side by side over one step.
            """,
        options: [config],
        subcommands: [
            CommandSpecification(
                name: "up", summary: "applies what is pending",
                examples: [.init("journey-worker migrate up", "before a new version starts")]),
            CommandSpecification(name: "status", summary: "says where the schema stands"),
            CommandSpecification(name: "plan", summary: "prints the SQL that up would run"),
        ])

    private static let connectors = CommandSpecification(
        name: "connectors", summary: "lists the configured connectors with their providers",
        options: [
            config, OutputFormat.option,
            OptionSpecification(
                "deliveries",
                help: "ask the database when each last delivered, and whether it fell silent"),
        ])

    private static let providers = CommandSpecification(
        name: "providers", summary: "lists the provider definitions",
        discussion: """
            Those that come with the product; with --config also those of the configuration's \
            "providers" files, which may take the place of shipped ones.
            """,
        examples: [.init("journey-worker providers --print revenuecat", "shows one whole")],
        options: [
            config,
            OptionSpecification("print", valueName: "NAME", help: "prints one definition"),
            OutputFormat.option,
        ])

    private static let checkConfig = CommandSpecification(
        name: "check-config", summary: "prints everything that is wrong with a configuration",
        discussion: "Exit code 2 when there is a problem.", options: [config])

    // MARK: Running

    static func run(words: [String]) -> Int32 {
        let environment = Environment.all
        let terminal = Terminal.standard(environment: environment)
        // Before any thread starts, so that all of them leave these signals to the watch.
        let signals = SignalWatch([SIGTERM, SIGINT, SIGHUP])
        let command: ParsedCommand
        do throws(UsageError) {
            command = try specification.parse(words)
        } catch {
            terminal.error.write("journey-worker: \(error.sentence)\n")
            return error.exitCode.rawValue
        }
        if terminal.answer(command, of: specification, version: version) {
            return terminal.end(.ok, of: "journey-worker").rawValue
        }
        let context = CommandContext(
            command: command, terminal: terminal, environment: environment, signals: signals)
        return terminal.end(run(context), of: "journey-worker").rawValue
    }

    private static func run(_ context: CommandContext) -> ExitCode {
        switch context.command.path.first {
        case "serve": ServeCommand(context: context).run()
        case "dev": DevCommand(context: context).run()
        case "migrate":
            MigrateCommand(context: context, verb: context.command.path.last ?? "status").run()
        case "connectors": ListCommands(context: context).connectors()
        case "providers": ListCommands(context: context).providers()
        case "check-config": ListCommands(context: context).checkConfig()
        default:
            // The parser lets no other path through.
            .usage
        }
    }
}

/// What every verb of the program works with.
struct CommandContext: Sendable {
    let command: ParsedCommand
    let terminal: Terminal
    let environment: [String: String]
    let signals: SignalWatch

    static let defaultConfiguration = "/etc/journey-worker/config.json"

    /// The configuration that the line names.
    func loadSettings() throws(ConfigurationRejection) -> WorkerSettings {
        let path = command.option("config") ?? Self.defaultConfiguration
        return try WorkerSettings.read(try .file(path, environment: environment))
    }

    /// The configuration that the line names; its problems are printed.
    func readSettings() -> WorkerSettings? {
        do throws(ConfigurationRejection) {
            return try loadSettings()
        } catch {
            terminal.error.write("\(error)\n")
            return nil
        }
    }

    func fail(_ sentence: String) { terminal.error.write("journey-worker: \(sentence)\n") }
}

/// The process's environment.
enum Environment {
    static var all: [String: String] {
        var found: [String: String] = [:]
        var place = environ
        while let entry = place.pointee {
            let text = String(cString: entry)
            if let split = text.firstIndex(of: "=") {
                found[String(text[..<split])] = String(text[text.index(after: split)...])
            }
            place += 1
        }
        return found
    }
}

/// The system's clock, for times that leave the process.
@Sendable func systemClock() -> Instant {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Instant(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
}
