internal import CommandLine
internal import Postgres

extension ReplayCall {
    /// Opens the chosen database for one verb, says which one it is, and closes it afterwards.
    ///
    /// - Parameter changes: whether the verb writes: then a choice that is in doubt is refused.
    func withDatabase<Value>(
        changes: Bool = false, _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        let choice = try DatabaseChoice.make(parsed, environment: environment, changes: changes)
        terminal.error.writeLine(printable(choice.target))
        let settings = PostgresSettings(
            connectionString: choice.connectionString, applicationName: "journey-replay",
            preparation: choice.prepares ? .automatic : .never)
        let pool = PostgresPool(settings: settings, size: 1, loop: command.loop)
        do {
            let value = try await body(pool)
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw Self.explained(error)
        }
    }

    /// Says what to do where the tables are not there.
    private static func explained(_ error: any Error) -> any Error {
        guard let error = error as? PostgresError, let state = error.sqlState else { return error }
        switch state {
        case "42P01", "3F000", "42703":
            return ReplayFailure(
                "This database lacks tables of this version (\(error.message)); bring it forward "
                    + "with journey-worker migrate up, or name another.")
        default: return error
        }
    }
}
