import Crypto
import JSON
import JourneyModel
import TestMaterial
import Testing
import TimeZones
import WorkflowDefinitions

struct PublishedFormTests {
    private static let shipped = ["trial-onboarding", "new-subscriber-alert"]

    private func published(_ path: String) throws -> PublishedWorkflow {
        let events = EventDeclarations.read(
            try PackageFiles.bytes(of: "Workflows/events.json"), file: "Workflows/events.json")
        #expect(events.diagnostics.isEmpty)
        let outcome = WorkflowParser.read(
            try PackageFiles.bytes(of: path), file: path, events: events.declarations)
        for diagnostic in outcome.diagnostics { Issue.record("\(diagnostic)") }
        return try #require(outcome.published)
    }

    @Test(arguments: shipped)
    func `a shipped workflow is valid`(_ name: String) throws {
        #expect(try published("Workflows/\(name).json").definition.id.text == name)
    }

    @Test func `the workflow shown in the readme is valid`() throws {
        let workflow = try published("Tests/Fixtures/workflows/readme-example.json").definition
        #expect(workflow.exitPolicy == .onGoal)
        #expect(workflow.stepOrder.map(\.text) == ["wait", "tell"])
    }

    @Test(arguments: shipped)
    func `a published form is read back unchanged`(_ name: String) throws {
        let published = try published("Workflows/\(name).json")
        let loaded = try WorkflowParser.load(canonical: published.canonical)
        #expect(loaded == published)
        #expect(published.digest == SHA256.hex(published.canonical))
        #expect(published.digest.utf8.count == 64)
    }

    @Test(arguments: shipped)
    func `publishing a published form changes nothing`(_ name: String) throws {
        let published = try published("Workflows/\(name).json")
        let again = WorkflowParser.read(
            published.canonical, file: "\(name).json", events: EventDeclarations())
        #expect(again.published == published)
    }

    @Test func `blanks and the order of keys change no digest`() throws {
        let first = try #require(read(value(sample)).published)
        let sorted = try JSONParser.parse(value(sample).canonicalBytes)
        #expect(read(sorted).published == first)
    }

    @Test func `every default is written out`() throws {
        let published = try #require(read(value(sample)).published)
        let json = try JSONParser.parse(published.canonical)
        func at(_ pointer: String) -> JSONValue? { JSONPointer(pointer)?.resolve(in: json) }
        #expect(at("/environments") == ["production"])
        #expect(at("/exit_policy") == "on_goal")
        #expect(at("/entry/when_live") == "ignore")
        #expect(at("/goal/anchor") == "run_start")
        #expect(at("/goal/correlate") == true)
        #expect(at("/exits/0/reason") == "trial.expired")
        #expect(at("/exits/1/reason") == "condition")
        #expect(at("/limits") == ["time": "P30D", "steps": 1000, "visits": 10])
        #expect(at("/steps/tell/with/method") == "POST")
        #expect(at("/steps/tell/attempt_timeout") == "PT30S")
        #expect(at("/steps/tell/deadline") == "P1D")
        #expect(
            at("/steps/tell/retry")
                == [
                    "attempts": 3, "backoff": "PT1S", "factor": 2, "max": "PT1H", "jitter": true,
                    "on": ["timeout", "network", "429", "5xx"],
                ])
        #expect(at("/steps/say/with/level") == "info")
        #expect(at("/steps/tell/with/json/list") == [1, ["literal": ["ref": "x"]]])
    }

    @Test func `the defaults follow the kind and the goal`() throws {
        let journey = value(sample).setting("/entry/reentry", to: nil)
        #expect(try #require(read(journey).published).definition.entry.reentry == .oneTime)
        let withoutGoal = journey.setting("/goal", to: nil)
        #expect(try #require(read(withoutGoal).published).definition.exitPolicy == .never)
        let automation = try published("Workflows/new-subscriber-alert.json").definition
        #expect(automation.entry.reentry == .everyTime)
        #expect(automation.goal == nil)
    }

    @Test func `a definition is read into its types`() throws {
        let definition = try #require(read(value(sample)).published).definition
        #expect(
            definition.stepOrder.map(\.text) == ["pause", "wait", "choose", "tell", "say", "quit"])
        #expect(definition.entry.key == .subscription)
        #expect(definition.entry.reentry == .oncePerWindow(.seconds(7 * 86_400)))
        #expect(definition.goal?.within == .seconds(10 * 86_400))
        guard case .waitUntil(let wait)? = definition.steps[StepID("wait")]?.action else {
            Issue.record("wait is no wait_until step")
            return
        }
        #expect(wait.since == .entryInto(StepID("pause")))
        #expect(wait.timeout == .duration(.seconds(3 * 86_400)))
        #expect(wait.branches.map(\.id) == ["cancelled", "known"])
        guard case .action(let tell)? = definition.steps[StepID("tell")]?.action else {
            Issue.record("tell is no action step")
            return
        }
        guard case .object(let parameters) = tell.parameters else {
            Issue.record("the parameters are no object")
            return
        }
        #expect(parameters.map(\.key) == ["method", "path", "headers", "json"])
    }

    @Test func `times and instants keep their direction`() throws {
        let until = value(sample).setting(
            "/steps/pause",
            to: value(
                """
                {"type": "delay", "until": {"time": {"ref": "/trigger/expires_at", "default": "2026-11-30T10:00:00Z"}, "minus": "P1D"},
                 "next": "wait", "on_past": "wait", "on_invalid": "end"}
                """))
        let published = try #require(read(until).published)
        guard case .delay(let delay)? = published.definition.steps[StepID("pause")]?.action,
            case .until(.time(_, let moved)) = delay.length
        else {
            Issue.record("pause is no delay until a time")
            return
        }
        #expect(moved == .seconds(-86_400))
        #expect(try WorkflowParser.load(canonical: published.canonical) == published)
    }

    @Test func `a stored form that is none is refused with a sentence`() {
        #expect(throws: PublishedFormError.self) { try WorkflowParser.load(canonical: [0x7b]) }
        #expect(throws: PublishedFormError.self) {
            try WorkflowParser.load(canonical: Array("{\"dsl\":1}".utf8))
        }
    }
}
