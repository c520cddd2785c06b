import JSON
import JourneyEngine
import JourneyModel
import Simulation
import Testing
import TimeZones

@Suite struct CaseParsingTests {
    private func problems(_ text: String) -> [String] {
        do throws(SimulationCaseError) {
            _ = try SimulationCase.parse(Array(text.utf8))
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    private let times = "\"until\": \"2026-03-02T00:00:00Z\", \"expect\": []"

    @Test func `a full case is read as it stands`() throws {
        let text = """
            {"customer": {"email": "a@example.com"}, "timezone": "Europe/Berlin",
             "effects": [{"step": "tell", "result": {"status": 201}, "after": "PT5S"},
                         {"step": "tell", "error": "http_500"}, {"step": "ask", "error": "timeout"},
                         {"step": "ask", "error": "expired"}, {"step": "ask", "error": "ambiguous"},
                         {"step": "rest", "after": "P1D"}],
             "events": [{"at": "2026-03-01T10:00:00+01:00", "event": "paid", "properties": {"n": 1}}],
             "until": "2026-03-02T00:00:00Z",
             "expect": [{"at": "2026-03-01T09:00:00Z", "step": "tell", "type": "action",
                         "outlet": "next", "effect": "succeeded"}],
             "ends": {"status": "exited", "reason": "left", "converted": true}}
            """
        let time = try #require(Instant("2026-03-01T09:00:00Z"))
        let until = try #require(Instant("2026-03-02T00:00:00Z"))
        let expected = SimulationCase(
            customer: JSONObject([("email", "a@example.com"), ("timezone", "Europe/Berlin")]),
            happenings: [.init(at: time, event: "paid", properties: JSONObject([("n", 1)]))],
            answers: [
                .init(
                    step: StepID("tell"), outcome: .succeeded(["status": 201]), after: .seconds(5)),
                .init(step: StepID("tell"), outcome: .failed(error: "http_500", detail: nil)),
                .init(step: StepID("ask"), outcome: .timedOut),
                .init(step: StepID("ask"), outcome: .expired),
                .init(step: StepID("ask"), outcome: .unknown),
                .init(step: StepID("rest"), after: .seconds(86_400)),
            ], until: until,
            expectations: [
                .init(
                    at: time, step: StepID("tell"), type: "action", outlet: "next",
                    effect: "succeeded")
            ], ending: .init(status: "exited", reason: "left", converted: true))
        #expect(try SimulationCase.parse(Array(text.utf8)) == expected)
    }

    @Test func `every problem is told, each with its place`() {
        let text = """
            {"customer": [], "events": [{"at": "soon", "event": ""}, {"event": "paid"}, 3],
             "until": "2026-03-02T00:00:00Z", "timezone": "Berlin time",
             "effects": [{"step": "a", "result": {}, "error": "x"}, {"step": "a", "after": "P1Y"}],
             "expect": {}, "ends": {"status": "lost", "converted": "yes"}, "feature": {}}
            """
        #expect(
            problems(text) == [
                "/feature: \"feature\" is not known here; the keys are customer, events, until, "
                    + "expect, timezone, features, from, messaging, effects, ends.",
                "/customer: This is an array; write an object.",
                "/timezone: \"Berlin time\" is not the name of a time zone; write one like "
                    + "Europe/Berlin.",
                "/events/0/at: This is no instant; write one like 2026-11-30T10:00:00Z.",
                "/events/0/event: This is a string; write a string that is not empty.",
                "/events/1: \"at\" is missing; add it.",
                "/events/2: This is a number; write an object.",
                "/effects/0/error: An effect ends in a \"result\" or in an \"error\"; leave one out.",
                "/effects/1/after: This is no duration; write one like PT10S or P2D.",
                "/expect: This is an object; write an array.",
                "/ends/converted: This is a string; write true or false.",
                "/ends/status: \"lost\" is no status; write waiting, completed, exited, failed, "
                    + "cancelled or superseded.",
            ])
    }

    @Test func `what is missing at the top is told together`() {
        #expect(
            problems("{}") == [
                "/: \"customer\" is missing; add it.", "/: \"events\" is missing; add it.",
                "/: \"until\" is missing; add it.", "/: \"expect\" is missing; add it.",
            ])
        #expect(problems("[]") == ["/: This is an array; write an object."])
        #expect(problems("{").first?.hasPrefix("/: This is not JSON") == true)
    }

    @Test func `events out of order are refused`() {
        let text = """
            {"customer": {}, "events": [{"at": "2026-03-01T10:00:01Z", "event": "a"},
             {"at": "2026-03-01T10:00:00Z", "event": "b"}], \(times)}
            """
        #expect(
            problems(text) == [
                "/events/1/at: This is earlier than the event before; list events by their time."
            ])
    }

    @Test func `a file or list past its bound is refused`() {
        let long = String(repeating: " ", count: SimulationCase.longestFile + 1)
        #expect(problems(long).first?.contains("at most 1048576 are read") == true)
        let effects = Array(repeating: "{\"step\":\"a\"}", count: 1_001).joined(separator: ",")
        #expect(
            problems("{\"customer\": {}, \"events\": [], \"effects\": [\(effects)], \(times)}") == [
                "/effects: This holds 1001 items; at most 1000 are read."
            ])
    }
}
