internal import CommandLine
internal import FeatureLedger
internal import Postgres
internal import Reactor

/// `migrate up|status|plan`.
struct MigrateCommand {
    let context: CommandContext

    func run() throws -> ExitCode {
        let database = try context.database(direct: true)
        let loop = EventLoop()
        let verb = context.command.path.last ?? "status"
        let text = try loop.runBlocking { () async -> Result<String, PostgresError> in
            do throws(PostgresError) {
                return .success(try await Self.text(verb, database, loop))
            } catch {
                return .failure(error)
            }
        }.get()
        context.terminal.output.write(text)
        return .ok
    }

    private static func text(
        _ verb: String, _ database: PostgresSettings, _ loop: EventLoop
    ) async throws(PostgresError) -> String {
        let migrator = FeatureSchema.migrator
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
            let names = status.pending.map { "\($0.version) \($0.name)" }
            return "The schema is at version \(status.current) of \(status.newest)"
                + (names.isEmpty
                    ? "; nothing is pending.\n"
                    : "; pending: \(names.joined(separator: ", ")).\n")
        }
    }
}
