import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// What others are told of runs.
@Suite struct OutboundTests {
    private let everything = OutboundChoice(kinds: Set(OutboundKind.allCases))

    private func world() -> World {
        World(
            makeWorkflow(
                "flow", [.delay("rest", hours(1))], entry: makeEntry(whenLive: .startAnother),
                goal: Goal(match: EventMatch(names: ["paid"]), within: days(14)),
                exitPolicy: .onGoal))
    }

    private func told(
        _ world: inout World, _ name: String?, at: Instant, _ choice: OutboundChoice?
    ) -> [OutboundEvent] {
        let inputs = name.map { [world.event($0, at: at)] } ?? []
        let decider = TurnDecider(
            definitions: world.definitions, connectors: [:], outbound: choice)
        let turn = world.turn(inputs, at: at)
        let outbound = decider.decide(turn).outbound
        // The same turn tells the same ids, however often it is decided.
        #expect(decider.decide(turn).outbound == outbound)
        world.take(inputs, at: at)
        return outbound
    }

    @Test func `a run is told of as it enters, converts and ends, each once and under its own id`()
    {
        var world = world()
        let entered = told(&world, "began", at: dawn, everything)
        #expect(entered.map(\.kind) == [.entered])
        #expect(entered.first?.document["status"]?.string == "waiting")
        #expect(told(&world, "other", at: after(.seconds(60)), everything).isEmpty)
        let paid = told(&world, "paid", at: after(.seconds(120)), everything)
        #expect(paid.map(\.kind) == [.converted, .exited])
        #expect(paid.last?.document["reason"]?.string == "converted")
        let ids = Set((entered + paid).map(\.invocation.text))
        #expect(ids.count == 3)
        #expect(ids.allSatisfy { $0.utf8.count == 64 })
        #expect(told(&world, nil, at: after(hours(2)), everything).isEmpty)
    }

    @Test func `a run that completes tells its end, and its conversion when that comes later`() {
        var world = world()
        _ = told(&world, "began", at: dawn, everything)
        let ended = told(&world, nil, at: after(hours(1)), everything)
        #expect(ended.map(\.kind) == [.exited])
        #expect(ended.first?.document["status"]?.string == "completed")
        #expect(told(&world, "paid", at: after(days(1)), everything).map(\.kind) == [.converted])
    }

    @Test
    func `only the kinds and environments that are wanted are told, and nothing without a choice`()
    {
        var world = world()
        #expect(told(&world, "began", at: dawn, nil).isEmpty)
        let conversions = OutboundChoice(kinds: [.converted])
        #expect(
            told(&world, "paid", at: after(.seconds(5)), conversions).map(\.kind) == [.converted])
        let sandbox = OutboundChoice(kinds: Set(OutboundKind.allCases), environments: ["sandbox"])
        #expect(told(&world, "began", at: after(.seconds(9)), sandbox).isEmpty)
    }

    @Test func `a run that sends nothing tells nobody`() throws {
        var world = world()
        _ = told(&world, "began", at: dawn, everything)
        var turn = world.turn([world.event("paid", at: after(hours(1)))], at: after(hours(1)))
        let decider = TurnDecider(
            definitions: world.definitions, connectors: [:], outbound: everything)
        #expect(decider.decide(turn).outbound.map(\.kind) == [.converted, .exited])
        turn.runs[0].withholding = Withholding(reason: "replay", recordsRequests: false)
        #expect(decider.decide(turn).outbound.isEmpty)
    }
}
