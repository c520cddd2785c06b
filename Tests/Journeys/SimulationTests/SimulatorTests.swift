import JSON
import JourneyEngine
import JourneyModel
import Simulation
import Testing
import TimeZones
import WorkflowDefinitions

@Suite struct SimulatorTests {
    let dawn = Instant(milliseconds: 1_772_359_200_000)

    private func publish(_ definition: WorkflowDefinition) -> PublishedWorkflow {
        PublishedWorkflow(definition: definition, canonical: [], digest: "d")
    }

    private func flow(
        _ steps: [Step], connectors: [String]? = nil, exits: [ExitRule] = [],
        environments: [String] = ["production"], limits: Limits = Limits()
    ) -> PublishedWorkflow {
        publish(
            WorkflowDefinition(
                id: WorkflowID("flow"), kind: .journey, environments: environments,
                entry: Entry(
                    trigger: .event(names: ["began", "provider:till:NEW"]), connectors: connectors,
                    reentry: .everyTime), exits: exits, limits: limits,
                start: steps.first?.id ?? StepID("none"),
                steps: Dictionary(steps.map { ($0.id, $0) }, uniquingKeysWith: { $1 }),
                stepOrder: steps.map(\.id)))
    }

    private func delay(_ id: String, _ length: Duration, next: Edge = .end) -> Step {
        Step(id: StepID(id), action: .delay(Delay(length: .duration(length), next: next)))
    }

    private func action(_ id: String, _ tool: ActionStep.Tool = .http, next: Edge = .end) -> Step {
        Step(
            id: StepID(id),
            action: .action(ActionStep(tool: tool, parameters: .object([]), next: next)))
    }

    private func simulated(
        _ happenings: [(Duration, String)] = [(.zero, "began")],
        _ answers: [SimulationCase.Answer] = [], until: Duration = .seconds(90 * 86_400),
        expecting expectations: [SimulationCase.Expectation] = [],
        ending: SimulationCase.Ending? = nil
    ) -> SimulationCase {
        SimulationCase(
            happenings: happenings.map { .init(at: dawn + $0.0, event: $0.1) }, answers: answers,
            until: dawn + until, expectations: expectations, ending: ending)
    }

    /// `step outlet effect after-seconds` of every transition.
    private func words(_ report: SimulationReport) -> [String] {
        report.transitions.map { transition in
            let seconds = (transition.at.milliseconds - dawn.milliseconds) / 1_000
            return
                "\(transition.step) \(transition.outlet ?? "-") \(transition.effect ?? "-") \(seconds)"
        }
    }

    @Test func `time jumps from one thing to the next`() {
        let report = Simulator.run(
            workflows: [
                flow([
                    delay("rest", .seconds(80 * 86_400), next: .step(StepID("tell"))),
                    action("tell"),
                ])
            ],
            case: simulated())
        #expect(words(report) == ["rest next - 6912000", "tell next succeeded 6912000"])
        #expect(report.turns == 3)
        #expect(report.ends.map(\.status) == ["completed"])
    }

    @Test func `nothing happens after the end`() {
        let workflow = flow([delay("rest", .seconds(60))])
        let early = Simulator.run(workflows: [workflow], case: simulated(until: .seconds(59)))
        #expect(early.transitions.isEmpty)
        #expect(early.ends.map(\.status) == ["waiting"])
        let late = Simulator.run(workflows: [workflow], case: simulated(until: .seconds(60)))
        #expect(late.ends.map(\.status) == ["completed"])
    }

