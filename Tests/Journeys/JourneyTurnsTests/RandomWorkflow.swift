import JSON
import JourneyModel
import TestMaterial
import TimeZones
import WorkflowDefinitions

// Random definitions that the validator would let pass: steps lead forward, and back only from a
// delay of a minute or more.
extension SeededGenerator {
    mutating func workflow(_ id: String) -> WorkflowDefinition {
        let count = number(1..<7)
        let steps = (0..<count).map { step($0, of: count) }
        var workflow = makeWorkflow(
            id, steps, entry: entry(), goal: chance(60) ? goal(steps: count) : nil,
            exitPolicy: pick([.onGoal, .never]),
            exits: (0..<number(0..<3)).map { _ in
                ExitRule(
                    cause: chance(60) ? .event(match()) : .condition(condition()), reason: "left")
            })
        workflow.limits = Limits(
            time: days(number(1..<40)), steps: number(3..<40), visits: number(1..<5))
        return workflow
    }

    private mutating func entry() -> Entry {
        let whenLive = pick(Entry.WhenLive.allCases)
        let reentry: Entry.Reentry =
            whenLive == .startAnother
            ? .everyTime : pick([.oneTime, .everyTime, .oncePerWindow(days(2))])
        return Entry(
            trigger: .event(names: ["began", "e0"]), condition: chance(30) ? condition() : nil,
            unless: chance(30) ? condition() : nil,
            key: chance(40) ? .reference(JSONPointer(tokens: ["event", "k"])) : nil,
            reentry: reentry, whenLive: whenLive)
    }

    private mutating func goal(steps: Int) -> Goal {
        Goal(
            match: match(), within: days(number(1..<20)),
            anchor: chance(30) ? .step(StepID("s\(number(0..<steps))")) : .runStart)
    }

    private mutating func edge(after step: Int, of count: Int) -> Edge {
        let next = number(step + 1..<count + 2)
        return next >= count ? .end : .to("s\(next)")
    }

    private mutating func step(_ index: Int, of count: Int) -> Step {
        let id = "s\(index)"
        func forward(_ generator: inout SeededGenerator) -> Edge {
            generator.edge(after: index, of: count)
        }
        switch number(0..<6) {
        case 0:
            let next = chance(40) ? Edge.to("s\(number(0..<count))") : forward(&self)
            return .delay(id, .seconds(number(60..<200_000)), next: next)
        case 1:
            return Step(
                id: StepID(id),
                action: .delay(
                    Delay(
                        length: .until(value()), next: forward(&self), onPast: forward(&self),
                        onInvalid: chance(50) ? forward(&self) : nil)))
        case 2:
            let branches = (0..<number(1..<4)).map { number in
                WaitUntil.Branch(
                    id: "b\(number)",
                    cause: chance(60) ? .event(match()) : .condition(condition()),
                    next: forward(&self))
            }
            return Step(
                id: StepID(id),
                action: .waitUntil(
                    WaitUntil(
                        branches: branches,
                        since: pick([.step, .run, .entryInto(StepID("s\(number(0..<count))"))]),
                        timeout: chance(80)
                            ? .duration(.seconds(number(60..<300_000))) : .until(value()),
                        onTimeout: forward(&self))))
        case 3:
            let arms = (0..<number(1..<4)).map { number in
                Branch.Arm(id: "a\(number)", condition: condition(), next: forward(&self))
            }
            return Step(
                id: StepID(id),
                action: .branch(Branch(branches: arms, otherwise: forward(&self))))
        case 4:
            return Step(
                id: StepID(id),
                action: .action(
                    ActionStep(
                        tool: .log,
                        parameters: .object([.init(key: "text", tree: .value(value()))]),
                        next: forward(&self), onFailed: chance(50) ? forward(&self) : nil,
                        onTimeout: chance(50) ? forward(&self) : nil)))
        case _: return Step(id: StepID(id), action: .exit(reason: chance(50) ? "out" : nil))
        }
    }

    private mutating func match() -> EventMatch {
        EventMatch(
            names: chance(70) ? ["e\(number(0..<4))"] : ["e1", "e2"],
            condition: chance(25) ? condition() : nil, unless: chance(25) ? condition() : nil,
            correlates: chance(80))
    }

    mutating func condition(depth: Int = 0) -> Condition {
        switch number(0..<(depth > 2 ? 4 : 7)) {
        case 0: .compare(pick(Condition.Comparison.allCases), value(), value())
        case 1:
            .compare(
                pick([.lt, .gte]), ref("now"),
                .literal(.string(after(.seconds(number(0..<2_000_000))).description)))
        case 2:
            .exists(
                JSONPointer(tokens: pick([["customer", "a"], ["event", "n"], ["steps", "s0"]])))
        case 3: .isIn(value(), [value(), value()])
        case 4: .not(condition(depth: depth + 1))
        case 5: .all((0..<number(0..<3)).map { _ in condition(depth: depth + 1) })
        case _: .any((0..<number(0..<3)).map { _ in condition(depth: depth + 1) })
        }
    }

    private mutating func value() -> Value {
        switch number(0..<7) {
        case 0: .literal(pick([1, 2, nil, "x", true, [], [:]]))
        case 1: .literal(.string(after(.seconds(number(0..<2_000_000))).description))
        case 2: ref("event", "n")
        case 3:
            .reference(
                JSONPointer(tokens: ["customer", "a"]), default: chance(50) ? .literal(1) : nil)
        case 4: .template(pick(["n {{event.n}}", "{{customer.a}}", "plain"]))
        case 5:
            .time(
                pick([ref("now"), ref("event", "t"), ref("run", "entered_at")]),
                moved: hours(number(-50..<50)))
        case _: ref("event", "t")
        }
    }

    /// What an event says.
    mutating func properties() -> JSONObject {
        var properties = JSONObject()
        if chance(80) { properties["n"] = pick([1, 2, "x", nil, true]) }
        if chance(80) { properties["k"] = pick(["k1", "k2", 3]) }
        if chance(60) {
            properties["t"] = .string(after(.seconds(number(0..<2_000_000))).description)
        }
        return properties
    }
}
