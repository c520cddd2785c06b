import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// What the engine puts in for itself.
struct EngineInputTests {
    private let byAPI = Entry(trigger: .api, reentry: .everyTime)

    // S2.8
    @Test func `an event that a step sends is an input of the next turn, one deeper`() {
        var world = World(
            makeWorkflow("first", [.send("tell", "pinged")]),
            makeWorkflow(
                "second", [.delay("rest", days(1))],
                entry: Entry(trigger: .event(names: ["pinged"]), reentry: .everyTime)))
        let result = world.give("began")
        #expect(result.events.map(\.event.name) == ["began"])
        #expect(world.runs.map(\.workflow.text) == ["first"])
        let events = world.settle()
        #expect(events.map(\.name) == ["pinged"])
        #expect(events.map(\.depth) == [1])
        #expect(world.runs.map(\.workflow.text) == ["first", "second"])
    }

    // S2.8
    @Test func `an event that leads to itself is stored, counted, and wakes nothing at depth nine`()
    {
        var world = World(
            makeWorkflow(
                [.send("tell", "began")],
                entry: Entry(trigger: .event(names: ["began"]), reentry: .everyTime)))
        world.give("began")
        let events = world.settle()
        #expect(events.map(\.depth) == Array(1...9))
        #expect(world.runs.count == 9)
        #expect(world.counted(.loop, nil, "began") == 1)
    }

    // S2.8
    @Test func `a run starts another once a visit, and ends it`() {
        var world = World(
            makeWorkflow("boss", [.startRun("go", "helper")]),
            makeWorkflow(
                "stop", [.exitRun("halt", "helper")],
                entry: Entry(trigger: .event(names: ["enough"]), reentry: .everyTime)),
            makeWorkflow("helper", [.delay("rest", days(1))], entry: byAPI))
        world.give("began")
        #expect(world.runs.count == 1)
        world.settle()
        #expect(world.runs.map(\.workflow.text) == ["boss", "helper"])
        #expect(world.runs[1].trigger.isEmpty)
        world.give("enough")
        world.settle()
        #expect(world.endings == ["completed", "exited exit_run", "completed"])
    }

    @Test func `a start of what is not live is counted`() {
        var world = World(makeWorkflow("boss", [.startRun("go", "nobody")]))
        world.give("began")
        world.settle()
        #expect(world.counted(.notEntered, "nobody", "no_workflow") == 1)
    }

    // S4.1 S4.2
    @Test func `a start is taken once for each cause, and keeps the key it was given`() {
        var world = World(
            makeWorkflow(
                "helper", [.delay("rest", days(1))],
                entry: Entry(
                    trigger: .api, reentry: .everyTime, whenLive: .startAnother)))
        let start = StartInput(
            StartRequest(workflow: WorkflowID("helper"), key: "k1", cause: "batch-1", depth: 0))
        world.take(world.input(.start(start), at: dawn))
        world.take(world.input(.start(start), at: dawn))
        #expect(world.runs.map(\.cause) == ["batch-1"])
        #expect(world.runs.map(\.key) == ["k1"])
        #expect(world.counted(.notEntered, "helper", "cause_spent") == 1)
    }

    // S4.6
    @Test func `a start gives way to a live run, unless it is to take its place`() {
        var world = World(makeWorkflow("helper", [.delay("rest", days(1))], entry: byAPI))
        func start(_ cause: String, supersedes: Bool = false) -> TurnInput.Content {
            .start(
                StartInput(
                    StartRequest(
                        workflow: WorkflowID("helper"), key: nil, cause: cause, depth: 0),
                    supersedes: supersedes))
        }
        world.take(world.input(start("a"), at: dawn))
        world.take(world.input(start("b"), at: dawn))
        #expect(world.counted(.notEntered, "helper", "live") == 1)
        world.take(world.input(start("c", supersedes: true), at: dawn))
        #expect(world.endings == ["superseded restarted", "waiting"])
    }

    @Test func `what a workflow writes is read by what follows in the turn`() {
        let exit = ExitRule(cause: .condition(holds("gone")), reason: "gone")
        var world = World(
            makeWorkflow("a-writer", [.set("mark", "gone", .literal(true))]),
            makeWorkflow("b-reader", [.delay("rest", days(1))], exits: [exit]))
        let result = world.give("began")
        #expect(world.customer.attributes == ["gone": true])
        #expect(result.customer.setters["gone"]?.occurredAt == dawn)
        #expect(world.endings.first == "completed")
        #expect(world.counted(.filtered, "b-reader", "exits") == 1)
    }
}
