internal import JourneyEngine
internal import JourneyStorage
internal import Locks
internal import Settings
internal import WorkflowDefinitions

/// How many attempts may start now in this process, account by account.
///
/// The accounts' own concurrency and rate hold over all processes and are kept by the database; these gates
/// keep the process's bound, and see to it that one slow account does not take all of it.
final class AccountGates: Sendable {
    fileprivate struct Gate {
        let limits: AccountLimits?
        /// Attempts at once in this process.
        let most: Int
        var underWay = 0
        /// Attempts that the others always leave room for.
        var reserve = 0

        /// Room that nobody else may take.
        var kept: Int { max(0, reserve - underWay) }
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
    private let state: Guarded<State>

    /// Lines are written at once; more of them together would only take the others' room.
    private static let logConcurrency = 16

    /// - Parameter concurrency: attempts at once in this process.
    init(accounts: [String: AccountSettings], concurrency: Int) {
        self.concurrency = concurrency
        var state = State()
        for account in accounts.values {
            state.gates[Key(tool: account.tool.rawValue, account: account.name)] = Gate(
                limits: AccountLimits(account), most: account.concurrency)
        }
        state.gates[Key(tool: "log", account: nil)] = Gate(
            limits: nil, most: min(concurrency, Self.logConcurrency))
        // A quarter of the bound is shared out, at least one attempt each where there are as many.
        let share = max(1, concurrency / 4 / state.gates.count)
        if state.gates.count * share <= concurrency {
            state.gates = state.gates.mapValues { gate in
                var gate = gate
                gate.reserve = min(share, gate.most)
                return gate
            }
        }
        self.state = Guarded(state)
    }

    /// Every tool and account that has a gate.
    var served: [EffectCapacity] {
        state.withLock { state in
            state.gates.map { key, gate in
                EffectCapacity(
                    tool: key.tool, account: key.account, free: concurrency, limits: gate.limits)
            }
        }
    }

    /// What may be leased now, in rounds: each keeps the process's bound by itself, and the next is to
    /// be asked only where the one before gave nothing. Mostly there is one round.
    func rounds() -> [[EffectCapacity]] {
        state.withLock { state in
            let left = concurrency - state.underWay
            guard left > 0 else { return [] }
            let kept = state.gates.values.reduce(0) { $0 + $1.kept }
            let keys = state.gates.keys.sorted()
            state.turn = (state.turn + 1) % keys.count
            var rounds: [[EffectCapacity]] = []
            var room = 0
            for key in keys[state.turn...] + keys[..<state.turn] {
                guard let gate = state.gates[key] else { continue }
                let free = min(
                    gate.most - gate.underWay,
                    max(left - (kept - gate.kept), min(gate.kept, left)))
                guard free > 0 else { continue }
                if free > room {
                    rounds.append([])
                    room = left
                }
                room -= free
                rounds[rounds.count - 1].append(
                    EffectCapacity(
                        tool: key.tool, account: key.account, free: free, limits: gate.limits))
            }
            return rounds
        }
    }

    func start(_ lease: LeasedEffect) {
        state.withLock { state in
            state.underWay += 1
            state.gates[Key(lease)]?.underWay += 1
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

extension AccountLimits {
    /// What the configuration says of an account that the database has to keep to.
    init(_ account: AccountSettings) {
        self.init(
            concurrency: account.concurrency, ratePerSecond: account.ratePerSecond,
            isIdempotent: account.isIdempotent,
            messages: account.channel.map { channel in
                Messages(
                    channel: channel,
                    cap: account.cap.map { Cap(messages: $0.messages, period: $0.period) })
            })
    }
}
