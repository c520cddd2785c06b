import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Delays, branches and exits: each outlet, compared as whole transitions.
@Suite struct StepTests {
    // S3.1
    @Test func `entering a delay of a length waits until then`() {
        let world = World(makeWorkflow([.delay("rest", hours(2))]))
        var run = makeRun(world.engine.definition, trigger: world.log[0])
        run.position = Position(
            step: StepID("rest"), visit: 0, enteredAt: dawn, waiting: .delay(due: after(hours(2))))
        run.visits = [StepID("rest"): 1]
        run.entries = [StepID("rest"): StepEntry(at: dawn, ordinal: 1)]
        run.stepsEntered = 1
        run.decisions = 1
        #expect(
            world.entry.whole
                == Transition(
                    run: run,
                    history: [
                        [
                            "kind": "entered", "run": "run", "workflow": "flow", "version": 1,
                            "digest": "d1", "customer": 7, "key": nil, "slot": 0, "cause": "evt_1",
                            "rerun": 0, "environment": "production", "ordinal": 1,
                            "entry_ordinal": 1, "at": .string(dawn.description),
                            "trigger_recorded_at": .string(dawn.description),
                            "trigger": .object(run.trigger), "engine": 2, "zone": "Etc/UTC",
                            "tz": "fixed", "depth": 0,
                        ],
                        [
                            "kind": "read",
                            "values": ["/customer/timezone": ["absent": true]],
                            "questions": zoneQuestions,
                        ],
                        [
                            "kind": "waiting", "step": "rest", "visit": 0,
                            "entered_at": .string(dawn.description),
                            "due": .string(after(hours(2)).description),
                        ],
                    ]))
        #expect(world.engine.nextDue(world.run) == after(hours(2)))
    }

    @Test func `a due delay goes on by next and completes at the end`() {
        var world = World(makeWorkflow([.delay("rest", hours(2))]))
        var run = world.run
        let outcome = world.fire(at: after(hours(2)))
        run.position = nil
        run.status = .completed
        run.endedAt = after(hours(2))
        run.decisions = 2
        let due = JSONValue.string(after(hours(2)).description)
        #expect(
            outcome?.whole
                == Transition(
                    run: run,
                    history: [
                        ["kind": "input", "timer": due, "at": due, "ordinal": 1],
                        ["kind": "moved", "from": "rest", "outlet": "next", "to": "end"],
                        ["kind": "ended", "status": "completed"],
                    ]))
        #expect(world.engine.nextDue(world.run) == nil)
    }

    @Test func `a delay woken early changes nothing`() {
        var world = World(makeWorkflow([.delay("rest", hours(2))]))
        #expect(world.fire(at: after(hours(2)) - .milliseconds(1)) == nil)
    }

    @Test func `a delay until an instant waits for it`() {
        let world = World(
            makeWorkflow([.delay("rest", until: ref("/event/ends"), onPast: .end)]),
            trigger: ["ends": .string(after(days(3)).description)])
        #expect(world.run.position?.waiting == .delay(due: after(days(3))))
    }

    @Test func `a delay until the past goes on by on_past`() {
        let world = World(
            makeWorkflow([
                .delay("rest", until: ref("/event/ends"), next: .to("next"), onPast: .to("past")),
                .exit("next"), .exit("past", reason: "too_late"),
            ]), trigger: ["ends": .string(dawn.description)])
        #expect(world.entry.moves == ["rest on_past"])
        #expect(world.ending == "exited too_late")
    }

    // S11.6
    @Test func `a delay without an instant takes on_invalid, or fails; it never falls through`() {
        for ends in [JSONValue?.none, .null, "tomorrow", 12] {
            let trigger: JSONObject = ends.map { ["ends": $0] } ?? [:]
            let handled = World(
                makeWorkflow([
                    .delay(
                        "rest", until: ref("/event/ends"), onPast: .end, onInvalid: .to("odd")),
                    .exit("odd"),
                ]), trigger: trigger)
            #expect(handled.entry.moves == ["rest on_invalid"])
            #expect(handled.ending == "exited exit")
            let bare = World(
                makeWorkflow([.delay("rest", until: ref("/event/ends"), onPast: .end)]),
                trigger: trigger)
            #expect(bare.entry.moves.isEmpty)
            #expect(bare.ending == "failed invalid_instant")
        }
    }

    @Test func `a branch takes its first true arm and says why`() {
        let flow = makeWorkflow([
            .branch(
                "fork",
                [
                    .init(id: "vip", condition: holds("vip"), next: .to("high")),
                    .init(
                        id: "any", condition: .exists(pointer("/customer/vip")), next: .to("low")),
                ], otherwise: .to("none")),
            .exit("high", reason: "high"), .exit("low", reason: "low"),
            .exit("none", reason: "none"),
        ])
        let high = World(flow, attributes: ["vip": true])
        #expect(high.ending == "exited high")
        #expect(
            high.entry.whole.history.dropFirst() == [
                [
                    "kind": "read",
                    "values": ["/customer/timezone": ["absent": true], "/customer/vip": true],
                    "questions": zoneQuestions,
                ],
                [
                    "kind": "moved", "from": "fork", "outlet": "vip", "to": "high",
                    "because": [
                        ["at": "/eq", "operator": "eq", "values": [true, true], "result": "true"]
                    ],
                ],
                ["kind": "ended", "status": "exited", "reason": "high"],
            ])
        #expect(World(flow, attributes: ["vip": false]).ending == "exited low")
    }

    // S11.4
    @Test func `a branch on what is unknown goes else, and records what was absent`() {
        let world = World(
            makeWorkflow([
                .branch(
                    "fork", [.init(id: "vip", condition: .not(holds("vip")), next: .end)],
                    otherwise: .to("none")),
                .exit("none"),
            ]))
        #expect(world.entry.moves == ["fork else"])
        #expect(
            world.entry.whole.history[1]["values"]?["/customer/vip"] == ["absent": true])
    }

    @Test func `an exit step ends with its reason`() {
        let world = World(makeWorkflow([.exit("out", reason: "done")]))
        #expect(world.run.status == .exited(reason: "done"))
        #expect(world.run.endedAt == dawn)
        #expect(World(makeWorkflow([.exit("out")])).ending == "exited exit")
    }

    // S11.5
    @Test func `a step that the definition does not hold fails the run`() {
        #expect(World(makeWorkflow([])).ending == "failed step_missing")
        var world = World(makeWorkflow([.delay("rest", hours(1))]))
        world.run.position?.step = StepID("gone")
        world.fire(at: after(hours(1)))
        #expect(world.ending == "failed step_missing")
    }

    @Test func `a way through very many steps takes no stack`() {
        let count = 20_000
        var steps = (0..<count).map {
            Step.branch("s\($0)", [], otherwise: .to("s\($0 + 1)"))
        }
        steps.append(.exit("s\(count)", reason: "far"))
        let world = World(makeWorkflow(steps, limits: Limits(steps: count + 1)))
        #expect(world.ending == "exited far")
    }
}
