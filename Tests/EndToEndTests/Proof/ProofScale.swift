import Glibc

/// How much the proof does: enough for every change, or with `PROOF=long` all of it.
struct ProofScale: Sendable {
    let customers: Int
    /// Deliveries at least; more follow while kills are wanted.
    let deliveries: Int
    /// SIGKILLs at each fail point.
    let kills: Int
    let databaseKills: Int
    /// Migrations that are killed.
    let migrationKills: Int
    /// Whether processes are also frozen for longer than a lease.
    let freezes: Bool
    let seed: UInt64

    static let current: ProofScale = {
        let seed = getenv("PROOF_SEED").flatMap { UInt64(String(cString: $0)) }
        if getenv("PROOF").map({ String(cString: $0) }) == "long" {
            return ProofScale(
                customers: 500, deliveries: 5_000, kills: 20, databaseKills: 6, migrationKills: 20,
                freezes: true, seed: seed ?? 1)
        }
        return ProofScale(
            customers: 60, deliveries: 600, kills: 1, databaseKills: 1, migrationKills: 5,
            freezes: false, seed: seed ?? 1)
    }()
}
