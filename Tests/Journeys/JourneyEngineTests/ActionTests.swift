import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Effects: what is requested, under which key, and which outlet each end takes (S13).
@Suite struct ActionTests {
    let flow = makeWorkflow([
        .action("tell", next: .to("ok"), onFailed: .to("bad"), onTimeout: .to("slow")),
        .exit("ok", reason: "ok"), .exit("bad", reason: "bad"), .exit("slow", reason: "slow"),
    ])

    @Test func `the invocation id is the public vector's`() {
        // The vendor's published vector for journey "journey-effect-fixture", node "send-email".
        let flow = makeWorkflow([.action("send-email")])
        let trigger = makeEvent("began", 1)
        var run = makeRun(flow, trigger: trigger)
        run.id = RunID("journey-effect-fixture")
        let outcome = Engine(flow).enter(
            run, ordinal: 1, facts: Facts(attributes: [:], events: [trigger], now: dawn))
        #expect(
            outcome.requests.map(\.invocation.text) == [
                "4562c1f4554117aa95ba73ac687f05873cfdf75e8ac4bc36f3476a99248d087d"
            ])
    }

    @Test func `entering an action requests its effect and waits for it`() throws {
        let world = World(
            makeWorkflow([
                .action(
                    "tell",
                    parameters: .object([
                        .init(key: "text", tree: .value(.template("Hi {{customer.name}}"))),
                        .init(
                            key: "list",
                            tree: .array([.value(ref("/event/n")), .value(.literal(nil))])),
                    ]))
            ]), attributes: ["name": "Ada"], trigger: ["n": 5])
        let invocation = try #require(world.invocation)
        let request = EffectRequest(
            invocation: invocation, run: RunID("run"), step: StepID("tell"), attemptGroup: 0,
            tool: .log, account: nil, request: ["text": "Hi Ada", "list": [5, nil]],
            requestedAt: dawn, deadline: after(days(1)), attemptTimeout: .seconds(30),
            retry: RetryPolicy())
        var run = makeRun(world.engine.definition, trigger: world.log[0])
        run.position = Position(
            step: StepID("tell"), visit: 0, enteredAt: dawn,
            waiting: .effect(invocation, requestedOrdinal: 1))
        run.visits = [StepID("tell"): 1]
        run.entries = [StepID("tell"): StepEntry(at: dawn, ordinal: 1)]
        run.stepsEntered = 1
        run.decisions = 1
        var expected = Transition(run: run, requests: [request])
        expected.history = [
            world.entry.whole.history[0],
            [
                "kind": "read",
                "values": ["/customer/timezone": ["absent": true], "/customer/name": "Ada"],
                "questions": zoneQuestions,
            ],
            [
                "kind": "requested", "step": "tell", "invocation": .string(invocation.text),
                "attempt_group": 0, "tool": "log", "account": nil,
                "request": ["text": "Hi Ada", "list": [5, nil]],
                "deadline": .string(after(days(1)).description),
            ],
            [
                "kind": "waiting", "step": "tell", "visit": 0,
                "entered_at": .string(dawn.description), "invocation": .string(invocation.text),
            ],
        ]
        #expect(world.entry.whole == expected)
        // Nothing but the run's time limit is due.
        #expect(world.engine.nextDue(world.run) == after(days(90)))
    }

    @Test func `every end of an effect takes its outlet and is kept as the step's result`() {
        let table: [(EffectOutcome, String, JSONValue)] = [
            (.succeeded(["status": 200]), "ok", ["status": 200]),
            (.suppressed(reason: "paused"), "ok", ["suppressed": "paused"]),
            (
                .failed(error: "http_404", detail: ["status": 404]), "bad",
                ["error": "http_404", "detail": ["status": 404]]
            ),
            (.unknown, "bad", ["error": "ambiguous"]),
            (.timedOut, "slow", ["error": "timeout"]),
            (.expired, "slow", ["error": "expired"]),
        ]
        for (outcome, reason, result) in table {
            var world = World(flow)
            world.answer(outcome)
            #expect(world.ending == "exited \(reason)")
            #expect(world.run.results == [StepID("tell"): result])
        }
    }

    @Test func `a success is one whole transition`() throws {
        var world = World(flow)
        var run = world.run
        let invocation = try #require(world.invocation).text
        let outcome = world.answer(.succeeded(["status": 200]), at: after(.seconds(3)))
        run.position = nil
        run.status = .exited(reason: "ok")
        run.endedAt = after(.seconds(3))
        run.results = [StepID("tell"): ["status": 200]]
        run.visits[StepID("ok")] = 1
        run.entries[StepID("ok")] = StepEntry(at: after(.seconds(3)), ordinal: 2)
        run.stepsEntered = 2
        run.decisions = 2
        #expect(
            outcome?.whole
                == Transition(
                    run: run,
                    history: [
                        [
                            "kind": "input", "result": .string(invocation), "step": "tell",
                            "ordinal": 2, "at": .string(after(.seconds(3)).description),
                            "outcome": ["outcome": "succeeded", "result": ["status": 200]],
                        ],
                        ["kind": "moved", "from": "tell", "outlet": "next", "to": "ok"],
                        ["kind": "ended", "status": "exited", "reason": "ok"],
                    ]))
    }

    @Test func `without on_timeout a timeout goes by on_failed, without either the run fails`() {
        for outcome in [EffectOutcome.timedOut, .expired] {
            var world = World(
                makeWorkflow([.action("tell", onFailed: .to("bad")), .exit("bad", reason: "bad")]))
            world.answer(outcome)
            #expect(world.ending == "exited bad")
        }
        let table: [(EffectOutcome, String)] = [
            (.timedOut, "timeout"), (.expired, "expired"), (.unknown, "ambiguous"),
            (.failed(error: "http_500", detail: nil), "http_500"),
        ]
        for (outcome, error) in table {
            var world = World(makeWorkflow([.action("tell")]))
            world.answer(outcome)
            #expect(world.run.status == .failed(error: error))
        }
    }

    @Test func `a request with a missing part is never sent`() {
        let parameters = ValueTree.object([.init(key: "text", tree: .value(ref("/customer/name")))])
        let handled = World(
            makeWorkflow([
                .action("tell", onFailed: .to("bad"), parameters: parameters),
                .exit("bad", reason: "bad"),
            ]))
        #expect(handled.entry.requests.isEmpty)
        #expect(handled.ending == "exited bad")
        let bare = World(makeWorkflow([.action("tell", parameters: parameters)]))
        #expect(bare.ending == "failed missing")
        #expect(
            bare.run.results == [
                StepID("tell"): [
                    "error": "missing", "detail": "nothing stands at /customer/name",
                ]
            ])
    }

    @Test func `another visit asks under another key, and a late result of the first is stale`()
        throws
    {
        let flow = makeWorkflow([
            .action("tell", next: .to("rest")), .delay("rest", hours(1), next: .to("tell")),
        ])
        var world = World(flow)
        let first = try #require(world.invocation)
        world.answer(.succeeded([:]))
        let again = world.fire(at: after(hours(1)))
        let second = try #require(world.invocation)
        #expect(first != second)
        #expect(again?.requests.map(\.attemptGroup) == [1])
        let before = world.run
        let stale = world.answer(.timedOut, invocation: first)
        var run = before
        run.decisions += 1
        #expect(
            stale?.whole
                == Transition(
                    run: run,
                    history: [
                        [
                            "kind": "input", "result": .string(first.text), "step": "tell",
                            "ordinal": 3, "at": .string(after(hours(1)).description),
                            "outcome": ["outcome": "timed_out"],
                        ],
                        [
                            "kind": "stale", "invocation": .string(first.text),
                            "outcome": ["outcome": "timed_out"],
                        ],
                    ]))
        #expect(world.invocation == second)
    }

    @Test func `results are read by later steps`() {
        var world = World(
            makeWorkflow([
                .action("tell", next: .to("fork")),
                .branch(
                    "fork",
                    [
                        .init(
                            id: "good",
                            condition: .compare(
                                .lt, ref("/steps/tell/status"), .literal(300)), next: .to("good"))
                    ]), .exit("good", reason: "good"),
            ]))
        world.answer(.succeeded(["status": 204]))
        #expect(world.ending == "exited good")
    }
}
