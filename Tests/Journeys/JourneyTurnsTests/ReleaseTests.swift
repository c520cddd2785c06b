import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import WorkflowDefinitions

/// Events that waited for their owner longer than a day.
struct ReleaseTests {
    // S10.9
    @Test func `an event released late changes state, moves runs and starts nothing`() {
        let waiting = StepID("waiting")
        let flow = WorkflowDefinition(
            id: WorkflowID("f"), kind: .journey,
            entry: Entry(trigger: .event(names: ["x.began"]), reentry: .everyTime),
            start: waiting, steps: [waiting: .wait("waiting", for: "subscription.started")],
            stepOrder: [waiting])
        let entered = WorkflowDefinition(
            id: WorkflowID("g"), kind: .journey,
            entry: Entry(trigger: .event(names: ["subscription.started"]), reentry: .everyTime),
            start: waiting, steps: [waiting: .wait("waiting", for: "x.never")],
            stepOrder: [waiting])
        let member = SegmentDefinition(
            id: SegmentID("s"),
            condition: .subscription(
                .compare(.eq, ref("subscription", "status"), .literal("active")))
        )
        var world = World([flow, entered], segments: [member])
        world.give("x.began")
        var input = world.event("subscription.started", ["subscription_key": "k"])
        input.mayStart = false
        let result = world.take(input)
        #expect(world.endings == ["completed"])
        #expect(world.subscriptions.first?.status == "active")
        #expect(result.emitted.isEmpty)
        #expect(world.members[SegmentID("s")] != nil)
        #expect(world.counted(.notEntered, nil, "released_late") == 1)
        // The same in time does.
        world.give("subscription.started", ["subscription_key": "k2"])
        #expect(world.runs.count == 2)
    }
}
