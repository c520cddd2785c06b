import Glibc
import JSON
import Locks
import Reactor
import Testing

/// Many clients, one balance, and a server that is killed in the middle of it.
struct FeatureLoadTests {
    /// What one client knows of one operation.
    private struct Outcome: Sendable {
        let operation: String
        let isAccepted: Bool
        /// The receipt without its mark of a repeat.
        let receipt: JSONValue
    }

    private struct Server {
        var process: Process
        var port: UInt16
        var kills = 0
    }

    private static let clients = 64
    private static let perClient = 18
    private static let kills = 3

    @Test(.timeLimit(.minutes(3)))
    func `64 clients use up one balance of 1000 exactly, although the server is killed`()
        async throws
    {
        try await FeatureWorld.with { world in
            try await world.give("coins", to: "everyone")
            let first = try world.serve("server-0")
            let server = Guarded(
                Server(process: first, port: try await world.port(of: first)))
            let decided = Guarded(0)
            let lost = Guarded(0)
            let outcomes = try await withThrowingTaskGroup(of: [Outcome].self) { group in
                for client in 0..<Self.clients {
                    group.addTask { try await use(world, client, server, decided, lost) }
                }
                group.addTask {
                    try await killNowAndThen(world, server, decided)
                    return []
                }
                return try await group.reduce(into: [Outcome]()) { $0 += $1 }
            }
            #expect(server.withLock { $0.kills } == Self.kills)
            // Without answers that never came this would show nothing.
            #expect(lost.withLock { $0 } > 0)
            #expect(outcomes.count == Self.clients * Self.perClient)
            #expect(outcomes.count { $0.isAccepted } == 1_000)
            try await expectReplays(outcomes, world, server.withLock { $0.port })
            try await expectLedger(world)
            server.withLock { $0.process }.signal(SIGTERM)
        }
    }

    /// Uses a unit for each operation, again and again under the same id until there is a receipt.
    private func use(
        _ world: FeatureWorld, _ client: Int, _ server: Guarded<Server>, _ decided: Guarded<Int>,
        _ lost: Guarded<Int>
    ) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for number in 0..<Self.perClient {
            let operation = "client-\(client)-\(number)"
            // Some are so impatient that answers get lost that the server has given.
            var patience = Duration.milliseconds(number % 3 == 0 ? 15 : 2_000)
            var receipt: JSONValue?
            while receipt == nil {
                do {
                    let answer = try await world.post(
                        "/feature/consume", Self.command(operation),
                        port: server.withLock { $0.port }, timeout: patience)
                    if answer.status == 200 {
                        receipt = answer.json
                    } else {
                        #expect(answer.status == 503)
                        try await world.loop.sleep(for: .milliseconds(20))
                    }
                } catch {
                    // Killed, or too slow: nobody knows whether it was decided.
                    lost.withLock { $0 += 1 }
                    try await world.loop.sleep(for: .milliseconds(20))
                }
                patience = .seconds(5)
            }
            decided.withLock { $0 += 1 }
            outcomes.append(try Self.outcome(operation, try #require(receipt)))
        }
        return outcomes
    }

    private func killNowAndThen(
        _ world: FeatureWorld, _ server: Guarded<Server>, _ decided: Guarded<Int>
    ) async throws {
        for kill in 1...Self.kills {
            while decided.withLock({ $0 }) < kill * 250 {
                try await world.loop.sleep(for: .milliseconds(5))
            }
            let process = server.withLock { $0.process }
            process.signal(SIGKILL)
            while process.code == nil { try await world.loop.sleep(for: .milliseconds(5)) }
            let next = try world.serve("server-\(kill)")
            let port = try await world.port(of: next)
            server.withLock { $0 = Server(process: next, port: port, kills: kill) }
        }
    }

    /// Every decision is still the same, and is called a repeat.
    private func expectReplays(
        _ outcomes: [Outcome], _ world: FeatureWorld, _ port: UInt16
    ) async throws {
        for outcome in outcomes {
            let answer = try await world.post(
                "/feature/consume", Self.command(outcome.operation), port: port)
            #expect(answer.json["idempotentReplay"] == true)
            let again = try Self.outcome(outcome.operation, answer.json)
            #expect(again.receipt == outcome.receipt)
        }
    }

    private func expectLedger(_ world: FeatureWorld) async throws {
        let left = try await world.number(
            "select sum(balance) from features.access where feature_id = 'credits'")
        #expect(left == 0)
        let charged = try await world.number(
            "select -sum(amount) from features.entries where kind = 'used'")
        #expect(charged == 1_000)
        let twice = try await world.number(
            """
            select count(*) from (select 1 from features.entries where kind = 'used'
                group by operation_id having count(*) > 1) as t
            """)
        #expect(twice == 0)
        let operations = try await world.number("select count(*) from features.operations")
        #expect(operations == Int64(Self.clients * Self.perClient))
        let before = try await world.projection()
        let check = try await world.run("check", "--all")
        #expect(check.code == 0, "\(check.output)\(check.errors)")
        let rebuild = try await world.run("rebuild", "--all", "--yes", "--reason", "a test")
        #expect(rebuild.code == 0, "\(rebuild.errors)")
        #expect(rebuild.output == "1 customers were looked at, 0 rebuilt.\n")
        let after = try await world.projection()
        #expect(before == after)
    }

    private static func command(_ operation: String) -> JSONValue {
        [
            "customerId": "everyone", "featureId": "credits", "operationId": .string(operation),
            "quantity": 1,
        ]
    }

    private static func outcome(_ operation: String, _ receipt: JSONValue) throws -> Outcome {
        var members = try #require(receipt.object)
        members["idempotentReplay"] = nil
        guard case .bool(let isAccepted)? = receipt["accepted"] else {
            throw World.Failure(what: receipt.text)
        }
        return Outcome(
            operation: operation, isAccepted: isAccepted,
            receipt: .object(members))
    }
}
