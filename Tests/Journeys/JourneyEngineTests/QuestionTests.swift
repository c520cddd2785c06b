import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Conditions that ask the facts: features, segments, every subscription, stored events; and when time alone
/// changes their answer (S22).
@Suite struct QuestionTests {
    private func decide(_ condition: Condition, _ facts: Facts, now: Instant = dawn) -> Verdict {
        var facts = facts
        facts.now = now
        var evaluator = Evaluator(scope: Scope(facts), facts: facts)
        return evaluator.decide(condition)
    }

    private func know(_ change: (inout Facts) -> Void) -> Facts {
        var facts = Facts(attributes: [:], now: dawn)
        change(&facts)
        return facts
    }

    // MARK: feature

    private func feature(_ answer: FeatureAnswer?, entity: FeatureAnswer? = nil) -> Facts {
        know {
            $0.features["seats"] = FeatureFacts(
                own: answer, entities: entity.map { ["team-1": $0] } ?? [:])
        }
    }

    @Test func `a feature answers for every part that is asked`() {
        let counted = feature(
            FeatureAnswer(allowed: true, unlimited: false, balance: JSONNumber(3), type: "metered"))
        func asks(_ test: FeatureTest) -> Truth { decide(.feature(test), counted).truth }
        #expect(asks(FeatureTest(id: "seats")) == .true)
        #expect(asks(FeatureTest(id: "seats", allowed: false)) == .false)
        #expect(asks(FeatureTest(id: "seats", unlimited: true)) == .false)
        let low = NumberRange(atMost: JSONNumber(3))
        #expect(asks(FeatureTest(id: "seats", allowed: true, balance: low)) == .true)
        let high = NumberRange(atLeast: JSONNumber(4))
        #expect(asks(FeatureTest(id: "seats", balance: high)) == .false)
        #expect(asks(FeatureTest(id: "other", allowed: true)) == .unknown)
        // An entity without an allowance is denied; it never has the customer's own.
        #expect(asks(FeatureTest(id: "seats", entity: .literal("team-1"))) == .false)
        #expect(asks(FeatureTest(id: "other", entity: .literal("team-1"))) == .unknown)
    }

    @Test func `an unlimited balance is above every number, an uncounted one is unknown`() {
        let unlimited = feature(FeatureAnswer(allowed: true, unlimited: true, type: "metered"))
        let low = FeatureTest(id: "seats", balance: NumberRange(atMost: JSONNumber(5)))
        let high = FeatureTest(id: "seats", balance: NumberRange(atLeast: JSONNumber(5)))
        #expect(decide(.feature(low), unlimited).truth == .false)
        #expect(decide(.feature(high), unlimited).truth == .true)
        let plain = feature(FeatureAnswer(allowed: true, unlimited: false, type: "boolean"))
        #expect(decide(.feature(high), plain).truth == .unknown)
    }

    @Test func `an entity's answer is its own`() {
        let no = FeatureAnswer(allowed: false, unlimited: false, type: "boolean")
        let yes = FeatureAnswer(allowed: true, unlimited: false, type: "boolean")
        let facts = feature(no, entity: yes)
        let test = FeatureTest(id: "seats", entity: .literal("team-1"), allowed: true)
        #expect(decide(.feature(test), facts).truth == .true)
        #expect(decide(.feature(FeatureTest(id: "seats", allowed: true)), facts).truth == .false)
    }

    // S22.1
    @Test func `a grant that ends is looked at again when it does`() {
        let answer = FeatureAnswer(
            allowed: true, unlimited: false, type: "boolean", changesAt: after(days(2)))
        let condition = Condition.feature(FeatureTest(id: "seats", allowed: true))
        #expect(decide(condition, feature(answer)).changesAt == after(days(2)))
        #expect(decide(condition, feature(answer), now: after(days(2))).changesAt == nil)
    }

    // MARK: segment

    @Test func `membership is known, or unknown`() {
        let facts = know {
            $0.segments = [
                "in": SegmentFacts(isMember: true), "out": SegmentFacts(isMember: false),
            ]
        }
        func isMember(_ id: String, _ wanted: Bool) -> Truth {
            decide(.segment(SegmentID(id), .member(wanted)), facts).truth
        }
        #expect(isMember("in", true) == .true)
        #expect(isMember("out", false) == .true)
        #expect(isMember("in", false) == .false)
        #expect(isMember("gone", true) == .unknown)
        #expect(isMember("gone", false) == .unknown)
    }

    @Test func `entered within holds up to the last millisecond, and says until when`() {
        let facts = know {
            $0.segments["in"] = SegmentFacts(isMember: true, enteredAt: dawn)
        }
        let condition = Condition.segment(SegmentID("in"), .enteredWithin(days(2)))
        let end = after(days(2))
        #expect(decide(condition, facts, now: end).truth == .true)
        #expect(decide(condition, facts).changesAt == end + .milliseconds(1))
        #expect(decide(condition, facts, now: end + .milliseconds(1)).truth == .false)
        #expect(decide(condition, facts, now: end + .milliseconds(1)).changesAt == nil)
    }

    // MARK: subscription

    @Test func `any subscription may make it true, and none makes it false`() {
        let active = Condition.subscription(
            .compare(.eq, ref("/subscription/status"), .literal("active")))
        let facts = know {
            $0.subscriptions = [
                SubscriptionID(connector: "a", key: "1"): ["status": "expired"],
                SubscriptionID(connector: "b", key: "1"): ["status": "active"],
            ]
        }
        #expect(decide(active, facts).truth == .true)
        #expect(decide(active, know { _ in }).truth == .false)
        let unknown = know {
            $0.subscriptions = [
                SubscriptionID(connector: "a", key: "1"): ["status": "expired"],
                SubscriptionID(connector: "b", key: "1"): [:],
            ]
        }
        #expect(decide(active, unknown).truth == .unknown)
    }

