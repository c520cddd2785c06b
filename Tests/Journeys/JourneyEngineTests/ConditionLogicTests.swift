import JSON
import JourneyEngine
import Testing
import TimeZones
import WorkflowDefinitions

/// Kleene's three values, and what a condition says of itself (S11).
@Suite struct ConditionLogicTests {
    let values: [Truth] = [.true, .false, .unknown]

    func condition(_ truth: Truth) -> Condition {
        switch truth {
        case .true: .compare(.eq, .literal(1), .literal(1))
        case .false: .compare(.eq, .literal(1), .literal(2))
        case .unknown: .compare(.eq, ref("/customer/nothing"), .literal(1))
        }
    }

    func decide(_ condition: Condition, _ customer: JSONObject = [:], now: Instant = dawn)
        -> Verdict
    {
        var evaluator = Evaluator(scope: Scope(customer: customer, now: now))
        return evaluator.decide(condition)
    }

    @Test func `all is true only when every part is, and false as soon as one is`() {
        for a in values {
            for b in values {
                let expected: Truth =
                    a == .false || b == .false
                    ? .false : (a == .unknown || b == .unknown ? .unknown : .true)
                #expect(decide(.all([condition(a), condition(b)])).truth == expected)
            }
        }
        #expect(decide(.all([])).truth == .true)
    }

    @Test func `any is true as soon as one part is, and false only when every part is`() {
        for a in values {
            for b in values {
                let expected: Truth =
                    a == .true || b == .true
                    ? .true : (a == .unknown || b == .unknown ? .unknown : .false)
                #expect(decide(.any([condition(a), condition(b)])).truth == expected)
            }
        }
        #expect(decide(.any([])).truth == .false)
    }

    // S11.3
    @Test func `unknown survives not, however often`() {
        #expect(decide(.not(condition(.true))).truth == .false)
        #expect(decide(.not(condition(.false))).truth == .true)
        #expect(decide(.not(condition(.unknown))).truth == .unknown)
        #expect(decide(.not(.not(condition(.unknown)))).truth == .unknown)
    }

    @Test func `unknown stays unknown in each place of a deep condition`() {
        for place in 0..<3 {
            var parts = [Condition](repeating: condition(.true), count: 3)
            parts[place] = condition(.unknown)
            #expect(decide(.all(parts)).truth == .unknown)
            #expect(decide(.not(.all(parts))).truth == .unknown)
            #expect(decide(.any([.not(.all(parts)), condition(.false)])).truth == .unknown)
        }
    }

    @Test func `a verdict names the leaf that decided, with its place and values`() {
        let condition = Condition.all([
            .compare(.gte, ref("/customer/age"), .literal(18)),
            .any([holds("vip"), .not(.exists(pointer("/customer/blocked")))]),
        ])
        let young = decide(condition, ["age": 17, "vip": true])
        #expect(
            JSONValue.array(young.because.map(\.json)) == [
                ["at": "/all/0/gte", "operator": "gte", "values": [17, 18], "result": "false"]
            ])
        let fine = decide(condition, ["age": 18])
        #expect(fine.truth == .true)
        #expect(
            JSONValue.array(fine.because.map(\.json)) == [
                ["at": "/all/0/gte", "operator": "gte", "values": [18, 18], "result": "true"],
                [
                    "at": "/all/1/any/1/not/exists", "operator": "exists",
                    "values": [["missing": true]], "result": "false",
                ],
            ])
    }

    @Test func `an unknown verdict names every leaf that is open`() {
        let verdict = decide(.all([holds("a"), holds("b"), condition(.true)]))
        #expect(verdict.truth == .unknown)
        #expect(verdict.because.map(\.pointer.description) == ["/all/0/eq", "/all/1/eq"])
        #expect(verdict.because.allSatisfy { $0.truth == .unknown })
    }

    @Test func `a condition on the clock says when time alone could change it`() {
        let later = after(hours(3))
        let condition = Condition.compare(
            .gte, .time(ref("/now"), moved: hours(1)), .literal(.string(later.description)))
        #expect(decide(condition).changesAt == after(hours(2)))
        // At the meeting point equality can end a millisecond later.
        #expect(
            decide(condition, now: after(hours(2))).changesAt == after(hours(2) + .milliseconds(1)))
        #expect(decide(condition, now: after(hours(3))).changesAt == nil)
        #expect(decide(holds("vip")).changesAt == nil)
    }

    @Test func `the earliest change of any part is the whole's`() {
        func passed(_ time: Instant) -> Condition {
            .compare(.lt, .literal(.string(time.description)), ref("/now"))
        }
        let verdict = decide(
            .any([passed(after(hours(5))), .not(.all([passed(after(hours(2))), holds("x")]))]))
        #expect(verdict.changesAt == after(hours(2)))
    }

    @Test func `a condition keeps what it read of the customer, once, missing ones too`() {
        var evaluator = Evaluator(scope: Scope(customer: ["age": 3], now: dawn))
        _ = evaluator.decide(
            .all([holds("vip"), holds("vip"), holds("age"), .exists(pointer("/now"))]))
        #expect(
            evaluator.reads.values.map(\.pointer.description) == ["/customer/vip", "/customer/age"])
        #expect(evaluator.reads.values.map(\.value) == [nil, 3])
    }
}
