import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Waits for events and conditions: outlets, and how far back they look (S3).
@Suite struct WaitTests {
    func ends(_ ids: String...) -> [Step] { ids.map { .exit($0, reason: $0) } }

    @Test func `a wait takes an event by its branch, as one whole transition`() {
        var world = World(
            makeWorkflow([.wait("listen", [.on("paid", next: .to("out"))])] + ends("out")))
        #expect(
            world.run.position?.waiting == .events(mark: 1, due: after(days(7))))
        var run = world.run
        let outcome = world.give("paid", at: after(hours(1)), ["price": 5])
        let at = JSONValue.string(after(hours(1)).description)
        let scope = world.log[1].event.scope
        run.position = nil
        run.status = .exited(reason: "out")
        run.endedAt = after(hours(1))
        run.bound = scope
        run.spentEvents = [EventID("evt_2")]
        run.visits[StepID("out")] = 1
        run.entries[StepID("out")] = StepEntry(at: after(hours(1)), ordinal: 2)
        run.stepsEntered = 2
        run.decisions = 2
        #expect(
            outcome?.whole
                == Transition(
                    run: run,
                    history: [
                        [
                            "kind": "input", "event": "evt_2", "name": "paid", "ordinal": 2,
                            "recorded_at": at, "bound_by": "listen", "scope": .object(scope),
                        ],
                        ["kind": "moved", "from": "listen", "outlet": "paid", "to": "out"],
                        ["kind": "ended", "status": "exited", "reason": "out"],
                    ]))
    }

    @Test func `an event that no branch names leaves no trace in the run`() {
        var world = World(makeWorkflow([.wait("listen", [.on("paid")])]))
        #expect(world.give("opened") == nil)
    }

    @Test func `a wait times out by on_timeout`() {
        var world = World(
            makeWorkflow(
                [
                    .wait(
                        "listen", [.on("paid")], timeout: .duration(hours(2)),
                        onTimeout: .to("late"))
                ] + ends("late")))
        #expect(world.fire(at: after(hours(1))) == nil)
        #expect(world.fire(at: after(hours(2)))?.moves == ["listen on_timeout"])
        #expect(world.ending == "exited late")
    }

    @Test func `a timeout at an instant is taken at once when past, and fails when missing`() {
        let flow = makeWorkflow(
            [
                .wait(
                    "listen", [.on("paid")], timeout: .until(ref("/event/ends")),
                    onTimeout: .to("late"))
            ] + ends("late"))
        #expect(
            World(flow, trigger: ["ends": .string(dawn.description)]).entry.moves
                == ["listen on_timeout"])
        #expect(
            World(flow, trigger: ["ends": .string(after(hours(1)).description)]).run.position?.due
                == after(hours(1)))
        #expect(World(flow).ending == "failed invalid_instant")
    }

    @Test func `where must be true, unless stops only on true`() {
        var match = EventMatch(names: ["paid"])
        match.condition = .compare(.gt, ref("/event/price"), .literal(3))
        match.unless = .compare(.eq, ref("/event/test"), .literal(true))
        let flow = makeWorkflow([
            .wait("listen", [.init(id: "paid", cause: .event(match), next: .end)])
        ])
        for (properties, isTaken) in [
            (["price": 4], true), (["price": 4, "test": "x"], true), (["price": 3], false),
            ([:], false), (["price": "4"], false), (["price": 4, "test": true], false),
        ] as [(JSONObject, Bool)] {
            var world = World(flow)
            #expect((world.give("paid", properties) != nil) == isTaken)
        }
    }

    // S2.2
    @Test func `of two branches that one event satisfies the first declared is taken`() {
        let event = WaitUntil.Branch.on("paid", next: .to("a"))
        let condition = WaitUntil.Branch.when("vip", holds("vip"), next: .to("b"))
        for (branches, ending) in [
            ([event, condition], "exited a"), ([condition, event], "exited b"),
        ] {
            var world = World(makeWorkflow([.wait("listen", branches)] + ends("a", "b")))
            world.attributes = ["vip": true]
            world.give("paid")
            #expect(world.ending == ending)
        }
    }

    // S3.4
    @Test func `a condition branch is taken on entry, by any input, and in every turn`() {
        let flow = makeWorkflow(
            [.wait("listen", [.when("vip", holds("vip"), next: .to("b"))])] + ends("b"))
        #expect(World(flow, attributes: ["vip": true]).entry.moves == ["listen vip"])
        var byInput = World(flow)
        byInput.attributes = ["vip": true]
        let outcome = byInput.give("anything")
        #expect(outcome?.moves == ["listen vip"])
        #expect(outcome?.entries.first?.members["event"] == "evt_2")
        #expect(byInput.run.spentEvents.isEmpty)
        var byLook = World(flow)
        #expect(byLook.look() == nil)
        byLook.attributes = ["vip": true]
        #expect(byLook.look()?.moves == ["listen vip"])
    }

    // S3.seen
    @Test func `a callback between an effect's request and its result is not lost`() {
        var world = World(
            makeWorkflow(
                [
                    .action("tell", next: .to("listen")),
                    .wait("listen", [.on("callback", next: .to("out"))]),
                ] + ends("out")))
        #expect(world.give("callback") == nil)
        world.answer(.succeeded([:]))
        #expect(world.ending == "exited out")
        #expect(world.run.spentEvents == [EventID("evt_2")])
    }

    // S3.2
    @Test func `what came before the effect was requested stays unheard by since step`() {
        var world = World(
            makeWorkflow([
                .delay("rest", hours(1), next: .to("tell")), .action("tell", next: .to("listen")),
                .wait("listen", [.on("callback")]),
            ]))
        world.give("callback")
        world.fire(at: after(hours(1)))
        world.answer(.succeeded([:]))
        #expect(world.run.position?.waiting == .events(mark: 2, due: after(hours(1) + days(7))))
    }

    // S3.2
    @Test func `after a delay only what comes later counts, unless the wait looks further back`() {
        for (since, isTaken) in [
            (.step, false), (.run, true), (.entryInto(StepID("first")), true),
            (.entryInto(StepID("second")), false),
        ] as [(WaitUntil.Since, Bool)] {
            var world = World(
                makeWorkflow(
                    [
                        .delay("first", hours(1), next: .to("second")),
                        .delay("second", hours(1), next: .to("listen")),
                        .wait("listen", [.on("paid", next: .to("out"))], since: since),
                    ] + ends("out")))
            world.give("paid", at: after(.seconds(60)))
            world.fire(at: after(hours(1)))
            world.fire(at: after(hours(2)))
            #expect((world.ending == "exited out") == isTaken, "\(since)")
        }
    }

    // S3.2
    @Test func `since a step means its latest entry`() {
        var world = World(
            makeWorkflow(
                [
                    .delay("again", hours(1), next: .to("listen")),
                    .wait(
                        "listen", [.on("paid", next: .to("out")), .on("back", next: .to("again"))],
                        since: .entryInto(StepID("again"))),
                ] + ends("out")))
        world.fire(at: after(hours(1)))
        world.give("back")
        #expect(world.run.entries[StepID("again")]?.ordinal == 2)
        #expect(world.run.entries[StepID("again")]?.firstAt == dawn)
        world.give("paid", at: after(hours(1) + .seconds(1)))
        world.fire(at: after(hours(2)))
        #expect(world.ending == "exited out")
    }

    // S3.2
    @Test func `the trigger itself is no event of its run`() {
        let world = World(makeWorkflow([.wait("listen", [.on("began")], since: .run)]))
        #expect(world.run.position?.step == StepID("listen"))
    }

    // S3.3
    @Test func `one event satisfies at most one wait`() {
        var world = World(
            makeWorkflow(
                [
                    .wait("one", [.on("paid", next: .to("two"))]),
                    .wait("two", [.on("paid", next: .to("out"))], since: .run),
                ] + ends("out")))
        world.give("paid")
        #expect(world.run.position?.step == StepID("two"))
        world.give("paid")
        #expect(world.ending == "exited out")
        #expect(world.run.spentEvents == [EventID("evt_2"), EventID("evt_3")])
    }

    @Test func `look-back takes the earliest event, whichever branch it takes`() {
        var world = World(
            makeWorkflow(
                [
                    .delay("rest", hours(1), next: .to("listen")),
                    .wait(
                        "listen", [.on("a", next: .to("x")), .on("b", next: .to("y"))], since: .run),
                ] + ends("x", "y")))
        world.give("b")
        world.give("a")
        world.fire(at: after(hours(1)))
        #expect(world.ending == "exited y")
    }

    // S3.3
    @Test func `older than the trigger counts only by the same connector's clock`() {
        let flow = makeWorkflow([.wait("listen", [.on("paid")])])
        var same = World(flow)
        #expect(same.give("paid", occurred: dawn - .milliseconds(1)) == nil)
        #expect(same.give("paid", occurred: dawn) != nil)
        var other = World(flow)
        #expect(
            other.give("paid", occurred: dawn - .milliseconds(1), connector: "other") != nil)
    }

    @Test func `an event with another key reaches only the run of that key`() {
        let flow = makeWorkflow([.wait("listen", [.on("paid")])], key: .subscription)
        for (properties, isTaken) in [
            (["subscription_key": "s1"], true), (["subscription_key": "s2"], false), ([:], true),
            (["subscription_key": nil], true),
        ] as [(JSONObject, Bool)] {
            var world = World(flow, trigger: ["subscription_key": "s1"], key: "s1")
            #expect((world.give("paid", properties) != nil) == isTaken)
        }
        var match = EventMatch(names: ["paid"])
        match.correlates = false
        var loose = World(
            makeWorkflow(
                [.wait("listen", [.init(id: "paid", cause: .event(match), next: .end)])],
                key: .subscription), trigger: ["subscription_key": "s1"], key: "s1")
        #expect(loose.give("paid", ["subscription_key": "s2"]) != nil)
    }

    @Test func `keys that print alike are the same key`() throws {
        #expect(Engine.keyText("12") == Engine.keyText(12))
        #expect(Engine.keyText(.number(try #require(JSONNumber(literal: "12.0")))) == "12")
        #expect(Engine.keyText("") == nil)
        for value in [nil, true, [1], [:]] as [JSONValue] { #expect(Engine.keyText(value) == nil) }
    }

    @Test func `an event recorded already forestalls the timer it would beat`() {
        let world = World(makeWorkflow([.wait("listen", [.on("paid")]), .delay("rest", hours(1))]))
        #expect(world.engine.wouldTake(makeEvent("paid", 2), world.run, facts: world.facts))
        #expect(!world.engine.wouldTake(makeEvent("other", 2), world.run, facts: world.facts))
        let resting = World(makeWorkflow([.delay("rest", hours(1))]))
        #expect(!resting.engine.wouldTake(makeEvent("paid", 2), resting.run, facts: resting.facts))
    }
}
