import JSON
import JourneyEngine
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
            #"{"kind": "milestone", "milestone": "m", "step": "a"}"#, "passed the milestone m at a"
        ),
        (
            #"{"kind": "waiting", "step": "a", "due": "T", "zone": "Europe/Berlin", "opens": true}"#,
            "at a for its window to open T (Europe/Berlin)"
        ),
        (
            #"{"kind": "moved", "from": "a", "outlet": "b", "to": "c", "because": [{"operator": "gte", "values": [5, {"missing": true}], "result": "unknown"}]}"#,
            "a -> c by b, since gte(5, missing) is unknown"
        ),
        (
            #"{"kind": "input", "event": "e", "name": "x", "bound_by": "a", "look_back": true}"#,
            "event x, taken by a, looking back"
        ),
        (
            #"{"kind": "input", "command": "cancel", "reason": "asked", "audit": 7}"#,
            "the command cancel: asked (audit 7)"
        ),
        (#"{"kind": "input", "look": "T"}"#, "a look at what the turn had changed"),
        (
            #"{"kind": "input", "outside": "superseded", "reason": "restarted"}"#,
            "ended from outside, superseded: restarted"
        ),
        (
            #"{"kind": "read", "values": {"/customer/plan": "pro", "/customer/age": {"absent": true}}}"#,
            "/customer/plan is pro, /customer/age is missing"
        ),
        (
            #"{"kind": "exposed", "step": "a", "experiment": "e", "variant": "v", "holdout": true}"#,
            "sees variant v (holdout) of e at a"
        ),
        (
            #"{"kind": "suppressed", "step": "a", "reason": "cap"}"#,
            "an action was withheld at a: cap"
        ),
        (
            #"{"kind": "attempted", "number": 3, "invocation": "0123456789", "outcome": "timeout", "ambiguous": true}"#,
            "attempt 3 of 01234567: timeout, perhaps arrived"
        ),
        (
            #"{"kind": "result", "step": "a", "invocation": "0123456789", "outcome": "failed"}"#,
            "a's effect 01234567 ended failed"
        ),
        (#"{"kind": "skipped", "step": "a", "audit": 4}"#, "an operator skipped a (audit 4)"),
        (
            #"{"kind": "stale", "invocation": "0123456789"}"#,
            "a result of 01234567 came too late to matter"
        ),
        (
            #"{"kind": "unheard", "n": 9007199254740993}"#, "n 9007199254740993"
        ),
    ])
    func `an entry of history is told in words`(entry: String, words: String) throws {
        #expect(HistoryPhrase(try JSONParser.parse(entry))?.text == words)
    }

    @Test func `every kind of entry has words of its own`() throws {
        for kind in HistoryEntry.Kind.allCases {
            let phrase = try #require(HistoryPhrase(["kind": .string(kind.rawValue), "odd": 1]))
            #expect(phrase.text != "odd 1" || kind == .input, "\(kind)")
            #expect(phrase.isStory == (kind != .read))
        }
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
