internal import CommandLine
internal import Configuration
internal import FeatureLedger
internal import FeatureModel
internal import FeatureService
internal import Glibc
internal import Postgres
internal import PrivateCluster
internal import Reactor
internal import TimeZones

/// What every verb of the program works with.
struct CommandContext: Sendable {
    let command: ParsedCommand
    let terminal: Terminal
    let environment: [String: String]
    let signals: SignalWatch

    static let defaultConfiguration = "/etc/feature-server/config.json"
    /// Where `journey-worker dev` keeps its cluster.
    static let defaultHome = ".journeys"

    func say(_ sentence: String) {
        terminal.error.writeLine(printable("\(FeatureProgram.name): \(sentence)"))
    }

    /// The configuration that the line names.
    ///
    /// - Throws: with every problem; the exit code is 2.
    func settings() throws -> FeatureSettings {
        let path = command.option("config") ?? Self.defaultConfiguration
        do throws(ConfigurationRejection) {
            return try FeatureSettings.read(
                try .file(
                    path, environment: environment, prefix: FeatureSettings.variablePrefix))
        } catch {
            terminal.error.writeLine("\(error)")
            throw CommandFailure(.usage, "")
        }
    }

    /// The database of the `journey-worker dev` that runs under a folder.
    func privateDatabase(home: String) throws -> String {
        guard let cluster = PrivateCluster.running(home: home) else {
            throw CommandFailure(
                .usage,
                "No private cluster runs under \(home); start journey-worker dev there and leave it "
                    + "running, or name its folder with --data.")
        }
        // Of a word that stands twice libpq takes the last.
        return "\(cluster) dbname=journeys"
    }

    /// The database: `--database URL`, `--data DIR`, else the configuration's.
    func database(direct: Bool = false) throws -> PostgresSettings {
        let application = "feature-server " + (command.path.first ?? "")
        if let url = command.option("database") {
            return PostgresSettings(connectionString: url, applicationName: application)
        }
        if let home = command.option("data") {
            return PostgresSettings(
                connectionString: try privateDatabase(home: home), applicationName: application)
        }
        let database = try settings().database
        return direct
            ? database.direct(applicationName: application)
            : database.postgres(applicationName: application)
    }

    /// Runs `body` with a pool on a loop, and closes it.
    func withPool(
        _ body: @escaping @Sendable (PostgresPool) async throws -> ExitCode
    ) throws -> ExitCode {
        let settings = try database()
        let loop = EventLoop()
        return try loop.runBlocking { () async -> Result<ExitCode, any Error> in
            let pool = PostgresPool(settings: settings, size: 2, loop: loop)
            let result: Result<ExitCode, any Error>
            do { result = .success(try await body(pool)) } catch { result = .failure(error) }
            await pool.close()
            return result
        }.get()
    }

    // MARK: Guards of changing verbs

    var isDryRun: Bool { command.flag("dry-run") }

    /// Why it is done, as it is kept; nobody needs one for what changes nothing.
    func author() throws -> Authorship {
        let reason = command.option("reason") ?? ""
        guard isDryRun || reason.contains(where: { !$0.isWhitespace }) else {
            throw UsageError(
                path: command.path,
                "\(command.path.first ?? "") needs --reason TEXT: why it is done, as it is kept.")
        }
        let names = ["SUDO_USER", "USER", "LOGNAME"].compactMap { environment[$0] }
        return Authorship(who: names.first { !$0.isEmpty } ?? "unknown", reason: reason)
    }

    /// Asks before a change; a script says `--yes`.
    func agree(to question: String) throws {
        if command.flag("yes") || terminal.confirm(question) { return }
        throw CommandFailure(
            .refused,
            terminal.isInteractive
                ? "Nothing was changed."
                : "Nothing was changed: nobody can be asked here; say --yes.")
    }

    // MARK: Words of the line

    /// `--environment`, by default production.
    func ledgerEnvironment() throws -> LedgerEnvironment {
        let word = command.option("environment") ?? LedgerEnvironment.production.rawValue
        guard let environment = LedgerEnvironment(rawValue: word) else {
            throw UsageError(
                path: command.path, "--environment is production or sandbox, not \"\(word)\".")
        }
        return environment
    }

    func key<Kind>(_ argument: String, _ kind: Kind.Type = Kind.self) throws -> Key<Kind> {
        guard let key = Key<Kind>(command.argument(argument) ?? "") else {
            throw UsageError(
                path: command.path,
                "\(argument) is 1 to 256 characters without blanks around them.")
        }
        return key
    }

    func optionalKey<Kind>(_ option: String) throws -> Key<Kind>? {
        guard let text = command.option(option) else { return nil }
        guard let key = Key<Kind>(text) else {
            throw UsageError(
                path: command.path,
                "--\(option) is 1 to 256 characters without blanks around them.")
        }
        return key
    }
}

/// The system's clock, for logs and for signatures that do not say when they were made.
@Sendable func systemClock() -> Instant {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Instant(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
}
