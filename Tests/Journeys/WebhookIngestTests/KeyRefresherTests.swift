import Locks
import Reactor
import Telemetry
import TestSupport
import Testing
import TimeZones
import WebhookIngest

@testable import Connectors

/// Issuers' keys are fetched away from requests, and never lost to a bad answer.
@Suite(.timeLimit(.minutes(1))) struct KeyRefresherTests {
    /// A time that only the test moves, and answers as told.
    private final class Issuer: Sendable {
        private let state: Guarded<(now: Instant, answer: KeyRefresher.Answer)>
        let fetches = TestSignal<String>()

        init(_ answer: KeyRefresher.Answer) {
            state = Guarded((now: Instant(milliseconds: 1_772_359_200_000), answer: answer))
        }

        var now: Instant { state.withLock { $0.now } }

        func change(to answer: KeyRefresher.Answer, after duration: Duration) {
            state.withLock { $0 = (now: $0.now + duration, answer: answer) }
        }

        func fetch(_ address: String) -> KeyRefresher.Answer {
            fetches.send(address)
            return state.withLock { $0.answer }
        }
    }

    private static let address = "https://keys.example.com/certs"
    private static let good = Array(
        (#"{"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "e": "AQAB", "n": ""#
            + modulus + #""}]}"#).utf8)

    private static let modulus =
        "vAMnPccChAyzotJjJN_JeIWTLW2yOj4ZdTD-NPGD350t_Y1Nl3GIKEO89xRp7Y6yeCUvDhmb8WD2TYgl"
        + "GoG47ZyKhSXHc82vYADxuJYOdrYECJUO_DWBlXcap50hLhkwMyYdtyyPvETB3CULPPw0gGOH7b7UlWmx"
        + "n2XU_KkT1w_jtNf11LROpK28ZEK7LbafCdIN5F9pMDiKppH7FiMbyQ3ah2bcndFDdBmFO9NDwZiwSM7K"
        + "WRBNDGLES83d2e9ILRX9aGX4xBvLxk5LLjH6fRxUVdIwvsK8xOJ5F_Q8arj7TL8VeFUYnU07ElKsW9TV"
        + "1zA7QU3GqK8cb0D8OSHx1Q"

    private func run(
        _ issuer: Issuer, _ keys: [PublishedKeys], _ body: @escaping @Sendable () async -> Void
    ) async throws {
        try await withEventLoop { loop in
            let refresher = KeyRefresher(
                loop: loop, log: .silent, clock: { issuer.now }, keys: { keys },
                fetch: { issuer.fetch($0) })
            let running = Task(executorPreference: loop.tasks) { await refresher.run() }
            await body()
            running.cancel()
            await running.value
        }
    }

    @Test func `keys are fetched at once, one fetch an address, for every connector that asks`()
        async throws
    {
        let issuer = Issuer(.keys(Self.good))
        let keys = [PublishedKeys(address: Self.address), PublishedKeys(address: Self.address)]
        try await run(issuer, keys) {
            _ = await issuer.fetches.wait(for: 1)
            #expect(await eventually { keys.allSatisfy { $0.current != nil } })
            #expect(issuer.fetches.values == [Self.address])
        }
    }

    @Test func `an answer without keys, or none, leaves the last good one`() async throws {
        let issuer = Issuer(.keys(Self.good))
        let keys = PublishedKeys(address: Self.address)
        try await run(issuer, [keys]) {
            _ = await issuer.fetches.wait(for: 1)
            issuer.change(to: .nothing("the network is gone"), after: .seconds(3_601))
            _ = await issuer.fetches.wait(for: 2)
            // A failure is followed by another try after half a minute, not after an hour.
            issuer.change(to: .keys(Array("{}".utf8)), after: .seconds(31))
            _ = await issuer.fetches.wait(for: 3)
            #expect(keys.current != nil)
        }
    }

    @Test func `a key that is missing is looked for once a minute at most`() async throws {
        let issuer = Issuer(.keys(Self.good))
        let keys = PublishedKeys(address: Self.address)
        try await run(issuer, [keys]) {
            _ = await issuer.fetches.wait(for: 1)
            issuer.change(to: .keys(Self.good), after: .seconds(61))
            keys.noteUnknownKey()
            _ = await issuer.fetches.wait(for: 2)
            // Wished for again at once: nothing is fetched, since the clock stands still.
            keys.noteUnknownKey()
            #expect(await eventually { keys.takeWish() == false })
            #expect(issuer.fetches.values.count == 2)
        }
    }
}
