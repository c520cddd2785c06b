import JSON
import JourneyEngine
import JourneyModel
import Simulation
import Testing
import TimeZones
import WorkflowDefinitions

/// Runs that no event starts, and what else a case may say.
@Suite struct EveryTriggerTests {
    private func workflow(_ text: String) throws -> PublishedWorkflow {
        let outcome = WorkflowParser.read(
            Array(text.utf8), file: "flow.json", events: EventDeclarations())
        return try #require(outcome.published, "\(outcome.diagnostics)")
    }

    private func flow(_ entry: String, steps: String? = nil) throws -> PublishedWorkflow {
        try workflow(
            """
            {"dsl": 1, "id": "flow", "kind": "journey", "entry": \(entry), "start": "tell",
             "steps": \(steps ?? #"{"tell": {"type": "action", "tool": "log", "with": {"text": "hi"}, "next": "end"}}"#)}
            """)
    }

    private func played(
        _ workflow: PublishedWorkflow, segments: [SegmentDefinition] = [],
        zones: TimeZoneSet = .utcOnly, _ text: String
    ) throws -> [String] {
        let simulated = try SimulationCase.parse(Array(text.utf8))
        let report = Simulator.run(
            workflows: [workflow], segments: segments, zones: zones, case: simulated)
        return report.transitions.map { "\($0.at) \($0.step) \($0.outlet ?? "-")" }
    }

    @Test func `a schedule fires in the workflow's zone for who is in its audience`() throws {
        let audience = #"{"eq": [{"ref": "/customer/plan"}, "pro"]}"#
        let flow = try flow(
            """
            {"trigger": {"schedule": "0 9 * * MON", "audience": \(audience)}, "reentry": "every_time"}
            """)
        let text = """
            {"customer": {"plan": "pro"}, "from": "2026-03-01T00:00:00Z", "events": [],
             "until": "2026-03-16T08:59:00Z", "expect": []}
            """
        #expect(
            try played(flow, text) == [
                "2026-03-02T09:00:00.000Z tell next", "2026-03-09T09:00:00.000Z tell next",
            ])
        #expect(try played(flow, text.replacing("pro", with: "free")).isEmpty)
    }

    @Test func `a date starts a run before it, and only who comes into a segment enters by it`()
        throws
    {
        let dated = try flow(
            """
            {"trigger": {"date": {"ref": "/customer/trial_ends"}, "minus": "P3D"},
             "reentry": "every_time"}
            """)
        #expect(
            try played(
                dated,
                """
                {"customer": {"trial_ends": "2026-03-10T12:00:00Z"}, "from": "2026-03-01T00:00:00Z",
                 "events": [], "until": "2026-03-31T00:00:00Z", "expect": []}
                """) == ["2026-03-07T12:00:00.000Z tell next"])
        let segment = SegmentDefinition(
            id: SegmentID("vip"),
            condition: .compare(
                .eq, .reference(JSONPointer(tokens: ["customer", "vip"]), default: nil),
                .literal(true)))
        let entered = try flow(
            #"{"trigger": {"segment": "vip", "on": "enter"}, "reentry": "every_time"}"#)
        let text = """
            {"customer": {"vip": false}, "events": [
               {"at": "2026-03-01T00:00:00Z", "event": "customer.aliased"},
               {"at": "2026-03-02T00:00:00Z", "event": "customer.aliased",
                "properties": {"attributes": {"vip": true}}}],
             "until": "2026-03-31T00:00:00Z", "expect": []}
            """
        #expect(
            try played(entered, segments: [segment], text)
                == ["2026-03-02T00:00:00.000Z tell next"])
        #expect(
            try played(entered, segments: [segment], text.replacing("false", with: "true")).isEmpty)
    }

    @Test func `a workflow is started by its name`() throws {
        let flow = try flow(#"{"trigger": {"api": true}, "reentry": "every_time"}"#)
        #expect(
            try played(
                flow,
                """
                {"customer": {}, "events": [{"at": "2026-03-01T00:00:00Z", "start": "flow"}],
                 "until": "2026-03-31T00:00:00Z", "expect": []}
                """) == ["2026-03-01T00:00:00.000Z tell next"])
    }

    @Test func `features are known from the case, and change in it`() throws {
        let steps = """
            {"tell": {"type": "wait_until", "branches": [
               {"id": "ready", "if": {"feature": {"id": "export", "allowed": true}}, "next": "end"}],
              "timeout": "P9D", "on_timeout": "end"}}
            """
        let flow = try flow(
            #"{"trigger": {"api": true}, "reentry": "every_time"}"#, steps: steps)
        #expect(
            try played(
                flow,
                """
                {"customer": {}, "features": {"export": {"allowed": false}}, "events": [
                   {"at": "2026-03-01T00:00:00Z", "start": "flow"},
                   {"at": "2026-03-04T00:00:00Z", "features": {"export": {"allowed": true}}}],
                 "until": "2026-03-31T00:00:00Z", "expect": []}
                """) == ["2026-03-04T00:00:00.000Z tell ready"])
    }

    @Test func `an effect is answered when window and gap allow it`() throws {
        let steps = """
            {"tell": {"type": "action", "tool": "log", "with": {"text": "hi"},
              "window": {"start": "18:00", "end": "20:00"}, "next": "end"}}
            """
        let flow = try flow(
            #"{"trigger": {"api": true}, "reentry": "every_time"}"#, steps: steps)
        let zones = TimeZoneSet(
            version: "t",
            rules: [TimeZoneRules(name: "Fixed/East", fixedOffsetSeconds: 7_200, version: "t")])
        #expect(
            try played(
                flow, zones: zones,
                """
                {"customer": {}, "timezone": "Fixed/East",
                 "events": [{"at": "2026-03-01T00:00:00Z", "start": "flow"}],
                 "until": "2026-03-31T00:00:00Z", "expect": []}
                """) == ["2026-03-01T16:00:00.000Z tell next"])
    }

    @Test func `two things in one happening, and a feature without an answer, are refused`() {
        for text in [
            #"{"at": "2026-03-01T00:00:00Z", "start": "flow", "event": "x"}"#,
            #"{"at": "2026-03-01T00:00:00Z", "features": {"export": {}}}"#,
            #"{"at": "2026-03-01T00:00:00Z", "start": "flow", "properties": {}}"#,
        ] {
            let whole = """
                {"customer": {}, "events": [\(text)], "until": "2026-03-31T00:00:00Z", "expect": []}
                """
            #expect(throws: SimulationCaseError.self) {
                try SimulationCase.parse(Array(whole.utf8))
            }
        }
    }
}
