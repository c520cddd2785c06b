import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// Public failures of products of this kind, as they would come about here.
struct SeenTests {
    private func question(_ next: Edge = .end) -> Step {
        .wait("ask", for: "answered", next: .to("yes"), timeout: hours(1), onTimeout: .to("no"))
    }

    // S2.seen S2.2
    @Test func `an answer and the deadline at once take one path, in whatever turns they come`() {
        for together in [true, false] {
            for answeredFirst in [true, false] {
                var world = World(
                    makeWorkflow([
                        question(), .delay("yes", days(1)), .delay("no", days(1)),
                    ]))
                world.give("began")
                let at = answeredFirst ? hours(1) - .milliseconds(1) : hours(1) + .milliseconds(1)
                let answer = world.event("answered", at: after(at))
                var moves: [String] = []
                if together {
                    moves += world.take([answer], at: after(hours(2))).moves
                } else {
                    if !answeredFirst { moves += world.wake(at: after(hours(1))).moves }
                    moves += world.take([answer], at: after(at)).moves
                    moves += world.wake(at: after(hours(2))).moves
                }
                #expect(moves == [together || answeredFirst ? "ask answered" : "ask on_timeout"])
                #expect(world.runs.count == 1)
            }
        }
    }

    // S2.seen S2.5
    @Test func `after somebody led the run on, the old step's timer moves nothing`() throws {
        var world = World(
            makeWorkflow([question(), .delay("yes", days(9)), .delay("no", days(1))]))
        world.give("began")
        // The answer leads on; the deadline of the step that was left comes afterwards.
        world.give("answered", at: after(.seconds(60)))
        let late = world.wake(at: after(hours(1)))
        #expect(late.moves.isEmpty)
        #expect(world.runs[0].position?.step == StepID("yes"))
        #expect(world.wakeAt == after(.seconds(60) + days(9)))
    }

    // S3.seen S3.2
    @Test func `a callback that came before the wait was reached is not lost`() throws {
        var world = World(
            makeWorkflow([.action("call", next: .to("ask")), question(), .delay("yes", days(1))]))
        world.give("began")
        let request = try #require(world.requests.first)
        // The service calls back while its own answer is still on the way.
        world.give("answered", at: after(.milliseconds(900)))
        let result = world.take(world.result(of: request, at: after(.seconds(1))))
        #expect(result.moves == ["call next", "ask answered"])
    }

    // S3.2 S3.3
    @Test func `what came before the step, or was taken by another wait, is not taken again`() {
        var world = World(
            makeWorkflow([
                .wait("first", for: "answered", next: .to("ask"), timeout: days(1)), question(),
                .delay("yes", days(1)), .delay("no", days(1)),
            ]))
        world.give("began")
        let result = world.give("answered", at: after(.seconds(1)))
        #expect(result.moves == ["first answered"])
        #expect(world.give("answered", at: after(.seconds(2))).moves == ["ask answered"])
    }

    // S3.1 S5.1
    @Test func `a delay counts from the turn that reached it, whatever the provider's clock says`()
    {
        var world = World(makeWorkflow([.delay("rest", hours(2))]))
        let event = world.event("began", at: after(hours(1)), occurred: dawn)
        world.take([event], at: after(hours(3)))
        #expect(world.wakeAt == after(hours(5)))
    }

    // S3.3
    @Test func `an event older than the trigger by its connector's clock satisfies no wait`() {
        var world = World(
            makeWorkflow([question(), .delay("yes", days(1)), .delay("no", days(1))]))
        world.give("began", occurred: after(hours(1)))
        #expect(
            world.give("answered", at: after(.seconds(60)), occurred: dawn).moves.isEmpty)
        #expect(
            world.give("answered", at: after(.seconds(61)), occurred: after(hours(2))).moves
                == ["ask answered"])
    }

    // S5.3
    @Test func `a date of the future is no negative age`() {
        let recent = makeSegment(
            "recent",
            .events(
                EventHistory(
                    match: EventMatch(names: ["purchase.completed"]), since: .within(days(7)))))
        var world = World([], segments: [recent])
        world.give("purchase.completed", at: dawn, occurred: after(hours(2)))
        #expect(world.members.count <= 1)
        world.wake(at: after(hours(3)))
        #expect(world.members.count == 1)
    }

    // S22.1
    @Test func `a wait wakes by event, time and result alike`() throws {
        var world = World(
            makeWorkflow([.action("call", next: .to("ask")), question(), .delay("no", hours(1))]))
        world.give("began")
        let request = try #require(world.requests.first)
        #expect(world.take(world.result(of: request)).moves == ["call next"])
        #expect(world.wake(at: after(hours(1))).moves == ["ask on_timeout"])
        #expect(world.wake(at: after(hours(2))).moves == ["no next"])
        #expect(world.endings == ["completed"])
    }
}
