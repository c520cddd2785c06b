import JSON
import JourneyEngine
import JourneyModel
import Simulation
import TestMaterial
import Testing
import TimeZones
import WorkflowDefinitions

// Random definitions and cases that go through the parser and the simulator, as a person's would.
extension SeededGenerator {
    /// Steps lead forward only, so that every run ends or waits.
    mutating func workflow(_ id: String) throws -> PublishedWorkflow {
        let count = number(3..<8)
        let steps = (0..<count).map { (key: "s\($0)", value: step($0, of: count)) }
        var definition = JSONObject([
            ("dsl", 1), ("id", .string(id)), ("kind", "journey"),
            ("entry", ["trigger": ["event": "checkout.opened"], "reentry": "every_time"]),
            ("start", "s0"), ("steps", .object(JSONObject(steps))),
        ])
        if chance(50) {
            definition["goal"] = ["event": "trial.converted", "within": "P20D"]
            definition["exit_policy"] = .string(pick(["on_goal", "never"]))
        }
        if chance(40) {
            definition["exits"] = [
                ["event": "subscription.refunded", "where": condition(), "reason": "left"],
                ["if": ["gt": [["ref": "/customer/score"], 7]], "reason": "unfit"],
            ]
        }
        let text = JSONValue.object(definition).text
        let declarations = EventDeclarations.read(
            Array(
                """
                {"dsl": 1, "events": {"checkout.opened": {"properties": {"n": "number"}}}}
                """.utf8), file: "events.json"
        ).declarations
        let outcome = WorkflowParser.read(
            Array(text.utf8), file: "\(id).json", events: declarations)
        return try #require(outcome.published, "\(outcome.diagnostics) \(text)")
    }

    /// Every step is reached from the one before it.
    private func following(_ step: Int, of count: Int) -> JSONValue {
        step + 1 >= count ? "end" : .string("s\(step + 1)")
    }

    private mutating func edge(after step: Int, of count: Int) -> JSONValue {
        let next = number(step + 1..<count + 1)
        return next >= count ? "end" : .string("s\(next)")
    }

    private mutating func step(_ index: Int, of count: Int) -> JSONValue {
        let kind = index == 0 ? 1 : number(0..<4)
        switch kind {
        case 0:
            return [
                "type": "delay", "for": .string("PT\(number(1..<90))H"),
                "next": following(index, of: count),
            ]
        case 1:
            return [
                "type": "wait_until",
                "branches": [
                    [
                        "id": "bought", "event": "checkout.opened",
                        "where": ["gt": [["ref": "/event/n"], .integer(number(0..<9))]],
                        "next": edge(after: index, of: count),
                    ],
                    [
                        "id": "left", "event": "trial.cancelled",
                        "next": edge(after: index, of: count),
                    ],
                    ["id": "ready", "if": condition(), "next": edge(after: index, of: count)],
                ],
                "since": .string(pick(["step", "run"])),
                "timeout": .string("PT\(number(5..<200))H"),
                "on_timeout": following(index, of: count),
            ]
        case 2:
            return [
                "type": "branch",
                "branches": [
                    ["id": "a", "if": condition(), "next": edge(after: index, of: count)],
                    ["id": "b", "if": condition(), "next": edge(after: index, of: count)],
                ],
                "else": following(index, of: count),
            ]
        case _:
            return [
                "type": "action", "tool": "http", "account": "crm",
                "with": [
                    "path": "/told",
                    "json": [
                        "plan": ["ref": "/customer/plan", "default": nil],
                        "text": ["template": "{{customer.name}} of {{run.workflow}}"],
                    ],
                ],
                "next": following(index, of: count), "on_failed": edge(after: index, of: count),
            ]
        }
    }

    private mutating func condition() -> JSONValue {
        let test: JSONValue =
            switch number(0..<3) {
            case 0: ["eq": [["ref": "/customer/plan"], "pro"]]
            case 1: ["gt": [["ref": "/customer/score"], .integer(number(0..<7))]]
            case _: ["eq": [["ref": "/customer/none"], true]]
            }
        return chance(30) ? ["not": test] : test
    }

    mutating func simulatedCase() -> SimulationCase {
        let start = Instant(milliseconds: 1_772_359_200_000)
        var at = start
        var happenings = [SimulationCase.Happening(at: start, event: "checkout.opened")]
        for _ in 0..<number(1..<12) {
            at = at + .seconds(number(600..<150_000))
            happenings.append(
                SimulationCase.Happening(
                    at: at,
                    event: pick([
                        "trial.converted", "trial.cancelled", "subscription.refunded",
                        "checkout.opened",
                    ]), properties: JSONObject([("n", .integer(number(0..<9)))])))
        }
        return SimulationCase(
            customer: JSONObject([
                ("plan", pick(["pro", "free"])), ("score", .integer(number(0..<9))),
                ("name", "Ada"),
            ]),
            happenings: happenings,
            answers: (0..<8).map { index in
                SimulationCase.Answer(
                    step: StepID("s\(index)"),
                    outcome: chance(30)
                        ? .failed(error: "http_500", detail: .null)
                        : .succeeded(["status": .integer(200 + number(0..<3))]),
                    after: .seconds(number(0..<20_000)))
            }, until: at + .seconds(3_000_000), expectations: [])
    }
}
