import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Steps that the engine carries out itself: events, attributes, milestones, other runs, commands.
@Suite struct DoingTests {
    private func sendEvent(_ properties: [ValueTree.Member], next: Edge = .end) -> Step {
        Step(
            id: StepID("emit"),
            action: .sendEvent(
                SendEvent(event: "streak.kept", properties: .object(properties), next: next)))
    }

    // S2.8
    @Test func `an event of the engine's own is one deeper than what led to it`() throws {
        let flow = makeWorkflow([
            sendEvent([
                .init(key: "days", tree: .value(ref("/trigger/days"))),
                .init(key: "list", tree: .array([.value(.literal(1))])),
            ])
        ])
        let world = World(flow, trigger: ["days": 7], depth: 3)
        let event = try #require(world.entry.emitted.first)
        #expect(event.name == "streak.kept")
        #expect(event.properties == ["days": 7, "list": [1]])
        #expect(event.depth == 4)
        #expect(event.trust == .engine)
        #expect(event.occurredAt == dawn)
        #expect(world.entry.emitted.count == 1)
        #expect(world.ending == "completed")
        // The same visit of the same step is the same event.
        #expect(World(flow, trigger: ["days": 7]).entry.emitted.first?.id == event.id)
    }

    @Test func `a result keeps the depth of its request, and time begins anew`() {
        let flow = makeWorkflow([
            .action("tell", next: .to("emit")), sendEvent([], next: .to("rest")),
            .delay("rest", hours(1), next: .to("again")),
            Step(
                id: StepID("again"), action: .sendEvent(SendEvent(event: "again", next: .end))),
        ])
        var world = World(flow, depth: 5)
        #expect(world.answer(.succeeded([:]))?.emitted.map(\.depth) == [6])
        #expect(world.fire(at: after(hours(1)))?.emitted.map(\.depth) == [1])
    }

    @Test func `an event with a part that is missing is not sent, and the run fails`() {
        let world = World(
            makeWorkflow([sendEvent([.init(key: "days", tree: .value(ref("/event/days")))])]))
        #expect(world.entry.emitted.isEmpty)
        #expect(world.ending == "failed missing")
    }

    @Test func `attributes are set and removed, and later steps see it`() {
        let update = UpdateCustomer(
            attributes: [
                .init(key: "plan", tree: .value(.literal("pro"))),
                .init(key: "from", tree: .value(ref("/trigger/plan"))),
            ], removed: ["coupon"], next: .to("fork"))
        let world = World(
            makeWorkflow([
                Step(id: StepID("set"), action: .updateCustomer(update)),
                .branch(
                    "fork",
                    [
                        .init(
                            id: "pro",
                            condition: .all([
                                .compare(.eq, ref("/customer/plan"), .literal("pro")),
                                .not(.exists(pointer("/customer/coupon"))),
                            ]), next: .to("yes"))
                    ]), .exit("yes", reason: "yes"),
            ]), attributes: ["coupon": "X"], trigger: ["plan": "basic"])
        #expect(world.ending == "exited yes")
        #expect(
            world.entry.attributeChanges == [
                AttributeChange(name: "plan", value: "pro"),
                AttributeChange(name: "from", value: "basic"),
                AttributeChange(name: "coupon", value: nil),
            ])
    }

    @Test func `a milestone is told, and kept once on the run`() {
        let pass = Step(id: StepID("pass"), action: .milestone(id: "activated", next: .to("rest")))
        var world = World(makeWorkflow([pass, .delay("rest", hours(1), next: .to("pass"))]))
        #expect(world.entry.milestones == ["activated"])
        #expect(world.fire(at: after(hours(1)))?.milestones == ["activated"])
        #expect(world.run.milestones == ["activated"])
    }

    @Test func `another run is asked for, or asked to end, by workflow and key`() {
        func command(_ key: Value?) -> RunCommand {
            RunCommand(workflow: WorkflowID("other"), key: key, next: .to("stop"))
        }
        func flow(_ key: Value?) -> WorkflowDefinition {
            makeWorkflow([
                Step(id: StepID("start"), action: .startRun(command(key))),
                Step(
                    id: StepID("stop"),
                    action: .exitRun(RunCommand(workflow: WorkflowID("other"), next: .end))),
            ])
        }
        let world = World(flow(ref("/event/order")), trigger: ["order": 12], depth: 1)
        #expect(
            world.entry.starts == [
                StartRequest(
                    workflow: WorkflowID("other"), key: "12", cause: "run:run:start:0", depth: 2)
            ])
        #expect(
            world.entry.exits == [
                ExitRequest(
                    workflow: WorkflowID("other"), key: nil, by: RunID("run"), depth: 2)
            ])
        #expect(World(flow(ref("/event/order"))).ending == "failed missing")
    }

    // MARK: Commands

    // S2.5 S2.seen
    @Test func `after an operator's skip the old timer and the old result move nothing`() throws {
        let flow = makeWorkflow([
            .wait("listen", [.on("paid", next: .to("yes"))], onTimeout: .to("no")),
            .exit("yes", reason: "yes"), .delay("no", days(9)),
        ])
        var world = World(flow)
        let skipped = world.command(.skip(step: StepID("listen"), outlet: "on_timeout"))
        #expect(skipped?.moves == ["listen on_timeout"])
        #expect(skipped?.entries.map(\.kind) == [.input, .skipped, .moved, .waiting])
        #expect(world.fire(at: after(days(7))) == nil)
        let again = world.command(.skip(step: StepID("listen"), outlet: "paid"))
        #expect(again?.entries.map(\.kind) == [.input, .stale])
        #expect(world.run.position?.step == StepID("no"))
    }

    @Test func `an outlet that the step does not have skips nothing`() {
        var world = World(makeWorkflow([.delay("rest", hours(1))]))
        let outcome = world.command(.skip(step: StepID("rest"), outlet: "sideways"))
        #expect(outcome?.entries.map(\.kind) == [.input, .stale])
        #expect(world.run.position?.step == StepID("rest"))
    }

    @Test func `a skipped action's effect is taken back`() throws {
        var world = World(makeWorkflow([.action("tell")]))
        let invocation = try #require(world.invocation)
        let outcome = world.command(.skip(step: StepID("tell"), outlet: "next"))
        #expect(
            outcome?.withdrawals == [EffectWithdrawal(invocation: invocation, reason: "skipped")])
        #expect(world.ending == "completed")
    }

    @Test func `an operator cancels a run, and a workflow ends another's`() {
        var world = World(makeWorkflow([.delay("rest", hours(1))]))
        world.command(.cancel(reason: "asked"))
        #expect(world.ending == "cancelled asked")
        world = World(makeWorkflow([.delay("rest", hours(1))]))
        world.command(.exit(reason: "exit_run"))
        #expect(world.ending == "exited exit_run")
    }
}
