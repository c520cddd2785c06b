import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Exits, goals, limits and what time alone ends (S12, S21, S22).
@Suite struct EndingTests {
    let listening: [Step] = [.wait("listen", [.on("paid", next: .to("out"))]), .exit("out")]
    let goal = Goal(match: EventMatch(names: ["paid"]), within: days(14))

    func exit(on name: String) -> ExitRule {
        ExitRule(cause: .event(EventMatch(names: [name])), reason: name)
    }

    func exit(when condition: Condition) -> ExitRule {
        ExitRule(cause: .condition(condition), reason: "condition")
    }

    // MARK: Exits

    // S21.2
    @Test func `an exit ends the run before the wait takes the event`() {
        var world = World(makeWorkflow(listening, exits: [exit(on: "paid")]))
        let outcome = world.give("paid")
        #expect(outcome?.moves == [])
        #expect(world.ending == "exited paid")
        #expect(outcome?.entries.map(\.kind) == [.input, .ended])
    }

    @Test func `the first exit rule that holds gives the reason`() {
        var world = World(
            makeWorkflow(listening, exits: [exit(when: holds("vip")), exit(on: "left")]))
        world.attributes = ["vip": true]
        let outcome = world.give("left")
        #expect(world.ending == "exited condition")
        #expect(outcome?.entries.last?.members["because"] != nil)
    }

    @Test func `an exit takes back an effect that has no result`() throws {
        var world = World(makeWorkflow([.action("tell")], exits: [exit(on: "left")]))
        let invocation = try #require(world.invocation)
        let outcome = world.give("left")
        #expect(outcome?.whole.withdrawals == [[invocation.text, "left"]])
        let late = world.answer(.succeeded([:]), invocation: invocation)
        #expect(late?.entries.map(\.kind) == [.input, .stale])
    }

    @Test func `an exit that a result makes true ends the run before the next effect is asked for`()
    {
        let done = Condition.compare(.eq, ref("/steps/tell/stop"), .literal(true))
        var world = World(
            makeWorkflow(
                [.action("tell", next: .to("more")), .action("more")], exits: [exit(when: done)]))
        let outcome = world.answer(.succeeded(["stop": true]))
        #expect(world.ending == "exited condition")
        #expect(outcome?.requests.isEmpty == true)
        #expect(outcome?.withdrawals.isEmpty == true)
    }

    @Test func `exits are checked again where an effect is asked for`() {
        var world = World(
            makeWorkflow(
                [.delay("rest", hours(1), next: .to("tell")), .action("tell")],
                exits: [exit(when: holds("gone"))]))
        world.attributes = ["gone": true]
        let outcome = world.fire(at: after(hours(1)))
        #expect(outcome?.requests.isEmpty == true)
        #expect(world.ending == "exited condition")
    }

    // MARK: Goals

