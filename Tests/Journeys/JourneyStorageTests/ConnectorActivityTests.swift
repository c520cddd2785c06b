import Testing
import TimeZones

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(1)))
struct ConnectorActivityTests {
    @Test func `a connector that falls silent is told of once, and when it speaks again`()
        async throws
    {
        try await World.with { world in
            let store = ConnectorActivityStore(pool: world.pool)
            let silences: [String: Duration] = [
                "shop": .seconds(3_600), "quiet": .zero, "never": .seconds(1),
            ]
            let long = Instant(milliseconds: 1_000_000)
            // Who never delivered is not silent: nothing was expected yet.
            #expect(try await store.note([:], silences: silences).activities.isEmpty)
            let first = try await store.note(
                ["shop": long, "quiet": long], silences: silences)
            #expect(first.fellSilent == ["shop"])
            #expect(first.activities.map(\.connector) == ["quiet", "shop"])
            #expect(first.activities.map(\.isSilent) == [false, true])
            // Another process looks: it was told already.
            #expect(try await store.note([:], silences: silences).fellSilent.isEmpty)
            // An older delivery, written late, changes nothing; one of just now does.
            let ahead = Instant(milliseconds: 4_000_000_000_000)
            let again = try await store.note(["shop": ahead], silences: silences)
            #expect(again.spokeAgain == ["shop"])
            #expect(again.fellSilent.isEmpty)
            #expect(again.activities.map(\.isSilent) == [false, false])
            // A clock that is ahead does not hide a silence to come.
            #expect(again.activities.allSatisfy { $0.lastAt <= $0.now })
        }
    }
}
