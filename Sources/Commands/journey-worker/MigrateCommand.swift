internal import CommandLine
internal import JourneyStorage
internal import Postgres
internal import Reactor
internal import Settings

/// `migrate up|status|plan`.
struct MigrateCommand {
    let context: CommandContext
    let verb: String

    func run() -> ExitCode {
        guard let settings = context.readSettings() else { return .usage }
        let database = settings.database.direct(applicationName: "journey-worker migrate")
        let loop = EventLoop()
        let verb = verb
        let terminal = context.terminal
        return loop.runBlocking {
            do throws(PostgresError) {
                terminal.output.write(try await Self.text(verb, database, loop))
                return .ok
            } catch {
                terminal.error.write("journey-worker: \(error)\n")
                return .failed
            }
        }
    }

    private static func text(
        _ verb: String, _ database: PostgresSettings, _ loop: EventLoop
    ) async throws(PostgresError) -> String {
        let migrator = JourneySchema.migrator
        switch verb {
        case "up":
            let applied = try await migrator.up(database, on: loop)
            if applied.isEmpty { return "The schema is up to date.\n" }
            return applied.map { "Applied \($0.version) \($0.name).\n" }.joined()
        case "plan":
            let sql = try await migrator.plan(database, on: loop)
            return sql.isEmpty ? "-- Nothing is pending.\n" : sql
        default:
            let status = try await migrator.status(database, on: loop)
            return "The schema is at version \(status.current) of \(status.newest)"
                + (status.pending.isEmpty
                    ? "; nothing is pending.\n"
                    : "; pending: "
                        + status.pending.map { "\($0.version) \($0.name)" }.joined(separator: ", ")
                        + ".\n")
        }
    }
}
