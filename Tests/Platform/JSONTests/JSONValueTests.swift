import JSON
import Testing

@Suite struct JSONValueTests {
    @Test func `digits survive reading and writing`() throws {
        for literal in [
            "12345678901234567890123456789.000000000000000000001", "1e400", "-0", "1.0", "1E+2",
            "0.10",
        ] {
            #expect(try JSONParser.parse(literal).text == literal)
        }
    }

    @Test(arguments: [
        ("9223372036854775807", 9_223_372_036_854_775_807 as Int64?),
        ("-9223372036854775808", .min), ("9223372036854775808", nil),
        ("-9223372036854775809", nil), ("9007199254740993", 9_007_199_254_740_993), ("1e2", 100),
        ("1.0", 1), ("100e-2", 1), ("-0", 0), ("0e99999999999999999999", 0), ("1.5", nil),
        ("1e-1", nil), ("1e19", nil), ("9.223372036854775807e18", .max),
        ("1e99999999999999999999", nil),
    ])
    func `a whole number is exact or nothing`(literal: String, wanted: Int64?) throws {
        #expect(try JSONParser.parse(literal).integer == wanted)
    }

    @Test(arguments: [
        ("1", "1.0", 0), ("0.1", "1e-1", 0), ("-1", "1", -1), ("10", "9", 1), ("-10", "-9", -1),
        ("0", "-0", 0), ("0", "1e-400", -1), ("-1e-400", "0", -1), ("1e400", "2e400", -1),
        ("9007199254740993", "9007199254740992", 1), ("0.30000000000000004", "0.3", 1),
        ("123", "123.0001", -1),
    ])
    func `amounts compare by value`(left: String, right: String, wanted: Int) throws {
        let left = try #require(JSONNumber(literal: left))
        let right = try #require(JSONNumber(literal: right))
        #expect(JSONNumber.compare(left, right) == wanted)
        #expect(JSONNumber.compare(right, left) == -wanted)
    }

    @Test(arguments: [
        ("7.990", "7.990" as String?), ("799e-2", "7.99"), ("-0", "0"), ("-0.0", "0.0"),
        ("1e3", "1000"),
        ("-5e-1", "-0.5"), ("1e400", nil), ("1e-401", nil),
    ])
    func `plain decimals have no exponent`(literal: String, wanted: String?) throws {
        #expect(try #require(JSONNumber(literal: literal)).plainDecimal == wanted)
    }

    @Test(arguments: ["", " 1", "1 ", "+1", "01", "1.", ".5", "0x1", "NaN", "1e", "true", "-"])
    func `a number's literal is in the grammar`(text: String) {
        #expect(JSONNumber(literal: text) == nil)
    }

    @Test func `keys that only look alike stay apart`() throws {
        let text = "{\"\u{e9}\":1,\"e\u{301}\":2}"
        let value = try JSONParser.parse(text)
        #expect(value["\u{e9}"]?.integer == 1)
        #expect(value["e\u{301}"]?.integer == 2)
        #expect(value.text.utf8.elementsEqual(text.utf8))
        #expect(JSONValue.string("\u{e9}") != .string("e\u{301}"))
        let offsets = try JSONParser.parseDocument(Array(text.utf8)).offsets
        #expect(offsets.count == 3)
    }

    @Test func `objects are equal in any order and hash alike`() throws {
        let names = (0..<40).map { "key\($0)" }
        let forth = JSONObject(names.map { ($0, .string($0)) })
        let back = JSONObject(names.reversed().map { ($0, .string($0)) })
        var other = back
        other["key7"] = 7
        #expect(forth == back)
        #expect(JSONValue.object(forth).hashValue == JSONValue.object(back).hashValue)
        #expect(forth != other)
        #expect(JSONObject([("a", 1)]) != JSONObject([("a", 1), ("b", 2)]))
    }

    @Test func `members are set in place, appended and removed`() {
        var object = JSONObject([("a", 1), ("b", 2)])
        object["a"] = 3
        object["c"] = nil
        object["d"] = [true, nil]
        object["b"] = nil
        #expect(JSONValue.object(object).text == #"{"a":3,"d":[true,null]}"#)
    }

    @Test func `the canonical form keeps amounts apart that a double would join`() throws {
        func canonical(_ text: String) throws -> String {
            String(decoding: try JSONParser.parse(text).canonicalBytes, as: UTF8.self)
        }
        #expect(try canonical("9007199254740993") == "9007199254740993")
        #expect(try canonical("9007199254740992") == "9007199254740992")
        #expect(try canonical("1e400") == "1e+400")
        #expect(try canonical("1e-400") == "1e-400")
        #expect(try canonical("0.1000000000000000055511") == "0.1000000000000000055511")
        #expect(try canonical("-0.0") == "0")
        #expect(try canonical("1E2") == "100")
        #expect(
            try canonical(#"{"\ud83d\ude00":1,"\uffff":2}"#) == "{\"\u{1f600}\":1,\"\u{ffff}\":2}")
    }

    @Test func `text for people is indented`() throws {
        let value: JSONValue = ["a": [1, [:], []], "b": ["c": nil]]
        #expect(
            value.pretty == """
                {
                  "a": [
                    1,
                    {},
                    []
                  ],
                  "b": {
                    "c": null
                  }
                }
                """)
        #expect(try JSONParser.parse(value.pretty) == value)
    }

    @Test func `control characters are written as escapes`() {
        let value = JSONValue.string("\u{0}\u{8}\t\n\u{c}\r\u{1f}\"\\/\u{7f}é")
        #expect(value.text == "\"\\u0000\\b\\t\\n\\f\\r\\u001f\\\"\\\\/\u{7f}é\"")
    }

    @Test func `a double is the nearest one`() throws {
        #expect(try JSONParser.parse("0.1").number?.double == 0.1)
        #expect(try JSONParser.parse("1e400").number?.double == .infinity)
        #expect(JSONValue.integer(7 as Int) == 7)
    }
}
