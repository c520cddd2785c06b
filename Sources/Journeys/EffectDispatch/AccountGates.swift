internal import JourneyEngine
internal import JourneyStorage
internal import Locks
internal import Settings
internal import Synchronization
internal import WorkflowDefinitions

/// How many attempts may start now for each account: by its own bound, its rate, and the whole
/// process's bound.
final class AccountGates: Sendable {
    fileprivate struct Gate {
        let concurrency: Int
        let ratePerSecond: Double?
        var underWay = 0
        /// Attempts the rate still allows; refilled by time, at most one second's worth.
        var allowance: Double
        var refilledAt: ContinuousClock.Instant
    }

    fileprivate struct State {
        var gates: [Key: Gate] = [:]
        var underWay = 0
        /// Counts calls, so that no account always comes first where the process's bound is short.
        var turn = 0
    }

    fileprivate struct Key: Hashable, Comparable {
        let tool: String
        let account: String?

        static func < (left: Key, right: Key) -> Bool {
            (left.tool, left.account ?? "") < (right.tool, right.account ?? "")
        }
    }

    private let concurrency: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state: Guarded<State>

    /// Lines are written at once; more of them together would only take the others' room.
    private static let logConcurrency = 16

    /// - Parameters:
    ///   - concurrency: attempts at once in this process.
    ///   - clock: what rates are measured by.
    init(
        accounts: [String: AccountSettings], concurrency: Int,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.concurrency = concurrency
        self.clock = clock
        let now = clock()
        var state = State()
        for account in accounts.values {
            state.gates[Key(tool: account.tool.rawValue, account: account.name)] = Gate(
                concurrency: account.concurrency, ratePerSecond: account.ratePerSecond,
                allowance: max(1, account.ratePerSecond ?? 0), refilledAt: now)
        }
        state.gates[Key(tool: "log", account: nil)] = Gate(
            concurrency: min(concurrency, Self.logConcurrency), ratePerSecond: nil, allowance: 0,
            refilledAt: now)
        self.state = Guarded(state)
    }

    /// Every tool and account that has a gate.
    var served: [EffectCapacity] {
        state.withLock { state in
            state.gates.keys.map {
                EffectCapacity(tool: $0.tool, account: $0.account, free: concurrency)
            }
        }
    }

    /// What may be leased now, in rounds: each keeps the process's bound by itself, and the next is to
    /// be asked only where the one before gave nothing. Mostly there is one round.
    func rounds() -> [[EffectCapacity]] {
        let now = clock()
        return state.withLock { state in
            let left = concurrency - state.underWay
            guard left > 0 else { return [] }
            let keys = state.gates.keys.sorted()
            state.turn = (state.turn + 1) % keys.count
            var rounds: [[EffectCapacity]] = []
            var room = 0
            for key in keys[state.turn...] + keys[..<state.turn] {
                let free = min(left, state.refill(key, now: now))
                guard free > 0 else { continue }
                if free > room {
                    rounds.append([])
                    room = left
                }
                room -= free
                rounds[rounds.count - 1].append(
                    EffectCapacity(tool: key.tool, account: key.account, free: free))
            }
            return rounds
        }
    }

    func start(_ lease: LeasedEffect) {
        state.withLock { state in
            state.underWay += 1
            let key = Key(lease)
            state.gates[key]?.underWay += 1
            state.gates[key]?.allowance -= 1
        }
    }

    func end(_ lease: LeasedEffect) {
        state.withLock { state in
            state.underWay -= 1
            state.gates[Key(lease)]?.underWay -= 1
        }
    }
}

extension AccountGates.Key {
    fileprivate init(_ lease: LeasedEffect) {
        self.init(tool: lease.request.tool.rawValue, account: lease.request.account)
    }
}

extension AccountGates.State {
    /// What the gate lets through now.
    fileprivate mutating func refill(
        _ key: AccountGates.Key, now: ContinuousClock.Instant
    ) -> Int {
        guard var gate = gates[key] else { return 0 }
        let free = gate.concurrency - gate.underWay
        guard let rate = gate.ratePerSecond else { return free }
        let passed = (now - gate.refilledAt) / .seconds(1)
        gate.allowance = min(max(1, rate), gate.allowance + passed * rate)
        gate.refilledAt = now
        gates[key] = gate
        return min(free, Int(gate.allowance))
    }
}
