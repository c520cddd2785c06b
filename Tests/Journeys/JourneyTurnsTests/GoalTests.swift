import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// Goals over all of a customer's runs, live and ended (S21).
@Suite struct GoalTests {
    let goal = Goal(match: EventMatch(names: ["paid"]), within: days(14))

    func flow(
        _ id: String = "flow", _ steps: [Step] = [.delay("rest", hours(1))],
        policy: ExitPolicy = .onGoal
    ) -> WorkflowDefinition {
        makeWorkflow(
            id, steps, entry: makeEntry(whenLive: .startAnother), goal: goal, exitPolicy: policy)
    }

    @Test func `a run that is over converts once, and stays as it ended`() {
        var world = World(flow())
        world.give("began")
        world.take([], at: after(hours(1)))
        let result = world.give("paid", at: after(days(2)))
        #expect(world.endings == ["completed"])
        #expect(world.conversions == [true])
        #expect(result.changedRuns.map(\.convertedAt) == [after(days(2))])
        #expect(result.decisions.map(\.number) == [3])
        #expect(world.give("paid", at: after(days(3))).changedRuns.isEmpty)
        #expect(world.counted(.converted, "flow") == 1)
        // It ended once.
        #expect(world.counted(.ended, "flow", "completed") == 1)
    }

    // S5.1
    @Test func `after the window, or with evidence too late, nothing converts`() {
        for (at, occurred, converts) in [
            (days(14), days(14), true), (days(15), days(15), false),
            (days(44), days(13), true), (days(44) + .milliseconds(1), days(13), false),
            (days(45), days(14), true), (days(46), days(14), false),
        ] {
            var world = World(flow())
            world.give("began")
            world.take([], at: after(hours(1)))
            world.give("paid", at: after(at), occurred: after(occurred))
            #expect(world.conversions == [converts], "\(at) \(occurred)")
        }
    }

    // S21.3
    @Test func `one event converts only the newest run, live or ended`() {
        var world = World(flow())
        world.give("began")
        world.take([], at: after(hours(1)))
        world.give("began", at: after(hours(2)))
        world.take([], at: after(hours(3)))
        world.give("paid", at: after(hours(4)))
        #expect(world.conversions == [false, true])
        // The newest, converted, keeps the older from what came later.
        world.give("paid", at: after(hours(5)))
        #expect(world.conversions == [false, true])
        #expect(world.counted(.converted, "flow") == 1)
    }

    @Test func `an older live run goes on when a newer one converts`() {
        var world = World(flow("flow", [.delay("rest", days(5))]))
        world.give("began")
        world.give("began", at: after(hours(1)))
        world.give("paid", at: after(hours(2)))
        #expect(world.endings == ["waiting", "exited converted"])
        world.give("paid", at: after(hours(3)))
        #expect(world.endings == ["waiting", "exited converted"])
    }

    @Test func `an older run's wait still takes what converts a newer one`() {
        var world = World(flow("flow", [.wait("listen", for: "paid")], policy: .never))
        world.give("began")
        world.give("began", at: after(hours(1)))
        #expect(world.give("paid", at: after(hours(2))).moves == ["listen paid", "listen paid"])
        #expect(world.conversions == [false, true])
    }

    @Test func `evidence from before the newest run is the older one's`() {
        var world = World(flow("flow", [.delay("rest", days(5))]))
        world.give("began")
        world.give("began", at: after(hours(2)))
        world.give("paid", at: after(hours(3)), occurred: after(hours(1)))
        #expect(world.conversions == [true, false])
        #expect(world.endings == ["exited converted", "waiting"])
    }

    @Test func `a newest run that cannot convert blocks nobody`() {
        for status in [
            RunStatus.failed(error: "x"), .cancelled(reason: "x"), .superseded(reason: "x"),
        ] {
            var world = World(flow("flow", [.delay("rest", days(5))]))
            world.give("began")
            world.give("began", at: after(hours(1)))
            world.runs[1].status = status
            world.runs[1].position = nil
            world.give("paid", at: after(hours(2)))
            #expect(world.conversions == [true, false])
        }
    }

    @Test func `each workflow converts by itself`() {
        var world = World(flow("a"), flow("b", [.delay("rest", days(5))]))
        world.give("began")
        world.take([], at: after(hours(1)))
        world.give("paid", at: after(hours(2)))
        #expect(world.endings == ["completed", "exited converted"])
        #expect(world.conversions == [true, true])
    }

    @Test func `an event with a key converts only the run of that key`() {
        let entry = makeEntry(key: .subscription)
        var world = World(
            makeWorkflow([.delay("rest", days(5))], entry: entry, goal: goal))
        world.give("began", ["subscription_key": "a"])
        world.give("began", ["subscription_key": "b"])
        world.give("paid", ["subscription_key": "a"])
        #expect(world.conversions == [true, false])
        world.give("paid")
        // Without a key it reaches all, so the newest has it.
        #expect(world.conversions == [true, true])
    }

    @Test func `a trigger that is also the goal does not convert the run it starts`() {
        let entry = makeEntry(whenLive: .startAnother)
        var world = World(
            makeWorkflow(
                [.delay("rest", days(5))], entry: entry,
                goal: Goal(match: EventMatch(names: ["began"]))))
        world.give("began")
        #expect(world.conversions == [false])
        world.give("began", at: after(hours(1)))
        #expect(world.conversions == [true, false])
    }
}
