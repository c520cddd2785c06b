import JSON
import Testing
import TimeZones

@testable import journey_replay

@Suite struct TimelineTests {
    @Test(arguments: [
        (#"{"kind": "moved", "from": "a", "outlet": "next", "to": "end"}"#, "a -> end by next"),
        (#"{"kind": "waiting", "step": "a", "due": "T"}"#, "at a until T"),
        (
            #"{"kind": "waiting", "step": "a", "events": ["x", "y"], "due": "T", "reconsider_at": "U"}"#,
            "at a for x or y until T, looked at again U"
        ),
        (
            #"{"kind": "waiting", "step": "a", "invocation": "0123456789abcdef"}"#,
            "at a for the end of 01234567"
        ),
        (
            #"{"kind": "requested", "step": "a", "tool": "http", "account": "crm", "invocation": "0123456789"}"#,
            "a asks for http to crm (01234567)"
        ),
        (
            #"{"kind": "input", "result": "0123456789", "outcome": {"outcome": "failed", "error": "http_404"}}"#,
            "01234567 ended: failed: http_404"
        ),
        (#"{"kind": "input", "timer": "T"}"#, "the timer of T"),
        (#"{"kind": "ended", "status": "exited", "reason": "converted"}"#, "exited: converted"),
        (
            #"{"kind": "milestone", "milestone": "m", "n": 9007199254740993}"#,
            "milestone m, n 9007199254740993"
        ),
    ])
    func `an entry of history is told in words`(entry: String, words: String) throws {
        #expect(HistoryPhrase(try JSONParser.parse(entry))?.text == words)
    }

    @Test func `what was read is left to the machine`() throws {
        #expect(HistoryPhrase(try JSONParser.parse(#"{"kind": "read", "values": {}}"#)) == nil)
    }

    @Test func `lines of one instant stand in the order of cause and effect`() {
        let at = instant("2026-03-02T12:00:00Z")
        var timeline = Timeline()
        timeline.addDue(run: "r", workflow: "w", step: "s", at: at)
        timeline.addDecision(
            of: "r", workflow: "w", at: at, entries: [["kind": "ended", "status": "completed"]])
        timeline.addEvent("trial.started", connector: "c", at: at, occurredAt: at)
        timeline.addDelivery("1", connector: "c", at: at, state: nil)
        #expect(timeline.ordered.map(\.what) == ["delivery", "event", "ended", "due"])
    }

    @Test func `times are told from now`() {
        let now = instant("2026-03-02T12:00:00Z")
        #expect(told(now + .seconds(7_500), now) == "2026-03-02T14:05:00.000Z (in 2 h 5 min)")
        #expect(told(now - .seconds(30), now) == "2026-03-02T11:59:30.000Z (30 s ago)")
        #expect(told(now + .seconds(90_000), now) == "2026-03-03T13:00:00.000Z (in 1 d 1 h)")
    }
}
