import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

struct OncePerTests {
    private func workflow(
        whenLive: Entry.WhenLive = .ignore, steps: [Step] = [.delay("rest", hours(1))]
    ) -> WorkflowDefinition {
        makeWorkflow(
            steps,
            entry: Entry(
                trigger: .event(names: ["began"]), reentry: .everyTime,
                oncePer: ref("event", "transaction_id"), whenLive: whenLive))
    }

    @Test func `one value starts one run, whichever connector tells it`() {
        var world = World(workflow(steps: [.delay("rest", .seconds(60))]))
        let first = world.give("began", ["transaction_id": "t1"])
        #expect(first.claims.map(\.value.text) == ["t1"])
        world.wake(at: after(hours(1)))
        world.takenValues = Set(first.claims.map(\.value))
        world.give("began", at: after(hours(2)), connector: "till", ["transaction_id": "t1"])
        #expect(world.runs.count == 1)
        #expect(world.counted(.notEntered, "flow", "once_per") == 1)
        world.give("began", at: after(hours(3)), ["transaction_id": "t2"])
        #expect(world.runs.count == 2)
    }

    @Test func `numbers and texts that print alike are one value`() {
        var world = World(workflow(whenLive: .startAnother))
        world.take(
            world.event("began", ["transaction_id": 7]),
            world.event("began", ["transaction_id": "7"]))
        #expect(world.runs.count == 1)
    }

    @Test func `without the value nobody enters`() {
        var world = World(workflow())
        world.give("began")
        #expect(world.counted(.notEntered, "flow", "no_value") == 1)
    }

    @Test func `a live run decides alone`() {
        var world = World(workflow(whenLive: .restart))
        let first = world.give("began", ["transaction_id": "t1"])
        world.takenValues = Set(first.claims.map(\.value))
        world.give("began", at: after(.seconds(60)), ["transaction_id": "t1"])
        #expect(world.endings == ["superseded restarted", "waiting"])
    }
}
