import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct HistoriesTests {
    @Test func `runs come with their whole histories, page by page`() async throws {
        try await World.with { world in
            let look = LookStore(pool: world.pool)
            try await world.arrive("u1", "u2", "u3")
            let entered = TestSignal<TurnResult>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                let result = Fixture.enter(turn)
                entered.send(result)
                return result
            }
            var filter = RunFilter()
            filter.limit = 2
            let page = try await look.histories(filter)
            filter.after = page.last?.summary
            let rest = try await look.histories(filter)
            let all = page + rest
            #expect(all.count == 3)
            for history in all {
                let result = try #require(
                    entered.values.first { $0.newRuns.first?.id == history.summary.id })
                #expect(try history.run.get() == result.newRuns[0])
                #expect(history.decisions.map(\.json) == result.decisions.map { $0.json.object })
                #expect(history.decisionCount == result.newRuns[0].decisions)
            }
            #expect(try await look.count(RunFilter()) == 3)
            var none = RunFilter()
            none.customer = "nobody"
            #expect(try await look.count(none) == 0)
            let log = try await look.log(
                of: all[0].summary.customer, after: 0, recordedSince: .earliest)
            #expect(log.map(\.ordinal) == [1])
        }
    }
}