    @Test func `a run reads the subscription of its trigger, of that connector`() {
        let flow = makeWorkflow([
            .branch(
                "fork",
                [
                    .init(
                        id: "mine",
                        condition: .compare(
                            .eq, ref("/subscription/status"), .literal("active")),
                        next: .to("yes"))
                ]), .exit("yes", reason: "yes"),
        ])
        let facts = know {
            $0.subscriptions = [
                SubscriptionID(connector: "other", key: "s1"): ["status": "expired"],
                SubscriptionID(connector: "shop", key: "s1"): ["status": "active"],
            ]
        }
        #expect(
            World(flow, trigger: ["subscription_key": "s1"], facts: facts).ending == "exited yes")
        #expect(
            World(flow, trigger: ["subscription_key": "s2"], facts: facts).ending == "completed")
        #expect(World(flow, facts: facts).ending == "completed")
    }

    // MARK: events

    private func paid(_ times: [Duration], price: JSONValue = 5) -> Facts {
        know {
            $0.events = times.enumerated().map { index, time in
                makeEvent("paid", Int64(index + 1), at: after(time), ["price": price])
            }
        }
    }

    private func events(
        _ since: EventHistory.Since, atLeast: Int64 = 1, atMost: Int64? = nil,
        where condition: Condition? = nil
    ) -> Condition {
        .events(
            EventHistory(
                match: EventMatch(names: ["paid"], condition: condition), since: since,
                range: NumberRange(
                    atLeast: JSONNumber(atLeast), atMost: atMost.map { JSONNumber($0) })))
    }

    // S22.1
    @Test func `events are counted within a span, both ends included, and leave it by time`() {
        let facts = paid([.zero, hours(6)])
        let two = events(.within(days(1)), atLeast: 2)
        #expect(decide(two, facts, now: after(days(1))).truth == .true)
        #expect(
            decide(two, facts, now: after(days(1))).changesAt
                == after(days(1) + .milliseconds(1)))
        let later = after(days(1) + .milliseconds(1))
        #expect(decide(two, facts, now: later).truth == .false)
        #expect(
            decide(two, facts, now: later).changesAt
                == after(days(1) + hours(6) + .milliseconds(1)))
        #expect(
            decide(events(.within(days(1)), atLeast: 0, atMost: 0), facts, now: after(days(9)))
                .truth == .true)
    }

    @Test func `an event a little ahead of the clock counts as now`() {
        #expect(decide(events(.within(hours(1))), paid([hours(2)])).truth == .true)
    }

    @Test func `a question that reaches back past what is kept is unknown, either way`() {
        var facts = paid([.zero])
        facts.eventsKnownSince = after(.zero - days(90))
        #expect(decide(events(.within(days(90))), facts).truth == .true)
        #expect(decide(events(.within(days(91))), facts).truth == .unknown)
        #expect(decide(.not(events(.within(days(91)))), facts).truth == .unknown)
    }

    @Test func `the filter of a question must be true of an event`() {
        let cheap = Condition.compare(.lt, ref("/event/price"), .literal(9))
        #expect(decide(events(.within(days(1)), where: cheap), paid([.zero])).truth == .true)
        let priceless = paid([.zero], price: nil)
        #expect(decide(events(.within(days(1)), where: cheap), priceless).truth == .false)
    }

    @Test func `since an instant that is missing is unknown`() {
        let since = events(.instant(ref("/customer/joined")))
        #expect(decide(since, paid([.zero])).truth == .unknown)
        var facts = paid([.zero, hours(2)])
        facts.attributes = ["joined": .string(after(hours(1)).description)]
        #expect(decide(since, facts).truth == .true)
        facts.events.removeLast()
        #expect(decide(since, facts).truth == .false)
    }

    @Test func `since the run counts what came after its trigger`() {
        let paid = Condition.events(
            EventHistory(match: EventMatch(names: ["paid"]), since: .run))
        let began = Condition.events(
            EventHistory(match: EventMatch(names: ["began"]), since: .run))
        var world = World(
            makeWorkflow([
                .wait(
                    "listen", [.when("again", began), .when("paid", paid)],
                    timeout: .duration(days(7)))
            ]))
        #expect(world.run.position?.step == StepID("listen"))
        #expect(world.give("paid", at: after(hours(1)))?.moves == ["listen paid"])
        #expect(decide(paid, Facts(attributes: [:], now: dawn)).truth == .unknown)
    }

    // S3.4
    @Test func `a condition that time alone makes true wakes the run`() {
        let quiet = events(.within(days(3)), atLeast: 0, atMost: 0)
        var world = World(
            makeWorkflow([
                .wait(
                    "listen", [.when("quiet", quiet)], timeout: .duration(days(30)))
            ]))
        #expect(world.entry.moves == ["listen quiet"])
        world = World(
            makeWorkflow([
                .delay("rest", hours(1), next: .to("listen")),
                .wait("listen", [.when("quiet", quiet)], timeout: .duration(days(30))),
            ]))
        world.give("paid", at: after(.seconds(60)))
        world.fire(at: after(hours(1)))
        let wakes = after(days(3) + .seconds(60) + .milliseconds(1))
        #expect(world.engine.nextDue(world.run) == wakes)
        #expect(world.fire(at: wakes)?.moves == ["listen quiet"])
    }
}
