import JourneyTurns
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct TimerTests {
    @Test func `a due timer makes a turn without input, and goes when nothing waits`() async throws
    {
        try await World.with { world in
            try await world.arrive("u1")
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                var result = Fixture.take(turn)
                result.wakeAt = turn.now
                return result
            }
            #expect(try await world.count("timers") == 1)
            let seen = TestSignal<CustomerTurn>()
            let report = try await world.turns.turn(limit: 10) { turn, _ in
                seen.send(turn)
                return Fixture.take(turn)
            }
            #expect(report.turns == 1)
            #expect(seen.values[0].inputs.isEmpty)
            #expect(seen.values[0].hasAllInputs)
            #expect(try await world.count("timers") == 0)
        }
    }

    @Test func `a timer moves to an earlier time at once, to a later one when it has fired`()
        async throws
    {
        try await World.with { world in
            try await world.arrive("u1")
            // Hours from now at which each turn wants to wake, and what then stands in the table.
            let steps: [(wanted: Int, stored: Int)] = [(5, 5), (9, 5), (2, 2), (3, 2)]
            for (place, step) in steps.enumerated() {
                _ = try await world.turns.turn(limit: 10) { turn, _ in
                    var result = Fixture.take(turn)
                    result.wakeAt = turn.now + .seconds(step.wanted * 3_600)
                    return result
                }
                let hours = try await world.number(
                    "select round(extract(epoch from due_at - now()) / 3600) from journey.timers")
                #expect(hours == Int64(step.stored), "step \(place)")
                _ = try await world.deliveries.store([.webhook("e\(place)", id: "u1")])
            }
            try await world.run("update journey.timers set due_at = now() - interval '1 minute'")
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                var result = Fixture.take(turn)
                result.wakeAt = turn.now + .seconds(7 * 3_600)
                return result
            }
            #expect(try await world.count("timers", "due_at > now() + interval '6 hours'") == 1)
        }
    }
}
