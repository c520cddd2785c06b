import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Nuxie's condition envelopes, compiled to conditions and decided by the one evaluator.
@Suite struct EnvelopeVectorTests {
    private func decide(_ envelope: JSONValue, _ scope: Scope, _ facts: Facts) throws -> Truth {
        let text: JSONValue = ["ir": envelope]
        let (condition, diagnostics) = WorkflowParser.readCondition(text.bytes, file: "ir.json")
        let read = try #require(condition, "\(diagnostics)")
        var evaluator = Evaluator(scope: scope, facts: facts)
        return evaluator.decide(read).truth
    }

    private func event(_ json: JSONValue, _ ordinal: Int64, at: Instant) -> LoggedEvent {
        LoggedEvent(
            ordinal: ordinal, recordedAt: at,
            event: Event(
                id: EventID("evt_\(ordinal)"), connector: "app", providerEventID: "\(ordinal)",
                providerType: nil, name: json["name"]?.string ?? "", trust: .source,
                person: Event.Person(id: "user_fixture"), occurredAt: at, receivedAt: at,
                environment: "production", properties: json["properties"]?.object ?? JSONObject()))
    }

    private func instant(_ json: JSONValue?) throws -> Instant {
        try #require(json?.string.flatMap { Instant($0) })
    }

    @Test func `envelopes are decided as the public vectors say`() throws {
        guard let folder = ConformanceFolder("nuxie/ios/ir") else { return }
        let suite = try folder.json("eval-vectors.json")
        let now = try instant(suite["now"])
        var facts = Facts(attributes: suite["user"]?.object ?? JSONObject(), now: now)
        for (index, json) in (suite["events"]?.array ?? []).enumerated() {
            facts.events.append(
                event(json, Int64(index + 1), at: try instant(json["timestamp"])))
        }
        for segment in ["seg-active", "seg-churned"] {
            let enteredAt = suite["segments"]?["entered_at"]?[segment]?.string
            facts.segments[segment] = SegmentFacts(
                isMember: enteredAt != nil, enteredAt: enteredAt.flatMap { Instant($0) })
        }
        let trigger = event(try #require(suite["trigger_event"]), 9, at: now)
        let vectors = suite["vectors"]?.array ?? []
        #expect(vectors.count == 15)
        for vector in vectors {
            let truth = try decide(
                try #require(vector["envelope"]), Scope(facts, testing: trigger.event), facts)
            // An envelope that asks for a newer engine is skipped: here it is never true.
            let expected = vector["expect"]?.bool ?? false
            #expect((truth == .true) == expected, "\(vector["name"]?.string ?? "")")
        }
    }

    @Test func `response fields are decided as the public vectors say`() throws {
        guard let folder = ConformanceFolder("nuxie/ios/ir") else {
            return
        }
        let suite = try folder.json("response-field-conformance.json")
        let now = try instant(suite["now"])
        let facts = Facts(attributes: JSONObject(), now: now)
        let scope = Scope(event: suite["responseSession"]?.object, now: now)
        let vectors = suite["vectors"]?.array ?? []
        #expect(vectors.count == 6)
        for vector in vectors {
            let envelope: JSONValue = ["ir_version": 1, "expr": try #require(vector["expr"])]
            let truth = try decide(envelope, scope, facts)
            #expect(
                (truth == .true) == vector["expect"]?.bool, "\(vector["name"]?.string ?? "")")
        }
    }

    @Test func `questions about history are answered as the public vectors say`() throws {
        guard let folder = ConformanceFolder("nuxie/newer")
        else { return }
        let noCoercion = "a text is no number (workflow.md: same type only, no coercion)"
        var deviations = Deviations([
            "history predicate values support numeric strings": noCoercion,
            "history predicate groups filter each event": noCoercion,
            "numeric aggregate sum": noCoercion, "numeric aggregate avg": noCoercion,
            "numeric aggregate max": noCoercion,
            "number comparison coerces numeric strings": noCoercion,
            "uncomparable known values return false":
                "what cannot be compared is unknown, and so is its negation (S11)",
        ])
        let cases = try folder.json("occurrence-evaluation.json")["cases"]?.array ?? []
        #expect(cases.count == 32)
        for row in cases {
            func milliseconds(_ json: JSONValue?) throws -> Instant {
                Instant(milliseconds: try #require(json?.integer))
            }
            var attributes = JSONObject()
            for (name, fact) in row["facts"]?["properties"]?.object ?? JSONObject()
            where fact["present"]?.bool == true {
                attributes[name] = fact["value"]
            }
            var facts = Facts(
                attributes: attributes,
                eventsKnownSince: try milliseconds(row["history"]?["coverageStartMillis"]),
                now: try milliseconds(row["nowMillis"]))
            for (index, json) in (row["history"]?["events"]?.array ?? []).enumerated() {
                let at = try milliseconds(json["timestampMillis"])
                facts.events.append(event(json, Int64(index + 1), at: at))
            }
            let envelope = try #require(row["condition"]?["condition"])
            let truth = try decide(envelope, Scope(facts), facts)
            deviations.check(
                row["name"]?.string ?? "", truth == .true,
                row["expected"]?.bool == true)
        }
        deviations.finish()
    }
}