    @Test func `the goal ends the run under on_goal, once and for all`() {
        var world = World(makeWorkflow(listening, goal: goal))
        var run = world.run
        let outcome = world.give("paid", at: after(days(3)))
        let at = JSONValue.string(after(days(3)).description)
        run.position = nil
        run.status = .exited(reason: "converted")
        run.convertedAt = after(days(3))
        run.endedAt = after(days(3))
        run.decisions = 2
        #expect(
            outcome?.whole
                == Transition(
                    run: run,
                    history: [
                        [
                            "kind": "input", "event": "evt_2", "name": "paid", "ordinal": 2,
                            "recorded_at": at, "scope": .object(world.log[1].event.scope),
                        ],
                        ["kind": "converted", "event": "evt_2", "occurred_at": at],
                        ["kind": "ended", "status": "exited", "reason": "converted"],
                    ], converted: true))
        #expect(world.give("paid") == nil)
    }

    @Test func `under never the goal latches and the event goes on to exits and waits`() {
        var world = World(makeWorkflow(listening, goal: goal, exitPolicy: .never))
        let outcome = world.give("paid")
        #expect(outcome?.converted == true)
        #expect(outcome?.entries.map(\.kind) == [.input, .converted, .moved, .ended])
        #expect(outcome?.entries.first?.members["bound_by"] == "listen")
        #expect(world.ending == "exited exit")
    }

    @Test func `a goal takes back an effect that has no result`() throws {
        var world = World(makeWorkflow([.action("tell")], goal: goal))
        let invocation = try #require(world.invocation)
        #expect(world.give("paid")?.whole.withdrawals == [[invocation.text, "converted"]])
    }

    // S5.1
    @Test func `both ends of the goal's window count, by the time it occurred`() {
        for (occurred, converts) in [
            (dawn, true), (dawn - .milliseconds(1), false), (after(days(14)), true),
            (after(days(14) + .milliseconds(1)), false),
        ] {
            var world = World(makeWorkflow(listening, goal: goal, exitPolicy: .never))
            let outcome = world.give("paid", at: after(days(15)), occurred: occurred)
            #expect((outcome?.converted ?? false) == converts, "\(occurred)")
        }
    }

    // S21.3
    @Test func `evidence more than 31 days late converts nobody`() {
        for (late, converts) in [(days(31), true), (days(31) + .milliseconds(1), false)] {
            var world = World(makeWorkflow(listening, goal: goal, exitPolicy: .never))
            let outcome = world.give("paid", at: after(days(2) + late), occurred: after(days(2)))
            #expect((outcome?.converted ?? false) == converts)
        }
    }

    // S21.3
    @Test func `a goal anchored at a step opens at its first entry, and not before`() {
        var goal = goal
        goal.anchor = .step(StepID("second"))
        goal.within = hours(3)
        var world = World(
            makeWorkflow(
                [
                    .delay("first", hours(1), next: .to("second")),
                    .delay("second", hours(2), next: .to("first")),
                ], goal: goal))
        #expect(world.give("paid") == nil)
        for hour in [1, 3, 4] { world.fire(at: after(hours(hour))) }
        #expect(world.run.visits[StepID("second")] == 2)
        #expect(world.give("paid", at: after(hours(4) + .milliseconds(1))) == nil)
        #expect(world.give("paid", occurred: after(hours(4)))?.converted == true)
    }

    // S21.4
    @Test func `an app's own word ends the run and leaves the goal to the provider's`() {
        var world = World(makeWorkflow(listening, goal: goal))
        let outcome = world.give("paid", trust: .client)
        #expect(outcome?.converted == false)
        #expect(world.ending == "exited client_outcome")
        #expect(world.give("paid", at: after(hours(1)))?.converted == true)
        #expect(world.ending == "exited client_outcome")
        var never = World(makeWorkflow(listening, goal: goal, exitPolicy: .never))
        #expect(never.give("paid", trust: .client)?.moves == ["listen paid"])
        #expect(never.run.convertedAt == nil)
    }

    @Test func `an ended run still converts, and keeps how it ended`() {
        var world = World(makeWorkflow([.delay("rest", hours(1))], goal: goal))
        world.fire(at: after(hours(1)))
        #expect(world.engine.openUntil(world.run) == after(days(14 + 31)))
        var run = world.run
        let outcome = world.give("paid", at: after(days(2)))
        run.convertedAt = after(days(2))
        run.decisions += 1
        #expect(outcome?.run == run)
        #expect(outcome?.entries.map(\.kind) == [.input, .converted])
        #expect(world.ending == "completed")
        #expect(world.give("paid") == nil)
        // Converted, it still keeps older runs from its own evidence.
        #expect(world.engine.openUntil(world.run) == after(days(14 + 31)))
        #expect(world.engine.matchesGoal(makeEvent("paid", 9), world.run, facts: world.facts))
    }

    @Test func `failed, cancelled and superseded runs do not convert`() {
        for status in [
            RunStatus.failed(error: "x"), .cancelled(reason: "x"), .superseded(reason: "x"),
        ] {
            var world = World(makeWorkflow(listening, goal: goal))
            world.run =
                world.engine.end(world.run, as: status, ordinal: 1, facts: world.facts).run
            #expect(world.engine.openUntil(world.run) == nil)
            #expect(world.give("paid") == nil)
        }
    }

    @Test func `an ended run takes nothing else`() {
        var world = World(makeWorkflow(listening, exits: [exit(on: "left")]))
        world.give("left")
        #expect(world.give("paid") == nil)
        #expect(world.fire(at: after(days(100))) == nil)
        #expect(world.look() == nil)
        #expect(world.answer(.timedOut)?.entries.map(\.kind) == [.input, .stale])
        #expect(world.engine.openUntil(world.run) == nil)
    }

    @Test func `a newer run's evidence moves this one's wait and converts it not`() {
        var world = World(makeWorkflow(listening, goal: goal))
        let outcome = world.give("paid", mayConvert: false)
        #expect(outcome?.converted == false)
        #expect(outcome?.moves == ["listen paid"])
    }

    // MARK: Limits

    // S21.2
    @Test func `too many steps fail as a loop`() {
        let flow = makeWorkflow(
            [
                .branch("a", [], otherwise: .to("b")), .branch("b", [], otherwise: .to("a")),
            ], limits: Limits(steps: 10))
        let world = World(flow)
        #expect(world.ending == "failed loop")
        #expect(world.run.stepsEntered == 11)
    }

    @Test func `an action visited too often fails as a loop, and asks for nothing more`() {
        var world = World(
            makeWorkflow(
                [
                    .action("tell", next: .to("rest")),
                    .delay("rest", hours(1), next: .to("tell")),
                ], limits: Limits(visits: 2)))
        var requested = world.entry.requests.count
        for hour in 1...2 {
            world.answer(.succeeded([:]))
            requested += world.fire(at: after(hours(hour)))?.requests.count ?? 0
        }
        #expect(requested == 2)
        #expect(world.ending == "failed loop")
    }

    // S21.2
    @Test func `past its time a run is exited, whatever it waits for`() {
        let starts: [Step] = [
            .delay("x", days(9)), .wait("x", [.on("paid")], timeout: .duration(days(9))),
            .action("x"),
        ]
        for step in starts {
            var world = World(makeWorkflow([step], limits: Limits(time: days(2))))
            let invocation = world.invocation
            #expect(world.engine.nextDue(world.run) == after(days(2)))
            #expect(world.fire(at: after(days(2)) - .milliseconds(1)) == nil)
            let outcome = world.fire(at: after(days(2)))
            #expect(world.ending == "exited time_limit")
            #expect(
                outcome?.whole.withdrawals ?? []
                    == invocation.map { [[$0.text, "time_limit"]] } ?? [])
        }
    }

    @Test func `a run ended from outside says so`() throws {
        let world = World(makeWorkflow([.action("tell")]))
        let invocation = try #require(world.invocation)
        let outcome = world.engine.end(
            world.run, as: .cancelled(reason: "operator"), ordinal: 1, facts: world.facts)
        #expect(outcome.run.status == .cancelled(reason: "operator"))
        #expect(outcome.whole.withdrawals == [[invocation.text, "operator"]])
    }

    // MARK: Time

    func passed(_ time: Instant) -> Condition {
        .compare(.gte, ref("/now"), .literal(.string(time.description)))
    }

    // S3.4
    @Test func `a wait is looked at when time alone could change a condition`() {
        var world = World(
            makeWorkflow([
                .wait("listen", [.when("noon", passed(after(hours(2))), next: .to("out"))]),
                .exit("out"),
            ]))
        #expect(world.run.position?.reconsiderAt == after(hours(2)))
        #expect(world.engine.nextDue(world.run) == after(hours(2)))
        #expect(
            world.entry.entries.last?.members["reconsider_at"]
                == .string(after(hours(2)).description))
        let outcome = world.fire(at: after(hours(2)))
        #expect(outcome?.moves == ["listen noon"])
        #expect(outcome?.entries.first?.members["timer"] == .string(after(hours(2)).description))
    }

    @Test func `an exit condition on the clock ends a run that waits for an effect`() throws {
        var world = World(
            makeWorkflow([.action("tell")], exits: [exit(when: passed(after(hours(2))))]))
        let invocation = try #require(world.invocation)
        #expect(world.engine.nextDue(world.run) == after(hours(2)))
        #expect(
            world.fire(at: after(hours(2)))?.whole.withdrawals == [[invocation.text, "condition"]])
    }

    @Test func `a timer that changes only the next time to look says so in a row`() {
        var world = World(
            makeWorkflow([
                .wait(
                    "listen",
                    [.when("both", .all([passed(after(hours(2))), holds("vip")]))],
                    timeout: .duration(days(3)))
            ]))
        let before = world.run
        let outcome = world.fire(at: after(hours(2)))
        var run = before
        run.position?.reconsiderAt = after(hours(2) + .milliseconds(1))
        run.decisions += 1
        #expect(outcome?.run == run)
        #expect(outcome?.entries.map(\.kind) == [.input, .read, .waiting])
        #expect(
            outcome?.entries.last?.members["reconsider_at"]?.string
                == after(hours(2) + .milliseconds(1)).description)
        world.fire(at: after(hours(2) + .milliseconds(1)))
        #expect(world.run.position?.reconsiderAt == nil)
        #expect(world.look() == nil)
        #expect(world.engine.nextDue(world.run) == after(days(3)))
    }
}
