import JSON
import JourneyEngine
import Testing
import TimeZones
import WorkflowDefinitions

/// How values compare: within one type only, never by coercion (S11).
@Suite struct ComparisonTests {
    func decide(_ condition: Condition, _ customer: JSONObject = [:]) -> Truth {
        var evaluator = Evaluator(scope: Scope(customer: customer, now: dawn))
        return evaluator.decide(condition).truth
    }

    func compare(_ comparison: Condition.Comparison, _ left: JSONValue, _ right: JSONValue) -> Truth
    {
        decide(.compare(comparison, .literal(left), .literal(right)))
    }

    /// The six comparisons of one pair, in the order eq neq lt lte gt gte.
    func row(_ left: JSONValue, _ right: JSONValue) -> [Truth] {
        Condition.Comparison.allCases.map { compare($0, left, right) }
    }

    let less: [Truth] = [.false, .true, .true, .true, .false, .false]
    let same: [Truth] = [.true, .false, .false, .true, .false, .true]
    let open: [Truth] = [.unknown, .unknown, .unknown, .unknown, .unknown, .unknown]

    func number(_ literal: String) throws -> JSONValue {
        .number(try #require(JSONNumber(literal: literal)))
    }

    func money(_ amount: String, _ currency: String) -> JSONValue {
        ["amount": .string(amount), "currency": .string(currency)]
    }

    // S11.1
    @Test func `null is less than nothing, and equal to nothing else`() {
        #expect(row(nil, 3) == [.false, .true, .unknown, .unknown, .unknown, .unknown])
        #expect(row(3, nil) == [.false, .true, .unknown, .unknown, .unknown, .unknown])
        #expect(row(nil, nil) == [.true, .false, .unknown, .unknown, .unknown, .unknown])
    }

    @Test func `a missing operand makes every comparison unknown, on either side`() {
        for comparison in Condition.Comparison.allCases {
            #expect(decide(.compare(comparison, ref("/customer/x"), .literal(3))) == .unknown)
            #expect(decide(.compare(comparison, .literal(3), ref("/customer/x"))) == .unknown)
            #expect(decide(.compare(comparison, .literal(nil), ref("/customer/x"))) == .unknown)
        }
    }

    @Test func `a missing date satisfies no comparison with the clock`() {
        let inThreeDays = Value.time(ref("/now"), moved: days(3))
        let condition = Condition.compare(.lt, ref("/customer/expires_at"), inThreeDays)
        #expect(decide(condition) == .unknown)
        #expect(decide(.not(condition)) == .unknown)
        #expect(decide(condition, ["expires_at": nil]) == .unknown)
        #expect(decide(condition, ["expires_at": "soon"]) == .unknown)
        #expect(decide(condition, ["expires_at": .string(after(days(2)).description)]) == .true)
        #expect(
            decide(.compare(.lt, .time(ref("/customer/expires_at"), moved: days(-3)), ref("/now")))
                == .unknown)
    }

    // S11.2
    @Test func `operands of two types are unknown`() {
        #expect(row("3", 3) == open)
        #expect(row(true, 1) == open)
        #expect(row([1], 1) == open)
        #expect(row([:], []) == open)
        #expect(row("2026-03-01T10:00:00Z", "tomorrow") == open)
        #expect(row("2026-03-01T10:00:00Z", 1_772_359_200_000) == open)
    }

    @Test func `booleans, arrays and objects have no order`() {
        #expect(row(true, true) == [.true, .false, .unknown, .unknown, .unknown, .unknown])
        #expect(row([1, 2], [1, 2]) == [.true, .false, .unknown, .unknown, .unknown, .unknown])
        #expect(row(["a": 1], ["a": 2]) == [.false, .true, .unknown, .unknown, .unknown, .unknown])
        #expect(compare(.eq, ["a": 1, "b": 2], ["b": 2, "a": 1]) == .true)
        #expect(compare(.eq, ["a": 1], ["b": 1]) == .false)
        #expect(compare(.eq, [1, "1"], [1, 1]) == .unknown)
        #expect(compare(.eq, [1, "1"], [2, 1]) == .false)
    }

