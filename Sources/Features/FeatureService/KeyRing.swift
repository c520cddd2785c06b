internal import FeatureLedger
internal import FeatureModel
internal import Locks

/// Who may ask, and how fast. There is one bucket for each configured key and no other, so that nothing
/// grows with what strangers send.
final class KeyRing: Sendable {
    /// A key's holder.
    struct Client: Sendable {
        let name: String
        let environment: LedgerEnvironment
        let bucket: TokenBucket
    }

    private let clients: [String: Client]

    init(_ settings: [String: KeySettings]) {
        var clients: [String: Client] = [:]
        for (name, key) in settings {
            clients[key.publicKey] = Client(
                name: name, environment: key.isSandbox ? .sandbox : .production,
                bucket: TokenBucket(perSecond: key.ratePerSecond, most: key.burst))
        }
        self.clients = clients
    }

    func client(_ key: String) -> Client? { clients[key] }
}

/// Lets so many requests a second through, and a few at once after a rest.
final class TokenBucket: Sendable {
    private struct State {
        var tokens: Double
        var filledAt: ContinuousClock.Instant?
    }

    private let perSecond: Double
    private let most: Double
    private let state: Guarded<State>

    init(perSecond: Int, most: Int) {
        self.perSecond = Double(perSecond)
        self.most = Double(most)
        state = Guarded(State(tokens: Double(most), filledAt: nil))
    }

    /// Takes one; nil when it may go on, else how long to wait.
    func take(at now: ContinuousClock.Instant) -> RetryAfter? {
        state.withLock { state in
            if let filledAt = state.filledAt, now > filledAt {
                let (seconds, attoseconds) = (now - filledAt).components
                let passed = Double(seconds) + Double(attoseconds) / 1e18
                state.tokens = min(most, state.tokens + passed * perSecond)
            }
            state.filledAt = max(now, state.filledAt ?? now)
            guard state.tokens < 1 else {
                state.tokens -= 1
                return nil
            }
            let seconds = (1 - state.tokens) / perSecond
            return RetryAfter(milliseconds: Int64((seconds * 1_000).rounded(.up)))
        }
    }
}
