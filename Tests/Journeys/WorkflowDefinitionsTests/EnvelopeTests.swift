import JSON
import JourneyModel
import Testing
import WorkflowDefinitions

// Public condition envelopes and what they are compiled to.
struct EnvelopeTests {
    private func compile(_ expression: String) throws -> ConditionEnvelope {
        try ConditionEnvelope(value("{\"ir_version\": 1, \"expr\": \(expression)}"))
    }

    private func reference(_ pointer: String) -> Value {
        .reference(JSONPointer(pointer) ?? JSONPointer(), default: nil)
    }

    @Test func `properties, comparisons and joins become conditions`() throws {
        let envelope = try compile(
            """
            {"type": "And", "args": [
              {"type": "User", "op": "eq", "key": "plan", "value": {"type": "String", "value": "pro"}},
              {"type": "Not", "arg": {"type": "Event", "op": "is_set", "key": "source"}},
              {"type": "Or", "args": [{"type": "Bool", "value": true},
                {"type": "Compare", "op": ">", "left": {"type": "Number", "value": 5}, "right": {"type": "Number", "value": 3}}]}
            ]}
            """)
        #expect(envelope.unknown.isEmpty && envelope.isSupported)
        #expect(
            envelope.condition
                == .all([
                    .compare(.eq, reference("/customer/plan"), .literal("pro")),
                    .not(.exists(JSONPointer("/event/source") ?? JSONPointer())),
                    .any([.constant(true), .compare(.gt, .literal(5), .literal(3))]),
                ]))
    }

    @Test func `counts become questions about stored events`() throws {
        let envelope = try compile(
            """
            {"type": "Compare", "op": ">=",
             "left": {"type": "Events.Count", "name": "purchase", "since": {"type": "Timestamp", "value": 1.0011},
                      "within": {"type": "Duration", "value": 2},
                      "where": {"type": "Pred", "op": "eq", "key": "premium", "value": {"type": "Bool", "value": true}}},
             "right": {"type": "Number", "value": 2}}
            """)
        var match = EventMatch(names: ["purchase"])
        match.condition = .compare(.eq, reference("/event/premium"), .literal(true))
        #expect(
            envelope.condition
                == .events(
                    EventHistory(
                        match: match,
                        since: .later(
                            .instant(.literal("1970-01-01T00:00:01.002Z")), .within(.seconds(2))),
                        range: NumberRange(atLeast: JSONNumber(2)))))
    }

    @Test func `open bounds are the negation of closed ones`() throws {
        let less = try compile(
            """
            {"type": "Compare", "op": "<", "left": {"type": "Events.Aggregate", "agg": "sum", "name": "purchase", "prop": "price"},
             "right": {"type": "Number", "value": 9.5}}
            """)
        let price = try #require(JSONPointer("/event/price"))
        #expect(
            less.condition
                == .not(
                    .events(
                        EventHistory(
                            match: EventMatch(names: ["purchase"]), since: .ever,
                            measure: .sum(price),
                            range: NumberRange(atLeast: JSONNumber(literal: "9.5"))))))
    }

    @Test(arguments: [
        "{\"type\": \"Quantum.Entanglement\"}",
        "{\"type\": \"User\", \"op\": \"future\", \"key\": \"a\", \"value\": {\"type\": \"Null\"}}",
        "{\"type\": \"Compare\", \"op\": \"==\", \"left\": {\"type\": \"List\", \"value\": []}, \"right\": {\"type\": \"List\", \"value\": []}}",
        "{\"type\": \"Events.Exists\", \"name\": \"a\", \"where\": {\"type\": \"Pred\", \"op\": \"has\", \"key\": \"b\"}}",
        "{\"type\": \"Events.Count\", \"name\": \"a\", \"until\": {\"type\": \"Events.Count\", \"name\": \"a\"}}",
        "{\"type\": \"Segment\", \"op\": \"near\", \"id\": \"a\"}",
    ])
    func `what is not known is never true, and neither is its negation`(_ text: String) throws {
        let envelope = try compile(text)
        guard case .undecidable = envelope.condition else {
            Issue.record("\(envelope.condition)")
            return
        }
        #expect(!envelope.unknown.isEmpty)
    }

    @Test func `an envelope for a newer engine is not decided`() throws {
        let newer = try ConditionEnvelope(
            value(
                "{\"ir_version\": 1, \"engine_min\": \"99\", \"expr\": {\"type\": \"Bool\", \"value\": true}}"
            ))
        #expect(!newer.isSupported)
        let same = try ConditionEnvelope(
            value(
                "{\"ir_version\": 1, \"engine_min\": \"1\", \"expr\": {\"type\": \"Bool\", \"value\": true}}"
            ))
        #expect(same.isSupported && same.condition == .constant(true))
    }

    @Test func `truthiness is that of the public language`() throws {
        #expect(try compile("{\"type\": \"Number\", \"value\": 0}").condition == .constant(false))
        #expect(
            try compile("{\"type\": \"String\", \"value\": \"\"}").condition == .constant(false))
        #expect(
            try compile("{\"type\": \"Truthy\", \"value\": {\"type\": \"Object\", \"fields\": {}}}")
                .condition == .constant(true))
        #expect(
            try compile("{\"type\": \"Response.Field\", \"key\": \"ok\"}").condition
                == .truthy(reference("/event/values/ok")))
    }

    @Test func `an envelope is published as it was written`() throws {
        let envelope = value(
            "{\"ir_version\": 1, \"expr\": {\"type\": \"Segment\", \"op\": \"in\", \"id\": \"vip\"}}"
        )
        let place = "/steps/choose/branches/0/if"
        let outcome = read(value(sample).setting(place, to: ["ir": envelope]))
        let published = try #require(outcome.published)
        let json = try JSONParser.parse(published.canonical)
        #expect(JSONPointer(place)?.resolve(in: json)?["ir"] == envelope)
        #expect(published.definition.needs.segments == [SegmentID("vip")])
        #expect(try WorkflowParser.load(canonical: published.canonical) == published)
    }
}
