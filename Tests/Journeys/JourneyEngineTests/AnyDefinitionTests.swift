import JSON
import JourneyEngine
import JourneyModel
import TestMaterial
import Testing
import TimeZones
import WorkflowDefinitions

/// Random definitions against random lives: the engine never traps, a run waits or has ended, the same
/// input gives the same output, and each decision is made again from its row alone.
@Suite struct AnyDefinitionTests {
    private static let names = ["paid", "left", "seen", "began"]

    private struct Maker {
        var generator: SeededGenerator
        let ids = (0..<8).map { "s\($0)" }

        mutating func edge() -> Edge {
            generator.chance(15) ? .end : .to(generator.pick(ids))
        }

        mutating func length() -> Duration {
            .seconds(generator.pick([60, 3_600, 86_400, 864_000]))
        }

        mutating func value() -> Value {
            generator.pick([
                ref("/customer/a"), ref("/customer/b"), ref("/event/n"), ref("/now"),
                ref("/subscription/status"), ref("/steps/s1/status"),
                ref("/features/seats/allowed"),
                .literal(3), .literal("active"), .literal(true), .literal(nil),
                .reference(pointer("/customer/a"), default: .literal(1)),
                .time(ref("/customer/when"), moved: .seconds(-3_600)),
                .time(ref("/now"), moved: .seconds(7_200)), .template("{{customer.a}}!"),
            ])
        }

        mutating func condition(_ depth: Int = 2) -> Condition {
            let kind = generator.number(0..<(depth > 0 ? 12 : 8))
            switch kind {
            case 0: return .exists(pointer(generator.pick(["/customer/a", "/event/raw/x"])))
            case 1: return .compare(generator.pick(Condition.Comparison.allCases), value(), value())
            case 2: return .isIn(value(), [value(), value()])
            case 3: return .feature(FeatureTest(id: "seats", allowed: generator.chance(50)))
            case 4:
                return .segment(
                    SegmentID("vip"),
                    generator.chance(50) ? .member(true) : .enteredWithin(length()))
            case 5:
                return .events(
                    EventHistory(
                        match: EventMatch(names: [generator.pick(AnyDefinitionTests.names)]),
                        since: generator.chance(50) ? .within(length()) : .run,
                        range: NumberRange(atLeast: JSONNumber(Int64(generator.number(0..<3))))))
            case 6: return .between(value(), low: value(), high: value())
            case 7: return .contains(value(), value())
            case 8: return .all([condition(depth - 1), condition(depth - 1)])
            case 9: return .any([condition(depth - 1), condition(depth - 1)])
            case 10: return .not(condition(depth - 1))
            default: return .subscription(condition(0))
            }
        }

        mutating func match() -> EventMatch {
            EventMatch(
                names: [generator.pick(AnyDefinitionTests.names)],
                condition: generator.chance(40) ? condition() : nil,
                unless: generator.chance(20) ? condition() : nil, correlates: generator.chance(70))
        }

        mutating func window() -> DailyWindow {
            DailyWindow(
                start: LocalTime(hour: generator.number(0..<24), minute: 30) ?? .midnight,
                end: LocalTime(hour: generator.number(0..<24), minute: 0) ?? .midnight,
                days: generator.chance(50) ? Set(Weekday.allCases) : [.monday, .friday])
        }

        mutating func waiting() -> Step.Action {
            switch generator.number(0..<4) {
            case 0:
                let byValue = generator.chance(50)
                return .delay(
                    Delay(
                        length: byValue ? .until(value()) : .duration(length()),
                        at: byValue && generator.chance(50) ? LocalTime("09:00") : nil,
                        follows: byValue && generator.chance(50), next: edge(),
                        onPast: byValue ? edge() : nil,
                        onInvalid: generator.chance(50) ? edge() : nil))
            case 1:
                return .timeWindow(
                    TimeWindow(
                        window: window(), timezone: generator.pick([nil, "Fixed/East", "Nowhere"]),
                        onSkip: generator.chance(30) ? edge() : nil, next: edge()))
            default:
                return .waitUntil(
                    WaitUntil(
                        branches: [
                            .init(id: "event", cause: .event(match()), next: edge()),
                            .init(id: "state", cause: .condition(condition()), next: edge()),
                        ],
                        since: generator.pick([.step, .run, .entryInto(StepID("s1"))]),
                        timeout: generator.chance(80) ? .duration(length()) : .until(value()),
                        onTimeout: edge()))
            }
        }

