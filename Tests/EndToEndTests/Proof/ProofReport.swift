import Glibc

/// What was done to the product, counted.
struct ProofCounts: Sendable {
    let scale: ProofScale
    let kills: [String: Int]
    let publishKills: Int
    let databaseKills: Int
    let freezes: Int
    let sendingTook: Duration
    let tookInAll: Duration

    /// SIGKILLs at every point that must kill.
    var allKills: [(point: String, kills: Int)] {
        ProofFleet.points.map { ($0.name, kills[$0.name] ?? 0) }
            + [("publish.written", publishKills)]
    }
}

/// The numbers that are printed, and kept on the catalog's page.
struct ProofReport {
    let counts: ProofCounts
    let oracle: ProofOracle.Report
    let requests: [RudeReceiver.Request]
    let sent: (deliveries: Int, requests: Int, events: Int)
    /// Inputs taken after a later one because they became visible later.
    let laterVisible: Int

    /// A line at once: what is printed is kept back until a run's end.
    static func tell(_ words: String) {
        let line = Array("proof: \(words)\n".utf8)
        _ = write(2, line, line.count)
    }

    func text(_ world: World) async throws -> String {
        func number(_ expression: String) async throws -> Int { try await world.count(expression) }
        let behaviours = Dictionary(grouping: requests, by: \.behaviour).mapValues(\.count)
        let states = try await world.texts(
            """
            select state || ' ' || count(*) as value from journey.deliveries
            group by state order by 1
            """)
        let ends = try await world.texts(
            """
            select status || coalesce(' ' || reason, '') || ' ' || count(*) as value
            from journey.runs group by status, reason order by count(*) desc
            """)
        let effects = try await world.texts(
            """
            select coalesce(account, tool) || ' ' || status || ' ' || count(*) as value
            from journey.effects group by coalesce(account, tool), status order by 1
            """)
        let killed = counts.allKills.map { "\($0.point) \($0.kills)" }.joined(separator: ", ")
        return """
            proof: seed \(counts.scale.seed), \(counts.sendingTook) of sending, \(counts.tookInAll) in all
            proof: \(sent.deliveries) deliveries in \(sent.requests) requests, \(sent.events) event ids, \
            \(try await number("select count(*) from journey.customers")) customers
            proof: deliveries found to be: \(states.joined(separator: ", "))
            proof: SIGKILLs: \(killed); frozen beyond a lease: \(counts.freezes); PostgreSQL killed \
            \(counts.databaseKills) times
            proof: receiver: \(requests.count) requests, answered \(behaviours[.answered] ?? 0), failed \
            \(behaviours[.failed] ?? 0), hung \(behaviours[.hung] ?? 0), acted and dropped \
            \(behaviours[.dropped] ?? 0)
            proof: effects: \(effects.joined(separator: ", "))
            proof: runs: \(ends.joined(separator: ", "))
            proof: re-run: \(oracle.turns) turns, \(oracle.inputs) inputs, \(oracle.runs) runs, \
            \(oracle.decisions) decisions, \(oracle.effects) effects; \(oracle.differences.count) \
            differences
            proof: inputs taken after a later one that was visible earlier: \(laterVisible)
            """
    }
}