    @Test func `answers of a step serve its visits in turn, and the last one all that follow`() {
        let steps = [
            action("tell", next: .step(StepID("rest"))),
            delay("rest", .seconds(60), next: .step(StepID("tell"))),
        ]
        let report = Simulator.run(
            workflows: [flow(steps)],
            case: simulated(
                [(.zero, "began")],
                [
                    .init(step: StepID("tell"), after: .seconds(5)),
                    .init(step: StepID("tell"), outcome: .suppressed(reason: "paused")),
                    .init(step: StepID("tell"), outcome: .failed(error: "http_500", detail: nil)),
                ]))
        #expect(
            words(report) == [
                "tell next succeeded 5", "rest next - 65", "tell next suppressed 65",
                "rest next - 125", "tell - failed 125",
            ])
        #expect(report.ends.map(\.reason) == ["http_500"])
    }

    @Test func `an effect that was taken back is never answered`() {
        let exit = ExitRule(cause: .event(EventMatch(names: ["left"])), reason: "left")
        let report = Simulator.run(
            workflows: [flow([action("tell")], exits: [exit])],
            case: simulated(
                [(.zero, "began"), (.seconds(10), "left")],
                [.init(step: StepID("tell"), after: .seconds(60))]))
        #expect(words(report) == ["tell - withdrawn 10"])
        #expect(report.turns == 2)
    }

    @Test func `events come as the workflow's connector and environment want them`() {
        let workflow = flow([action("tell", .log)], connectors: ["till"], environments: ["sandbox"])
        #expect(Simulator.run(workflows: [workflow], case: simulated()).ends.count == 1)
        let typed = simulated([(.zero, "provider:till:NEW"), (.seconds(1), "provider:shop:NEW")])
        #expect(Simulator.run(workflows: [workflow], case: typed).ends.count == 1)
    }

    @Test func `differences say what was expected and what came`() {
        let workflow = flow([delay("rest", .seconds(60))])
        let at = "2026-03-01T10:01:00.000Z"
        let right = SimulationCase.Expectation(
            at: dawn + .seconds(60), step: StepID("rest"), type: "delay", outlet: "next")
        var wrong = right
        wrong.outlet = "on_past"
        func differences(
            _ expectations: [SimulationCase.Expectation], _ ending: SimulationCase.Ending? = nil,
            _ happenings: [(Duration, String)] = [(.zero, "began")]
        ) -> [String] {
            Simulator.run(
                workflows: [workflow],
                case: simulated(happenings, expecting: expectations, ending: ending)
            ).differences
        }
        #expect(differences([right], .init(status: "completed", converted: false)).isEmpty)
        #expect(
            differences([wrong]) == [
                "transition 1: expected delay rest by on_past at \(at), got delay rest by next at \(at)"
            ])
        #expect(differences([]) == ["transition 1: delay rest by next at \(at) was not expected"])
        #expect(
            differences([right, right]) == [
                "transition 2: expected delay rest by next at \(at), but nothing more happened"
            ])
        #expect(
            differences([right], .init(status: "exited", converted: true)) == [
                "ends: expected status exited, got completed",
                "ends: expected converted true, got false",
            ])
        #expect(
            differences([right], .init(status: "completed", reason: "done")) == [
                "ends: expected reason done, got none"
            ])
        #expect(
            differences([], .init(status: "completed"), [(.zero, "other")]) == [
                "ends: expected completed, but no run entered"
            ])
    }

    @Test func `a step that no workflow has is a difference`() {
        let report = Simulator.run(
            workflows: [flow([delay("rest", .seconds(60))])],
            case: simulated([], [.init(step: StepID("tel"))]))
        #expect(report.differences == ["effects: no workflow has a step \"tel\""])
    }

    @Test func `a workflow that never rests is stopped`() {
        let steps = [
            delay("a", .milliseconds(1), next: .step(StepID("b"))),
            delay("b", .milliseconds(1), next: .step(StepID("a"))),
        ]
        let report = Simulator.run(
            workflows: [flow(steps, limits: Limits(steps: 1_000_000))], case: simulated(),
            mostTurns: 500)
        #expect(report.turns == 500)
        #expect(report.differences.first?.hasPrefix("the simulation stopped at") == true)
        #expect(report.differences.last?.hasPrefix("and ") == true)
    }

    @Test func `a transition and an end are one JSON object each`() {
        let report = Simulator.run(
            workflows: [flow([action("tell")])], case: simulated())
        let run = report.transitions.first?.run.text ?? ""
        #expect(
            report.transitions.map { JSONValue.object($0.json) } == [
                [
                    "at": "2026-03-01T10:00:00.000Z", "run": .string(run), "step": "tell",
                    "type": "action", "outlet": "next", "effect": "succeeded",
                ]
            ])
        #expect(
            report.ends.map { JSONValue.object($0.json) } == [
                [
                    "run": .string(run), "workflow": "flow", "status": "completed",
                    "converted": false,
                ]
            ])
    }

    @Test func `the same case always gives the same report`() {
        let workflow = flow([
            action("tell", next: .step(StepID("rest"))), delay("rest", .seconds(60)),
        ])
        #expect(
            Simulator.run(workflows: [workflow], case: simulated())
                == Simulator.run(workflows: [workflow], case: simulated()))
    }

    @Test
    func `a gap counts from accounts that the case names as messaging, else from all of http`() {
        func step(_ id: String, account: String, gap: Duration? = nil, next: Edge = .end) -> Step {
            Step(
                id: StepID(id),
                action: .action(
                    ActionStep(
                        tool: .http, account: account, parameters: .object([]), gap: gap, next: next
                    )))
        }
        let workflow = flow([
            step("one", account: "mail", next: .step(StepID("two"))),
            step("two", account: "crm", gap: .seconds(60)),
        ])
        for (messaging, seconds) in [(nil, 60), (["mail"], 60), (["crm"], 0), ([], 0)] {
            var simulated = simulated()
            simulated.messaging = messaging.map { Set($0) }
            let report = Simulator.run(workflows: [workflow], case: simulated)
            #expect(words(report).last == "two next succeeded \(seconds)")
        }
    }
}
