import Postgres
import Testing

/// Shows that each question of ``ProofChecks`` can be answered otherwise: what it asks for is done to the
/// database, in a transaction that is taken back.
struct ProofControls {
    let world: World

    private struct TakenBack: Error {}

    /// Runs every check over a database to which it was done.
    ///
    /// - Returns: how many checks found it.
    func run() async throws -> Int {
        var found = 0
        for check in ProofChecks.none {
            let rows = try await rows(of: check.query, after: check.breaking)
            if rows.isEmpty {
                Issue.record("was not found although it was done: \(check.sentence)")
            } else {
                found += 1
            }
        }
        let overtaken = try await rows(
            of: ProofLedger.overtaken, after: ProofLedger.overtaking)
        if overtaken.first?.hasPrefix("0 ") != false {
            Issue.record("an overtaken input was not found")
        } else {
            found += 1
        }
        return found
    }

    private func rows(of query: String, after breaking: String) async throws -> [String] {
        var values: [String] = []
        do {
            try await world.pool.withTransaction { transaction in
                _ = try await transaction.query(SQLStatement("proof_break", breaking))
                for row in try await transaction.query(SQLStatement("proof_broken", query)) {
                    values.append(try row.stringOrNil("value") ?? "null")
                }
                throw TakenBack()
            }
        } catch is TakenBack {}
        return values
    }
}
