import JSON
import Testing
import WorkflowDefinitions

/// When "stops matching" means something: the entry must ask for what can change while a run lives.
struct StopMatchingTests {
    private func errors(
        trigger: JSONValue = ["event": "trial.started"], where condition: JSONValue? = nil,
        unless: JSONValue? = nil, policy: String = "on_stop_matching", goal: JSONValue? = nil
    ) -> [String] {
        var entry = JSONObject([("trigger", trigger), ("reentry", "every_time")])
        entry["where"] = condition
        entry["unless"] = unless
        var workflow = JSONObject([
            ("dsl", 1), ("id", "flow"), ("kind", "journey"), ("entry", .object(entry)),
            ("exit_policy", .string(policy)), ("start", "rest"),
            ("steps", ["rest": ["type": "delay", "for": "P1D", "next": "end"]]),
        ])
        workflow["goal"] = goal
        let outcome = WorkflowParser.read(
            JSONValue.object(workflow).bytes, file: "flow.json", context: DefinitionContext())
        return outcome.diagnostics.filter { $0.severity == .error }.map {
            "\($0.pointer) \($0.sentence)"
        }
    }

    private static let gone: JSONValue = ["eq": [["ref": "/customer/plan"], "pro"]]
    private static let told: JSONValue = ["eq": [["ref": "/event/store"], "app_store"]]

    @Test func `an entry that asks for what can change is taken, in where or in unless`() {
        #expect(errors(where: Self.gone) == [])
        #expect(errors(unless: Self.gone) == [])
        #expect(errors(where: Self.told, unless: Self.gone) == [])
        #expect(errors(where: ["all": [Self.told, ["not": Self.gone]]]) == [])
        for condition: JSONValue in [
            ["segment": ["id": "vip", "member": true]],
            ["feature": ["id": "pro", "allowed": true]],
            ["subscription": ["eq": [["ref": "/subscription/status"], "active"]]],
            ["events": ["event": "trial.started", "within": "P1D"]],
            ["lt": [["ref": "/now"], "2026-12-01T00:00:00Z"]],
            ["eq": [["ref": "/subscription/status"], "active"]],
        ] {
            #expect(errors(where: condition) == [], "\(condition.text)")
        }
    }

    @Test func `an entry by event, date or name without a condition is refused`() {
        for trigger: JSONValue in [
            ["event": "trial.started"], ["api": true],
            ["date": ["ref": "/customer/birthday"]],
        ] {
            let found = errors(trigger: trigger)
            #expect(found.count == 1, "\(found)")
            #expect(found.first?.hasPrefix("/exit_policy ") == true, "\(found)")
            #expect(found.first?.contains("nobody stops matching") == true, "\(found)")
        }
    }

    @Test func `conditions that read only the event, with fixed fallbacks too, are refused`() {
        for condition: JSONValue in [
            Self.told, ["not": Self.told], ["exists": ["ref": "/event/price"]],
            ["in": [["ref": "/event/store", "default": "none"], ["app_store", "play_store"]]],
            [
                "between": [
                    ["ref": "/event/expires_at"], "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z",
                ]
            ],
        ] {
            let found = errors(where: condition)
            #expect(found.count == 1, "\(condition.text): \(found)")
            #expect(found.first?.contains("read only /event") == true, "\(found)")
        }
    }

    @Test func `a segment and a schedule's audience are conditions by themselves`() {
        #expect(errors(trigger: ["segment": "vip", "on": "enter"]) == [])
        #expect(errors(trigger: ["schedule": "0 9 * * *", "audience": Self.gone]) == [])
    }

    @Test func `the policy that speaks of a goal needs one, and what can change`() {
        let goal: JSONValue = ["event": "trial.converted"]
        #expect(errors(where: Self.gone, policy: "on_goal_or_stop", goal: goal) == [])
        #expect(
            errors(where: Self.gone, policy: "on_goal_or_stop").first?.contains("needs a goal")
                == true)
        #expect(
            errors(where: Self.told, policy: "on_goal_or_stop", goal: goal).first?
                .contains("read only /event") == true)
        #expect(errors(where: Self.told, policy: "never", goal: goal) == [])
    }

    @Test func `to be equal to the clock is doubted, not refused`() {
        let condition: JSONValue = [
            "eq": [["time": ["ref": "/now"], "minus": "P1D"], ["ref": "/customer/met_at"]]
        ]
        let (_, diagnostics) = WorkflowParser.readCondition(condition.bytes, file: "if.json")
        #expect(diagnostics.map(\.severity) == [.warning])
        #expect(diagnostics.first?.sentence.contains("for one millisecond") == true)
    }
}
