import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

struct SegmentTests {
    private let pro = makeSegment("pro", .compare(.eq, ref("customer", "plan"), .literal("pro")))

    private func told(_ plan: JSONValue) -> JSONObject { ["attributes": ["plan": plan]] }

    @Test func `who comes in and who leaves is told in the next turn`() {
        var world = World([], segments: [pro])
        world.give("invoice.paid", told("pro"))
        #expect(world.members == [SegmentID("pro"): dawn])
        #expect(world.settle().map(\.name) == ["segment.entered"])
        world.give("invoice.paid", at: after(hours(1)), told("basic"))
        #expect(world.members.isEmpty)
        let left = world.settle(at: after(hours(1)))
        #expect(left.map(\.name) == ["segment.left"])
        #expect(left.map(\.depth) == [1])
        #expect(left.map(\.trust) == [.engine])
    }

    // S4.2
    @Test func `a segment starts a run by its own cause, without an event`() {
        var world = World(
            [
                makeWorkflow("joins", [.delay("rest", days(1))], entry: onSegment("pro")),
                makeWorkflow("leaves", [.delay("rest", days(1))], entry: onSegment("pro", .leave)),
            ], segments: [pro])
        world.give("invoice.paid", told("pro"))
        world.settle()
        #expect(world.runs.map(\.cause) == ["segment:pro:enter:\(dawn)"])
        #expect(world.runs[0].trigger.isEmpty)
        world.give("invoice.paid", at: after(hours(1)), told("basic"))
        world.settle(at: after(hours(1)))
        #expect(
            world.runs.map(\.cause).last == "segment:pro:leave:\(after(hours(1)))")
    }

    @Test func `changes within a turn are each one of its own`() {
        var world = World(
            [makeWorkflow([.delay("rest", days(1))], entry: onSegment("pro"))], segments: [pro])
        world.take(
            world.event("invoice.paid", at: dawn, told("pro")),
            world.event("invoice.paid", at: dawn, occurred: after(.seconds(1)), told("basic")),
            world.event("invoice.paid", at: dawn, occurred: after(.seconds(2)), told("pro")))
        let events = world.settle()
        #expect(events.map(\.name) == ["segment.entered", "segment.left", "segment.entered"])
        #expect(Set(events.map(\.id)).count == 3)
    }

    @Test func `somebody else's event of that name starts nobody`() {
        var world = World(
            [makeWorkflow([.delay("rest", days(1))], entry: onSegment("pro"))], segments: [pro])
        world.give("segment.entered", ["segment": "pro"])
        #expect(world.runs.isEmpty)
    }

    @Test func `publishing a segment makes nobody enter`() {
        var world = World([makeWorkflow([.delay("rest", days(1))], entry: onSegment("pro"))])
        world.customer.createdAt = dawn
        world.customer.attributes = ["plan": "pro"]
        world.publish(segments: [pro], revision: 5, at: after(hours(1)))
        // The walk's turn, or any other.
        let result = world.wake(at: after(hours(2)))
        #expect(world.members == [SegmentID("pro"): after(hours(1))])
        #expect(result.emitted.isEmpty)
        #expect(world.customer.definitionsSeen == 5)
        world.give("invoice.paid", at: after(hours(3)), told("basic"))
        #expect(world.settle(at: after(hours(3))).map(\.name) == ["segment.left"])
    }

    @Test func `what came after publishing counts, though it came before the walk`() {
        var world = World()
        world.customer.createdAt = dawn
        world.publish(segments: [pro], revision: 5, at: after(hours(1)))
        world.give("invoice.paid", at: after(hours(2)), told("pro"))
        #expect(world.settle(at: after(hours(2))).map(\.name) == ["segment.entered"])
    }

    @Test func `who is new after publishing enters by what is known at once`() {
        var world = World([], segments: [])
        world.publish(
            segments: [makeSegment("new", .not(.exists(JSONPointer(tokens: ["customer", "x"]))))],
            revision: 5, at: dawn)
        world.customer.createdAt = after(hours(1))
        world.give("began", at: after(hours(1)))
        #expect(world.settle(at: after(hours(1))).map(\.name) == ["segment.entered"])
    }

    @Test func `editing a segment moves people silently and keeps since when they are in`() {
        var world = World([], segments: [pro])
        world.give("invoice.paid", told("pro"))
        world.settle()
        let wider = makeSegment("pro", .exists(JSONPointer(tokens: ["customer", "plan"])))
        world.publish(segments: [wider], revision: 9, at: after(hours(1)))
        #expect(world.wake(at: after(hours(2))).emitted.isEmpty)
        #expect(world.members == [SegmentID("pro"): dawn])
        let narrower = makeSegment("pro", holds("vip"))
        world.publish(segments: [narrower], revision: 10, at: after(hours(3)))
        #expect(world.wake(at: after(hours(4))).emitted.isEmpty)
        #expect(world.members.isEmpty)
    }

    // S22.1
    @Test func `time alone moves people, and sets a timer for it`() {
        let fresh = makeSegment(
            "fresh",
            .compare(
                .lt, ref("now"), .time(ref("customer", "joined"), moved: days(3))))
        var world = World([], segments: [fresh])
        world.give(
            "invoice.paid", ["attributes": ["joined": .string(dawn.description)]])
        world.settle()
        #expect(world.members.count == 1)
        #expect(world.wakeAt == after(days(3)))
        world.wake(at: after(days(3)))
        #expect(world.settle(at: after(days(3))).map(\.name) == ["segment.left"])
    }

    // S2.1 S22.1
    @Test func `an input recorded before the time comes first`() {
        let quiet = makeSegment(
            "quiet",
            .compare(.gte, ref("now"), .time(ref("customer", "seen"), moved: days(3))))
        var world = World([], segments: [quiet])
        world.give("invoice.paid", ["attributes": ["seen": .string(dawn.description)]])
        let late = world.event(
            "invoice.paid", at: after(days(2)),
            ["attributes": ["seen": .string(after(days(2)).description)]])
        let result = world.take([late], at: after(days(3)))
        #expect(result.emitted.isEmpty)
        #expect(world.members.isEmpty)
    }

    @Test func `a segment of a segment follows it`() {
        let vip = makeSegment("a-vip", .segment(SegmentID("pro"), .member(true)))
        var world = World([], segments: [vip, pro])
        world.give("invoice.paid", told("pro"))
        #expect(Set(world.members.keys.map(\.text)) == ["a-vip", "pro"])
        #expect(world.settle().count == 2)
    }

    @Test func `a subscription's state makes members`() {
        let active = makeSegment(
            "active",
            .subscription(.compare(.eq, ref("subscription", "status"), .literal("active"))))
        var world = World([], segments: [active])
        world.take(world.subscription("started"))
        #expect(world.members.count == 1)
        world.take(world.subscription("expired", after: hours(1)))
        #expect(world.members.isEmpty)
    }

    @Test func `a question about history makes members, who leave with time`() {
        let buyer = makeSegment(
            "buyer",
            .events(
                EventHistory(
                    match: EventMatch(names: ["purchase.completed"]), since: .within(days(7)))))
        var world = World([], segments: [buyer])
        world.give("purchase.completed")
        #expect(world.members.count == 1)
        let due = world.wakeAt
        #expect(due != nil)
        world.wake(at: after(days(7) + .seconds(1)))
        #expect(world.members.isEmpty)
    }

    // S21.2
    @Test func `a goal by a segment converts by its event`() {
        let goal = Goal(cause: .segmentEnter(SegmentID("pro")))
        var world = World(
            [makeWorkflow([.delay("rest", days(9))], goal: goal)], segments: [pro])
        world.give("began")
        world.give("invoice.paid", at: after(hours(1)), told("pro"))
        world.settle(at: after(hours(1)))
        #expect(world.endings == ["exited converted"])
        #expect(world.counted(.converted, "flow") == 1)
    }
}
