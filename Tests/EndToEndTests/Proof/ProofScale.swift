import Glibc

/// How much the proof does: enough for every change, or with `PROOF=long` all of it.
struct ProofScale: Sendable {
    let customers: Int
    /// A new customer comes with each so many events; repeats are not among them.
    var deliveriesForEach: Int { deliveries * 3 / 4 / customers }
    /// Deliveries at least; more follow while kills are wanted.
    let deliveries: Int
    /// SIGKILLs at each fail point.
    let kills: Int
    let databaseKills: Int
    /// Migrations that are killed.
    let migrationKills: Int
    /// Processes that are frozen for longer than a lease.
    let freezes: Int
    /// Histories that are altered, to be found.
    let alterations: Int
    /// How many times longer a process lives, so that work is done between two kills.
    let stretch: Int
    /// How long the proof goes on although nothing happens.
    let patience: Duration
    /// When it is given up, whatever happens.
    let minutes: Int
    let seed: UInt64

    static let current: ProofScale = {
        let seed = getenv("PROOF_SEED").flatMap { UInt64(String(cString: $0)) }
        if getenv("PROOF").map({ String(cString: $0) }) == "long" {
            return ProofScale(
                customers: 500, deliveries: 5_000, kills: 20, databaseKills: 6, migrationKills: 20,
                freezes: 4, alterations: 100, stretch: 4, patience: .seconds(300), minutes: 120,
                seed: seed ?? 1)
        }
        return ProofScale(
            customers: 60, deliveries: 600, kills: 1, databaseKills: 1, migrationKills: 5,
            freezes: 0, alterations: 20, stretch: 1, patience: .seconds(120), minutes: 10,
            seed: seed ?? 1)
    }()
}

/// Tells when nothing has changed for too long.
struct Stall {
    let limit: Duration
    private var last: [Int] = []
    private var since = ContinuousClock.now

    init(limit: Duration) { self.limit = limit }

    mutating func isOver(at numbers: [Int]) -> Bool {
        if numbers != last {
            last = numbers
            since = .now
        }
        return since.duration(to: .now) > limit
    }
}
