import JSON
import JourneyEngine
import JourneyStorage
import Testing
import WorkflowDefinitions

@testable import EffectDispatch

/// How many attempts may start: by account, by rate, and in the whole process.
@Suite struct AccountGatesTests {
    private func gates(_ accounts: JSONValue, concurrency: Int = 100) throws -> AccountGates {
        AccountGates(accounts: try DispatchWorld.accounts(accounts), concurrency: concurrency)
    }

    /// What the first round lets through for an account.
    private func free(_ account: String?, _ gates: AccountGates) -> Int {
        gates.rounds().joined().first { $0.account == account }?.free ?? 0
    }

    @Test func `an account lets as many attempts start as it may have at once`() throws {
        let gates = try gates(["crm": ["concurrency": 2]])
        let lease = DispatchWorld.lease("crm")
        #expect(free("crm", gates) == 2)
        gates.start(lease)
        #expect(free("crm", gates) == 1)
        gates.start(lease)
        #expect(free("crm", gates) == 0)
        gates.end(lease)
        #expect(free("crm", gates) == 1)
    }

    @Test func `the log needs no account`() throws {
        let gates = try gates([:], concurrency: 3)
        #expect(gates.rounds() == [[EffectCapacity(tool: "log", account: nil, free: 3)]])
        for _ in 0..<3 { gates.start(DispatchWorld.lease(nil, tool: .log)) }
        #expect(gates.rounds().isEmpty)
    }

    @Test func `what holds over all processes goes with each capacity`() throws {
        let gates = try gates([
            "crm": [
                "concurrency": 3, "rate": "50/s", "idempotent": false, "messaging": true,
                "channel": "email", "cap": ["messages": 2, "per": "P7D"],
            ]
        ])
        let limits = gates.rounds().joined().first { $0.account == "crm" }?.limits
        #expect(
            limits
                == AccountLimits(
                    concurrency: 3, ratePerSecond: 50, isIdempotent: false,
                    messages: .init(
                        channel: "email",
                        cap: .init(messages: 2, period: .seconds(7 * 86_400)))))
        #expect(gates.served.first { $0.account == nil }?.limits == nil)
    }

    @Test func `a slow account leaves room for every other`() throws {
        let gates = try gates(
            ["slow": ["concurrency": 1_000], "b": ["concurrency": 4], "c": [:]], concurrency: 64)
        // Of 64 a quarter is shared out between four gates.
        #expect(free("slow", gates) == 52)
        for _ in 0..<52 { gates.start(DispatchWorld.lease("slow")) }
        #expect(free("slow", gates) == 0)
        #expect(free("b", gates) == 4)
        #expect(free("c", gates) == 4)
        for _ in 0..<4 { gates.start(DispatchWorld.lease("b")) }
        #expect(free("slow", gates) == 0)
        #expect(free(nil, gates) == 4)
    }

    @Test func `more accounts than attempts leave no reserve, and all get their turn`() throws {
        let gates = try gates(
            ["a": [:], "b": [:], "c": [:], "d": [:]], concurrency: 2)
        #expect(free("a", gates) == 2)
        #expect(Set(gates.rounds().joined().map(\.account)).count == 5)
    }

    @Test func `no round is larger than the process's bound, and every account gets its turn`()
        throws
    {
        let gates = try gates(
            ["a": ["concurrency": 4], "b": ["concurrency": 4], "c": ["concurrency": 4]],
            concurrency: 5)
        var first: Set<String?> = []
        for _ in 0..<4 {
            let rounds = gates.rounds()
            for round in rounds { #expect(round.reduce(0) { $0 + $1.free } <= 5) }
            #expect(Set(rounds.joined().map(\.account)) == ["a", "b", "c", nil])
            first.insert(rounds.first?.first?.account)
        }
        #expect(first == ["a", "b", "c", nil])
        for _ in 0..<4 { gates.start(DispatchWorld.lease("a")) }
        for round in gates.rounds() { #expect(round.reduce(0) { $0 + $1.free } <= 1) }
        gates.start(DispatchWorld.lease("b"))
        #expect(gates.rounds().isEmpty)
    }

    @Test func `one round is enough where the bound is wide`() throws {
        let gates = try gates(
            ["a": ["concurrency": 4], "b": ["concurrency": 4]], concurrency: 1_000)
        #expect(gates.rounds().count == 1)
        #expect(gates.rounds().joined().map(\.free).sorted() == [4, 4, 16])
    }
}