        mutating func acting() -> Step.Action {
            let tree = ValueTree.object([.init(key: "text", tree: .value(value()))])
            switch generator.number(0..<8) {
            case 0, 1:
                return .action(
                    ActionStep(
                        tool: generator.pick([.http, .log]), parameters: tree,
                        window: generator.chance(40) ? SendWindow(window: window()) : nil,
                        gap: generator.chance(40) ? length() : nil, next: edge(),
                        onFailed: generator.chance(60) ? edge() : nil,
                        onTimeout: generator.chance(30) ? edge() : nil))
            case 2:
                return .branch(
                    Branch(
                        branches: [.init(id: "one", condition: condition(), next: edge())],
                        otherwise: edge()))
            case 3:
                return .experiment(
                    ExperimentStep(
                        experiment: ExperimentID("offer"),
                        variants: [
                            .init(id: "a", next: edge()), .init(id: "b", next: edge()),
                        ]))
            case 4: return .sendEvent(SendEvent(event: "seen", properties: tree, next: edge()))
            case 5:
                return .updateCustomer(
                    UpdateCustomer(
                        attributes: [.init(key: "a", tree: .value(value()))], removed: ["b"],
                        next: edge()))
            case 6: return .milestone(id: "m", next: edge())
            default:
                let command = RunCommand(
                    workflow: WorkflowID("other"), key: generator.chance(50) ? value() : nil,
                    next: edge())
                return generator.chance(50) ? .startRun(command) : .exitRun(command)
            }
        }

        mutating func goal() -> Goal {
            let cause: Goal.Cause =
                switch generator.number(0..<4) {
                case 0: .milestone("m")
                case 1: .condition(condition())
                case 2: .segmentEnter(SegmentID("vip"))
                default: .event(match())
                }
            return Goal(
                cause: cause, within: length(),
                anchor: generator.chance(70) ? .runStart : .step(StepID("s2")))
        }

        mutating func workflow() -> WorkflowDefinition {
            var steps: [Step] = []
            for id in ids {
                steps.append(
                    Step(id: StepID(id), action: generator.chance(45) ? waiting() : acting()))
            }
            let exits: [ExitRule] =
                generator.chance(50)
                ? [
                    ExitRule(cause: .event(match()), reason: "left"),
                    ExitRule(cause: .condition(condition()), reason: "so"),
                ] : []
            return makeWorkflow(
                steps, goal: generator.chance(60) ? goal() : nil,
                exitPolicy: generator.pick(ExitPolicy.allCases), exits: exits,
                limits: Limits(time: days(60), steps: 60, visits: 4),
                timezone: generator.pick([nil, "Fixed/East"]),
                where: generator.chance(30) ? condition() : nil,
                experiments: [
                    ExperimentDefinition(
                        id: ExperimentID("offer"),
                        variants: [.init(id: "a", weight: 40), .init(id: "b", weight: 60)])
                ])
        }

        mutating func live(_ world: inout World) {
            let now = world.now + .seconds(generator.number(0..<400_000))
            switch generator.number(0..<8) {
            case 0, 1, 2:
                world.give(
                    generator.pick(AnyDefinitionTests.names), at: now,
                    occurred: generator.chance(70) ? now : now - .seconds(90_000),
                    trust: generator.pick([.provider, .client, .source]),
                    mayConvert: generator.chance(80), raw: ["x": 1],
                    ["n": .integer(generator.number(0..<5))])
            case 3:
                world.answer(
                    generator.pick([
                        .succeeded(["status": 200]), .timedOut, .unknown,
                        .failed(error: "http_500", detail: nil), .suppressed(reason: "paused"),
                    ]), at: now)
            case 4: world.look(at: now)
            case 5:
                world.attributes["a"] = generator.pick([1, "active", true, nil])
                world.attributes["when"] = .string((now + length()).description)
                world.base.segments["vip"] = SegmentFacts(
                    isMember: generator.chance(50), enteredAt: now)
                world.look(at: now)
            case 6: world.command(.skip(step: StepID("s1"), outlet: "next"), at: now)
            default:
                if let due = world.engine.nextDue(world.run) { world.fire(at: max(due, world.now)) }
            }
        }
    }

    @Test(arguments: [20_260_301, 20_261_130, 7] as [UInt64])
    func `whatever the definition and the life, a run waits or has ended`(seed: UInt64) throws {
        print("seed=\(seed)")
        var maker = Maker(generator: SeededGenerator(seed: seed))
        var ended = 0
        for _ in 0..<120 {
            let flow = maker.workflow()
            let facts = Facts(
                attributes: [:],
                subscriptions: [SubscriptionID(connector: "shop", key: "s"): ["status": "active"]],
                features: [
                    "seats": FeatureFacts(
                        own: FeatureAnswer(allowed: true, unlimited: false, type: "boolean"))
                ],
                zones: TimeZoneSet(
                    version: "2025b",
                    rules: [
                        TimeZoneRules(
                            name: "Fixed/East", fixedOffsetSeconds: 7_200, version: "2025b")
                    ]), now: dawn)
            var world = World(
                flow, attributes: ["a": 1], trigger: ["subscription_key": "s", "n": 2],
                facts: facts)
            for _ in 0..<25 {
                let isLive = world.run.status.isLive
                #expect(isLive == (world.run.position != nil))
                #expect(isLive == (world.run.endedAt == nil))
                #expect(isLive == (world.engine.nextDue(world.run) != nil))
                let read = try Run(state: world.run.state)
                #expect(read == world.run)
                maker.live(&world)
            }
            if !world.run.status.isLive { ended += 1 }
        }
        // The lives are neither all over nor all endless.
        #expect((10..<120).contains(ended))
    }
}