    @Test func `numbers compare by their exact decimal values`() throws {
        #expect(row(try number("1.0"), 1) == same)
        #expect(row(try number("1e2"), 100) == same)
        #expect(row(try number("9007199254740992"), try number("9007199254740993")) == less)
        #expect(row(try number("0.1"), try number("0.10000000000000000000000000001")) == less)
        #expect(
            row(
                try number("123456789012345678901234567889.99"),
                try number("123456789012345678901234567890")) == less)
        #expect(row(-3, -2) == less)
    }

    @Test func `instants compare as instants, whatever their spelling`() {
        #expect(row("2026-03-01T10:00:00Z", "2026-03-01T11:00:00+01:00") == same)
        #expect(row("2026-03-01T10:00:00+02:00", "2026-03-01T09:00:00Z") == less)
        #expect(row("2026-03-01T10:00:00.001Z", "2026-03-01T10:00:00.002Z") == less)
    }

    @Test func `text orders by UTF-16 units, without normalisation`() {
        #expect(row("Zoe", "ada") == less)
        #expect(row("", "a") == less)
        // U+1F600 starts with D83D, before U+FF5E; by scalars it would come after.
        #expect(row("\u{1F600}", "\u{FF5E}") == less)
        #expect(compare(.eq, "caf\u{e9}", "cafe\u{301}") == .false)
        #expect(row("cafe\u{301}", "caf\u{e9}") == less)
    }

    @Test func `moneys of one currency compare by amount, of two not at all`() {
        #expect(row(money("9.99", "USD"), money("10", "USD")) == less)
        #expect(row(money("9.990", "USD"), money("9.99", "USD")) == same)
        #expect(row(money("9.99", "USD"), money("9.99", "EUR")) == open)
        #expect(row(money("1", "USD"), 1) == open)
    }

    @Test func `between includes both ends and is false as soon as one side is`() {
        func between(_ value: JSONValue, _ low: Value, _ high: Value) -> Truth {
            decide(.between(.literal(value), low: low, high: high))
        }
        #expect(between(1, .literal(1), .literal(3)) == .true)
        #expect(between(3, .literal(1), .literal(3)) == .true)
        #expect(between(4, .literal(1), .literal(3)) == .false)
        #expect(between(4, ref("/customer/low"), .literal(3)) == .false)
        #expect(between(2, ref("/customer/low"), .literal(3)) == .unknown)
        #expect(between("2", .literal(1), .literal(3)) == .unknown)
    }

    @Test func `in is true on one match and unknown when a missing choice could be it`() {
        func isIn(_ value: Value, _ choices: [Value]) -> Truth { decide(.isIn(value, choices)) }
        #expect(isIn(.literal(2), [.literal(1), .literal(2)]) == .true)
        #expect(isIn(.literal(2), [ref("/customer/x"), .literal(2)]) == .true)
        #expect(isIn(.literal(2), [ref("/customer/x"), .literal(1)]) == .unknown)
        #expect(isIn(.literal(2), [.literal(1)]) == .false)
        #expect(isIn(.literal(2), []) == .false)
        #expect(isIn(ref("/customer/x"), [.literal(1)]) == .unknown)
        #expect(isIn(.literal("1"), [.literal(1)]) == .unknown)
    }

    @Test func `contains looks into arrays and strings, and knows nothing of others`() {
        func contains(_ whole: JSONValue, _ part: JSONValue) -> Truth {
            decide(.contains(.literal(whole), .literal(part)))
        }
        #expect(contains(["a", "b"], "b") == .true)
        #expect(contains(["a", "b"], "c") == .false)
        #expect(contains([1], "1") == .unknown)
        #expect(contains([], "c") == .false)
        #expect(contains("hello", "ell") == .true)
        #expect(contains("hello", "") == .true)
        #expect(contains("caf\u{e9}", "e\u{301}") == .false)
        #expect(contains("hello", 1) == .unknown)
        #expect(contains(nil, "a") == .unknown)
        #expect(contains(12, 1) == .unknown)
        #expect(decide(.contains(ref("/customer/tags"), .literal("a"))) == .unknown)
    }

    @Test func `starts and ends are tested by bytes`() {
        func test(_ test: Condition.TextTest, _ whole: JSONValue, _ part: JSONValue) -> Truth {
            decide(.text(test, .literal(whole), .literal(part)))
        }
        #expect(test(.startsWith, "hello", "he") == .true)
        #expect(test(.startsWith, "hello", "lo") == .false)
        #expect(test(.endsWith, "hello", "lo") == .true)
        #expect(test(.endsWith, "lo", "hello") == .false)
        #expect(test(.startsWith, "e\u{301}", "e") == .true)
        #expect(test(.startsWith, 12, "1") == .unknown)
        #expect(test(.endsWith, nil, "") == .unknown)
        #expect(decide(.text(.endsWith, ref("/customer/x"), .literal(""))) == .unknown)
    }

    @Test func `null exists, missing does not`() {
        #expect(decide(.exists(pointer("/customer/x")), ["x": nil]) == .true)
        #expect(decide(.exists(pointer("/customer/x"))) == .false)
        #expect(decide(.exists(pointer("/customer/x/y")), ["x": ["y": 1]]) == .true)
        #expect(decide(.exists(pointer("/nowhere"))) == .false)
        #expect(decide(.exists(pointer("/event/id"))) == .false)
    }

    @Test func `a default stands in for missing and null, not for another type`() {
        func age(_ customer: JSONObject) -> Truth {
            decide(
                .compare(
                    .eq, .reference(pointer("/customer/age"), default: .literal(0)), .literal(0)),
                customer)
        }
        #expect(age([:]) == .true)
        #expect(age(["age": nil]) == .true)
        #expect(age(["age": "x"]) == .unknown)
        #expect(age(["age": 1]) == .false)
    }

    @Test func `a template or a moved time that lacks its part is missing`() {
        #expect(
            decide(
                .compare(.eq, .template("hi {{customer.name}}"), .literal("hi Ada")),
                ["name": "Ada"]) == .true)
        #expect(
            decide(.compare(.neq, .template("hi {{customer.name}}"), .literal("hi Ada")))
                == .unknown)
        #expect(
            decide(.compare(.neq, .time(.literal("x"), moved: days(1)), .literal("x"))) == .unknown)
    }
}
