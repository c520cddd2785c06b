import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// When an action's attempts may start: window, gap, deadline (S12).
@Suite struct SendTimeTests {
    private func send(
        _ id: String, tool: ActionStep.Tool = .http, window: (String, String)? = nil,
        gap: Duration? = nil, deadline: Duration = days(1), next: Edge = .end
    ) -> Step {
        Step(
            id: StepID(id),
            action: .action(
                ActionStep(
                    tool: tool, parameters: .object([]),
                    window: window.map { start, end in
                        SendWindow(
                            window: DailyWindow(
                                start: LocalTime(start) ?? .midnight,
                                end: LocalTime(end) ?? .midnight))
                    }, gap: gap, deadline: deadline, next: next)))
    }

    // S12.2
    @Test func `an attempt waits for the window, and the deadline counts from then`() throws {
        // Dawn is ten in the morning.
        let world = World(makeWorkflow([send("tell", window: ("18:00", "20:00"))]))
        let request = try #require(world.entry.requests.first)
        #expect(request.requestedAt == dawn)
        #expect(request.notBefore == after(hours(8)))
        #expect(request.deadline == after(hours(8) + days(1)))
        let window = try #require(request.window)
        #expect(window.zone == "Etc/UTC")
        #expect(AttemptWindow(json: window.json) == window)
        #expect(!window.state(at: dawn, zones: .utcOnly).isOpen)
        #expect(window.state(at: dawn, zones: .utcOnly).opensAt == after(hours(8)))
        #expect(window.state(at: after(hours(9)), zones: .utcOnly).closesAt == after(hours(10)))
    }

    @Test func `an open window, or none, asks for an attempt at once`() throws {
        for window in [("09:00", "11:00"), nil] {
            let world = World(makeWorkflow([send("tell", window: window)]))
            let request = try #require(world.entry.requests.first)
            #expect(request.notBefore == dawn)
            #expect(request.deadline == after(days(1)))
        }
    }

    @Test func `a gap counts from the run's previous message, whatever tool carried it`() {
        for tool in ActionStep.Tool.allCases {
            for (isMessage, notBefore) in [(true, hours(5)), (false, hours(1))] {
                var world = World(
                    makeWorkflow([
                        send("one", tool: tool, next: .to("two")), send("two", gap: hours(4)),
                    ]))
                let answered = world.answer(
                    .succeeded([:]), at: after(hours(1)), isMessage: isMessage)
                #expect(answered?.requests.first?.notBefore == after(notBefore))
            }
        }
    }

    @Test func `where no result tells of messages, whatever http may have sent is one`() throws {
        let table: [(ActionStep.Tool, EffectOutcome, Duration)] = [
            (.http, .succeeded([:]), hours(5)), (.http, .unknown, hours(5)),
            (.http, .timedOut, hours(5)), (.http, .suppressed(reason: "paused"), hours(1)),
            (.http, .failed(error: "http_404", detail: nil), hours(1)),
            (.log, .succeeded([:]), hours(1)), (.slack, .succeeded([:]), hours(1)),
        ]
        for (tool, outcome, notBefore) in table {
            var first = send("one", tool: tool, next: .to("two"))
            if case .action(var action) = first.action {
                action.onFailed = .to("two")
                first.action = .action(action)
            }
            var world = World(makeWorkflow([first, send("two", gap: hours(4))]))
            let answered = world.answer(outcome, at: after(hours(1)))
            #expect(answered?.requests.first?.notBefore == after(notBefore))
        }
    }

    @Test func `a message that was under way when its step was skipped counts when it is told`() {
        var world = World(
            makeWorkflow([
                send("one", next: .to("pause")),
                Step(
                    id: StepID("pause"),
                    action: .delay(Delay(length: .duration(hours(2)), next: .to("two")))),
                send("two", gap: hours(4)),
            ]))
        let first = world.invocation
        world.command(.skip(step: StepID("one"), outlet: "next"), at: after(hours(1)))
        let told = world.answer(
            .succeeded([:]), at: after(hours(2)), invocation: first, isMessage: true)
        #expect(told?.entries.map(\.kind) == [.input, .stale])
        #expect(world.fire(at: after(hours(3)))?.requests.first?.notBefore == after(hours(6)))
    }

    @Test func `gap and window hold both`() throws {
        var world = World(
            makeWorkflow([
                send("one", next: .to("two")),
                send("two", window: ("10:00", "12:00"), gap: hours(4)),
            ]))
        let answered = world.answer(.succeeded([:]), at: after(hours(1)))
        let request = try #require(answered?.requests.first)
        #expect(request.notBefore == after(days(1)))
        #expect(request.deadline == after(days(2)))
    }

    // S12.1
    @Test func `what an earlier step of the decision changed may end the run before an effect`() {
        let exit = ExitRule(
            cause: .condition(
                .compare(.eq, ref("/customer/plan"), .literal("pro"))), reason: "pro")
        let update = Step(
            id: StepID("set"),
            action: .updateCustomer(
                UpdateCustomer(
                    attributes: [.init(key: "plan", tree: .value(.literal("pro")))],
                    next: .to("tell"))))
        let world = World(makeWorkflow([update, send("tell")], exits: [exit]))
        #expect(world.ending == "exited pro")
        #expect(world.entry.requests.isEmpty)
    }
}
