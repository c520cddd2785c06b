import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Goals that are no event, windows from a step, and runs that end when the customer matches no more (S21).
@Suite struct GoalKindTests {
    private let rest = [Step.delay("rest", days(30))]

    private func flow(
        _ cause: Goal.Cause, _ steps: [Step]? = nil, within: Duration = days(14),
        anchor: Goal.Anchor = .runStart, policy: ExitPolicy = .onGoal
    ) -> WorkflowDefinition {
        makeWorkflow(
            steps ?? rest, goal: Goal(cause: cause, within: within, anchor: anchor),
            exitPolicy: policy)
    }

    // S21.2
    @Test func `a milestone that the run passes is its goal`() {
        let pass = Step(id: StepID("pass"), action: .milestone(id: "activated", next: .to("rest")))
        let other = Step(id: StepID("pass"), action: .milestone(id: "other", next: .to("rest")))
        let ended = World(flow(.milestone("activated"), [pass] + rest))
        #expect(ended.ending == "exited converted")
        #expect(ended.run.convertedAt == dawn)
        #expect(ended.entry.converted)
        #expect(
            World(flow(.milestone("activated"), [pass] + rest, policy: .never)).run.convertedAt
                == dawn)
        #expect(World(flow(.milestone("activated"), [other] + rest)).run.convertedAt == nil)
    }

    @Test func `a milestone after the goal's window converts nobody`() {
        let pass = Step(id: StepID("pass"), action: .milestone(id: "activated", next: .end))
        var world = World(
            flow(
                .milestone("activated"), [.delay("first", days(3), next: .to("pass")), pass],
                within: days(2)))
        world.fire(at: after(days(3)))
        #expect(world.ending == "completed")
        #expect(world.run.convertedAt == nil)
    }

    @Test func `coming into a segment, or leaving it, is a goal by the engine's word only`() {
        func change(_ entered: Bool, _ segment: String = "vip") -> LoggedEvent {
            LoggedEvent(
                ordinal: 2, recordedAt: after(hours(1)),
                event: Event.segmentChange(
                    segment, entered: entered, customer: CustomerID(7), environment: "production",
                    at: after(hours(1)), depth: 1))
        }
        let enter = flow(.segmentEnter(SegmentID("vip")))
        let leave = flow(.segmentLeave(SegmentID("vip")))
        for (definition, entered) in [(enter, true), (leave, false)] {
            var world = World(definition)
            #expect(world.give(change(!entered)) == nil)
            #expect(world.give(change(entered, "other")) == nil)
            world.give(change(entered))
            #expect(world.ending == "exited converted")
        }
        var world = World(enter)
        #expect(world.give("segment.entered", trust: .source, ["segment": "vip"]) == nil)
    }

    @Test func `a condition is a goal as soon as it is true, within the window`() {
        let vip = flow(.condition(holds("vip")), within: days(2))
        var world = World(vip)
        world.attributes = ["vip": true]
        let outcome = world.look(at: after(days(1)))
        #expect(world.ending == "exited converted")
        #expect(world.run.convertedAt == after(days(1)))
        #expect(
            outcome?.entries.first { $0.kind == .converted }?.members["because"] != nil)
        world = World(vip)
        world.attributes = ["vip": true]
        #expect(world.look(at: after(days(2) + .milliseconds(1))) == nil)
    }

    @Test func `a condition goal latches after the run ended, while its window is open`() {
        var world = World(flow(.condition(holds("vip")), [.exit("out")]))
        #expect(world.engine.openUntil(world.run) != nil)
        world.attributes = ["vip": true]
        world.look(at: after(days(1)))
        #expect(world.run.convertedAt == after(days(1)))
        #expect(world.look(at: after(days(2))) == nil)
    }

    @Test func `a goal's condition that time makes true wakes the run`() {
        let passed = Condition.compare(
            .lt, .literal(.string(after(hours(5)).description)), ref("/now"))
        var world = World(flow(.condition(passed)))
        #expect(world.engine.nextDue(world.run) == after(hours(5)))
        world.fire(at: after(hours(5) + .milliseconds(1)))
        #expect(world.ending == "exited converted")
    }

    // S21.3
    @Test func `a goal anchored at a step opens no window before it`() {
        let steps: [Step] = [
            .delay("first", days(1), next: .to("offer")), .delay("offer", days(5)),
        ]
        let definition = flow(
            .event(EventMatch(names: ["paid"])), steps, within: days(2),
            anchor: .step(StepID("offer")))
        var world = World(definition)
        #expect(world.give("paid", at: after(hours(1))) == nil)
        world.fire(at: after(days(1)))
        world.give("paid", at: after(days(3)))
        #expect(world.ending == "exited converted")
        world = World(definition)
        world.fire(at: after(days(1)))
        #expect(world.give("paid", at: after(days(3) + .milliseconds(1))) == nil)
    }

    // MARK: Stop matching

    private func matching(
        where condition: Condition? = nil, unless: Condition? = nil,
        policy: ExitPolicy = .onStopMatching
    ) -> WorkflowDefinition {
        makeWorkflow(rest, exitPolicy: policy, where: condition, unless: unless)
    }

    // S21.2
    @Test
    func `a run ends when its customer matches the entry no more, and not on what is unknown`() {
        var world = World(matching(where: holds("trial")), attributes: ["trial": true])
        #expect(world.look(at: after(hours(1))) == nil)
        world.attributes = [:]
        #expect(world.look(at: after(hours(2))) == nil)
        world.attributes = ["trial": false]
        let outcome = world.look(at: after(hours(3)))
        #expect(world.ending == "exited stopped_matching")
        #expect(outcome?.entries.last?.members["because"] != nil)
    }

    @Test func `what must not be true ends a run when it becomes true`() {
        for policy in [ExitPolicy.onStopMatching, .onGoalOrStop] {
            var world = World(matching(unless: holds("paying"), policy: policy))
            #expect(world.look(at: after(hours(1))) == nil)
            world.attributes = ["paying": true]
            world.give("other", at: after(hours(2)))
            #expect(world.ending == "exited stopped_matching")
        }
        for policy in [ExitPolicy.onGoal, .never] {
            var world = World(matching(unless: holds("paying"), policy: policy))
            world.attributes = ["paying": true]
            #expect(world.look(at: after(hours(2))) == nil)
        }
    }

    @Test func `the entry's filters are asked of the trigger, and of no raw object that is gone`() {
        let filter = Condition.all([
            .compare(.eq, ref("/event/plan"), .literal("a")),
            .any([.exists(pointer("/event/raw/x")), holds("trial")]),
        ])
        var world = World(
            makeWorkflow(
                [.wait("listen", [.on("paid", next: .to("rest"))])] + rest,
                exitPolicy: .onStopMatching, where: filter),
            attributes: ["trial": true], trigger: ["plan": "a"])
        world.give("paid", at: after(hours(1)), ["plan": "b"])
        #expect(world.run.position?.step == StepID("rest"))
        world.attributes = ["trial": false]
        #expect(world.look(at: after(hours(2))) == nil)
    }

    @Test func `an audience and a segment's membership are matched on`() {
        var flow = matching()
        flow.entry.trigger = .segment(SegmentID("trialists"), on: .enter)
        let member = Facts(
            attributes: [:], segments: ["trialists": SegmentFacts(isMember: true)], now: dawn)
        var world = World(flow, facts: member)
        #expect(world.look(at: after(hours(1))) == nil)
        world.base.segments["trialists"] = SegmentFacts(isMember: false)
        world.look(at: after(hours(2)))
        #expect(world.ending == "exited stopped_matching")
    }
}
