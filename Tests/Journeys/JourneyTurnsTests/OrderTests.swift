import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// In which order a turn takes what is pending, and that the first outlet wins (S2, S12).
@Suite struct OrderTests {
    let listening = makeWorkflow([
        .wait("listen", for: "paid", next: .to("yes"), timeout: hours(2), onTimeout: .to("no")),
        .delay("yes", days(1)), .delay("no", days(1)),
    ])

    @Test func `one turn is one whole result`() throws {
        var world = World(makeWorkflow([.action("tell")]))
        let event = world.event("began")
        let result = world.take(event)
        let run = try #require(world.runs.first)
        #expect(result.customer.inputsTaken == 1)
        #expect(result.takenInputs == [1])
        #expect(result.newRuns == [run])
        #expect(result.changedRuns.isEmpty)
        #expect(
            run.id
                == Run.makeID(
                    workflow: WorkflowID("flow"), customer: CustomerID(7), cause: "evt_1", rerun: 0)
        )
        #expect(run.position?.step == StepID("tell"))
        #expect(result.decisions.map(\.number) == [1])
        #expect(result.decisions.map(\.at) == [dawn])
        #expect(result.requests.map(\.run) == [run.id])
        #expect(result.withdrawals.isEmpty)
        #expect(result.events.map(\.ordinal) == [1])
        #expect(result.deliveries.isEmpty)
        #expect(result.wakeAt == after(days(90)))
        #expect(result.counts == [Count(.entered, workflow: WorkflowID("flow")): 1])
        #expect(
            result.decisions.first?.json["entries"]?.array?.compactMap { $0["kind"]?.string }
                == ["entered", "read", "requested", "waiting"])
    }

    // S2.2 S2.1
    @Test func `an event recorded before the timer was due goes first`() {
        var world = World(listening)
        world.give("began")
        let paid = world.event("paid", at: after(hours(1)))
        #expect(world.take(paid, at: after(hours(3))).moves == ["listen paid"])
    }

    // S2.1
    @Test func `a timer due before an event that takes another step goes first`() {
        var world = World(
            makeWorkflow([
                .delay("rest", hours(2), next: .to("listen")), .wait("listen", for: "paid"),
            ]))
        world.give("began")
        let paid = world.event("paid", at: after(hours(3)))
        let result = world.take(paid, at: after(hours(4)))
        #expect(result.moves == ["rest next", "listen paid"])
    }

    // S2.3 S2.2
    @Test func `a due timer gives way to a recorded event of the same step, even a later one`() {
        var world = World(listening)
        world.give("began")
        let other = world.event("opened", at: after(hours(3)))
        let paid = world.event("paid", at: after(hours(4)))
        let result = world.take(other, paid, at: after(hours(5)))
        #expect(result.moves == ["listen paid"])
    }

    // S2.4
    @Test func `an event that came after the turn does not reopen it`() {
        var world = World(listening)
        world.give("began")
        #expect(world.take([], at: after(hours(2))).moves == ["listen on_timeout"])
        #expect(world.give("paid", at: after(hours(2))).moves.isEmpty)
    }

    // S2.3
    @Test func `a turn that could not load all its input takes no timer`() {
        var world = World(listening)
        world.give("began")
        let other = world.event("opened", at: after(hours(3)))
        let early = world.take(other, at: after(hours(3)), hasAllInputs: false)
        #expect(early.moves.isEmpty)
        #expect(early.wakeAt == after(hours(2)))
        #expect(world.take([], at: after(hours(3))).moves == ["listen on_timeout"])
    }

    // S2.1
    @Test func `due timers fire in the order of their times`() {
        var world = World(
            makeWorkflow("a", [.delay("late", hours(2))]),
            makeWorkflow("b", [.delay("early", hours(1))]))
        world.give("began")
        #expect(world.take([], at: after(hours(3))).moves == ["early next", "late next"])
    }

    @Test func `a timer that leads to another due one is followed within the turn's bounds`() {
        var world = World(
            makeWorkflow([.delay("one", hours(1), next: .to("two")), .delay("two", .zero)]))
        world.give("began")
        #expect(world.take([], at: after(hours(1))).moves == ["one next", "two next"])
        #expect(world.endings == ["completed"])
    }

    // S2.6
    @Test func `for one input goals come before exits, exits before waits, waits before entries`() {
        let goal = Goal(match: EventMatch(names: ["began"]))
        let exit = ExitRule(cause: .event(EventMatch(names: ["left"])), reason: "left")
        var world = World(
            makeWorkflow(
                [.wait("listen", for: "began")], entry: makeEntry(whenLive: .startAnother),
                goal: goal, exitPolicy: .never, exits: [exit]))
        world.give("began")
        let result = world.give("began", at: after(hours(1)))
        // The older run takes the event; the one it starts does not.
        #expect(world.endings == ["completed", "waiting"])
        #expect(world.conversions == [true, false])
        #expect(
            result.decisions.map { $0.entries.map(\.kind) } == [
                [.input, .converted, .moved, .ended], [.entered, .read, .waiting],
            ])
        world.give("left", at: after(hours(2)))
        #expect(world.endings == ["completed", "exited left"])
    }

    // S2.6
    @Test func `the oldest run is first, and workflows enter in the order of their ids`() {
        let wait = [Step.wait("listen", for: "paid")]
        var world = World(
            makeWorkflow("c", wait), makeWorkflow("a", wait),
            makeWorkflow("b", wait, entry: makeEntry(whenLive: .startAnother)))
        world.give("began")
        #expect(world.runs.map(\.workflow.text) == ["a", "b", "c"])
        world.give("began", at: after(hours(1)))
        // However the runs are loaded.
        let order = world.runs.map(\.id)
        world.runs.reverse()
        #expect(world.give("paid", at: after(hours(2))).decisions.map(\.run) == order)
    }

    // S2.7
    @Test func `an exit later in the turn takes an effect back before anyone sees it`() {
        let exit = ExitRule(cause: .event(EventMatch(names: ["left"])), reason: "left")
        var world = World(makeWorkflow([.action("tell")], exits: [exit]))
        let result = world.take(world.event("began"), world.event("left"))
        #expect(result.requests.isEmpty)
        #expect(result.withdrawals.map(\.reason) == ["left"])
        #expect(world.endings == ["exited left"])
    }

    // S2.5
    @Test func `a result whose run is over, or stands elsewhere, is recorded as stale`() throws {
        let exit = ExitRule(cause: .event(EventMatch(names: ["left"])), reason: "left")
        var world = World(
            makeWorkflow(
                [.action("tell", next: .to("rest")), .delay("rest", days(1))], exits: [exit]))
        world.give("began")
        let request = try #require(world.requests.first)
        world.take(world.result(of: request))
        let again = world.take(world.result(of: request))
        #expect(again.decisions.flatMap(\.entries).map(\.kind) == [.input, .stale])
        world.give("left")
        let over = world.take(world.result(of: request))
        #expect(over.decisions.flatMap(\.entries).map(\.kind) == [.input, .stale])
        #expect(over.decisions.map(\.number) == [5])
        #expect(world.counted(.stale, "flow", "result") == 2)
    }

    // S3.4
    @Test func `conditions are looked at in every turn, whatever it is about`() {
        let exit = ExitRule(cause: .condition(holds("gone")), reason: "gone")
        var world = World(makeWorkflow([.delay("rest", days(1))], exits: [exit]))
        world.give("began")
        #expect(world.take([], at: after(hours(1))).changedRuns.isEmpty)
        world.customer.attributes = ["gone": true]
        world.take([], at: after(hours(2)))
        #expect(world.endings == ["exited gone"])
    }

    // S20.1 S2.8 S5.2
    @Test func `events made too deep, tests and clamped times are counted`() {
        var world = World(makeWorkflow([.delay("rest", days(1))]))
        let deep = world.input(.event(makeEvent("began", 90, depth: 9)), at: dawn)
        let edge = world.input(.event(makeEvent("began", 91, depth: 8)), at: dawn)
        let test = world.input(.event(makeEvent("connector.test", 92)), at: dawn)
        let clamped = world.input(.event(makeEvent("opened", 93, isClamped: true)), at: dawn)
        let result = world.take(deep, edge, test, clamped)
        #expect(world.runs.map(\.cause) == ["evt_91"])
        #expect(result.events.count == 4)
        #expect(world.counted(.loop, nil, "began") == 1)
        #expect(world.counted(.ignored, nil, "test") == 1)
        #expect(world.counted(.clamped, nil, "shop") == 1)
    }

    // S18.3
    @Test func `a run whose definition cannot be loaded stands still, and others go on`() {
        var world = World(
            makeWorkflow("a", [.delay("rest", hours(1))]),
            makeWorkflow("b", [.delay("rest", hours(1))]))
        world.give("began")
        world.runs[0].version = 9
        let result = world.take([], at: after(hours(1)))
        #expect(world.endings == ["waiting", "completed"])
        #expect(result.wakeAt == nil)
    }
}
