import JSON
import JourneyEngine
import JourneyStorage
import Locks
import Testing
import WorkflowDefinitions

@testable import EffectDispatch

/// How many attempts may start: by account, by rate, and in the whole process.
@Suite struct AccountGatesTests {
    /// A clock that moves when told.
    private final class Clock: Sendable {
        private let now = Guarded(ContinuousClock.now)
        var instant: ContinuousClock.Instant { now.withLock { $0 } }
        func advance(_ duration: Duration) { now.withLock { $0 += duration } }
    }

    private func gates(
        _ accounts: JSONValue, concurrency: Int = 100, _ clock: Clock = Clock()
    ) throws -> AccountGates {
        AccountGates(
            accounts: try DispatchWorld.accounts(accounts), concurrency: concurrency,
            clock: { clock.instant })
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

    @Test func `a rate allows one second's worth and refills with time`() throws {
        let clock = Clock()
        let gates = try gates(["crm": ["concurrency": 100, "rate": "10/s"]], clock)
        let lease = DispatchWorld.lease("crm")
        #expect(free("crm", gates) == 10)
        for _ in 0..<10 {
            gates.start(lease)
            gates.end(lease)
        }
        #expect(free("crm", gates) == 0)
        clock.advance(.milliseconds(250))
        #expect(free("crm", gates) == 2)
        clock.advance(.milliseconds(50))
        #expect(free("crm", gates) == 3)
        clock.advance(.seconds(3_600))
        #expect(free("crm", gates) == 10)
    }

    @Test func `a rate below one a second still lets one through at a time`() throws {
        let clock = Clock()
        let gates = try gates(["crm": ["rate": "6/m"]], clock)
        let lease = DispatchWorld.lease("crm")
        #expect(free("crm", gates) == 1)
        gates.start(lease)
        gates.end(lease)
        clock.advance(.seconds(9))
        #expect(free("crm", gates) == 0)
        clock.advance(.seconds(2))
        #expect(free("crm", gates) == 1)
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
