import JSON
import JourneyEngine
import JourneyModel
import RunReplay
import Simulation
import Testing
import TimeZones
import WorkflowDefinitions

/// What another definition would have made of the same inputs.
@Suite struct ChangedDefinitionTests {
    private func published(_ change: (inout JSONObject) -> Void = { _ in }) throws
        -> PublishedWorkflow
    {
        var definition = try #require(
            try JSONParser.parse(
                """
                {"dsl": 1, "id": "flow", "kind": "journey",
                 "entry": {"trigger": {"event": "trial.started"}, "reentry": "every_time"},
                 "start": "first",
                 "steps": {
                   "first": {"type": "wait_until",
                     "branches": [{"id": "cancelled", "event": "trial.cancelled", "next": "tell"}],
                     "timeout": "P2D", "on_timeout": "end"},
                   "tell": {"type": "action", "tool": "log", "with": {"text": "gone"}, "next": "end"}
                 }}
                """
            ).object)
        change(&definition)
        let outcome = WorkflowParser.read(
            JSONValue.object(definition).bytes, file: "flow.json", events: EventDeclarations())
        return try #require(outcome.published, "\(outcome.diagnostics)")
    }

    private func simulated(_ workflow: PublishedWorkflow) throws -> SimulationReport {
        let start = try #require(Instant("2026-03-01T10:00:00Z"))
        return Simulator.run(
            workflows: [workflow],
            case: SimulationCase(
                happenings: [
                    .init(at: start, event: "trial.started"),
                    .init(at: start + .seconds(3_600), event: "subscription.billing_issue"),
                    .init(at: start + .seconds(7_200), event: "trial.cancelled"),
                ], until: start + .seconds(864_000), expectations: []))
    }

    private func diff(_ change: (inout JSONObject) -> Void) throws -> Divergence? {
        let followed = try published()
        let report = try simulated(followed)
        let run = try #require(report.recorded.first)
        return RunVerifier(changed: try published(change).definition, followed: followed.definition)
            .verify(run, log: report.events)
    }

    private static func set(_ text: String, at tokens: [String]) throws -> (inout JSONObject) ->
        Void
    {
        let value = try JSONParser.parse(text)
        return { object in
            func replaced(_ inner: JSONValue, _ rest: ArraySlice<String>) -> JSONValue {
                guard let first = rest.first else { return value }
                var members = inner.object ?? JSONObject()
                members[first] = replaced(members[first] ?? [:], rest.dropFirst())
                return .object(members)
            }
            object = replaced(.object(object), tokens[...]).object ?? object
        }
    }

    @Test func `the same definition, and one whose words alone differ, lead the same way`() throws {
        #expect(try diff { _ in } == nil)
        #expect(try diff(try Self.set(#""Another name""#, at: ["name"])) == nil)
    }

    @Test func `another outlet is found where it is taken`() throws {
        let branch = try Self.set(
            #"[{"id": "cancelled", "event": "trial.cancelled", "next": "end"}]"#,
            at: ["steps", "first", "branches"])
        let timeout = try Self.set(#""tell""#, at: ["steps", "first", "on_timeout"])
        let found = try #require(
            try diff {
                branch(&$0)
                timeout(&$0)
            })
        #expect(found.kind == .differs)
        #expect(found.decision == 2)
        #expect(found.step?.text == "first")
        #expect(found.expected == "tell")
        #expect(found.actual == "end")
        #expect(found.input?["name"]?.string == "trial.cancelled")
    }

    // S19.3
    @Test func `an input that left no row is taken from the event log`() throws {
        let found = try #require(
            try diff(
                try Self.set(
                    #"""
                    [{"id": "payment", "event": "subscription.billing_issue", "next": "tell"},
                     {"id": "cancelled", "event": "trial.cancelled", "next": "tell"}]
                    """#,
                    at: ["steps", "first", "branches"])))
        // The wait names the events that it waits for: that is the first difference.
        #expect(found.decision == 1)
        let exits = try #require(
            try diff(
                try Self.set(
                    #"[{"event": "subscription.billing_issue", "reason": "unpaid"}]"#, at: ["exits"]
                )))
        #expect(exits.kind == .differs)
        #expect(exits.decision == nil)
        #expect(exits.expected == nil)
        #expect(exits.actual?["reason"]?.string == "unpaid")
        #expect(exits.input?["name"]?.string == "subscription.billing_issue")
    }

    // S19.4
    @Test func `what the history does not hold is not recorded, never guessed`() throws {
        let found = try #require(
            try diff(
                try Self.set(
                    #"[{"if": {"eq": [{"ref": "/customer/plan"}, "pro"]}, "reason": "pro"}]"#,
                    at: ["exits"])))
        #expect(found.kind == .notRecorded)
        #expect(found.actual?.string == "/customer/plan")
    }
}
