import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// A decision made again from its row (S19). Every other suite does so with each decision it makes.
@Suite struct RepetitionTests {
    private var isBig: Condition { .compare(.gt, ref("/event/raw/cents"), .literal(500)) }

    private var listening: WorkflowDefinition {
        makeWorkflow([
            .wait(
                "listen",
                [
                    .init(
                        id: "big", cause: .event(EventMatch(names: ["paid"], condition: isBig)),
                        next: .to("high")),
                    .on("paid", next: .end),
                ]), .exit("high", reason: "high"),
        ])
    }

    @Test func `what was read of the provider's object is in the row, by event and pointer`() throws
    {
        var world = World(listening)
        let outcome = world.give("paid", raw: ["cents": 900])
        #expect(world.ending == "exited high")
        let read = try #require(outcome?.entries.first { $0.kind == .read })
        let id = try #require(world.log.last?.event.id.text)
        #expect(
            read.members["questions"] == [
                [
                    "ask": ["raw": "/event/raw/cents", "event": .string(id)],
                    "answer": ["value": 900],
                ]
            ])
    }

    @Test func `an event that a wait looked back at is told with its row`() throws {
        var world = World(
            makeWorkflow([
                .action("tell", next: .to("listen")), .wait("listen", [.on("paid")]),
            ]))
        world.give("paid", ["n": 1])
        let outcome = world.answer(.succeeded([:]))
        #expect(outcome?.moves == ["tell next", "listen paid"])
        let told = try #require(
            outcome?.entries.first { $0.members["look_back"] == true })
        #expect(told.event?.event.properties == ["n": 1])
        #expect(told.members["bound_by"] == "listen")
    }

    @Test func `an altered reading makes another decision`() throws {
        let flow = makeWorkflow([
            .branch("fork", [.init(id: "vip", condition: holds("vip"), next: .end)])
        ])
        let world = World(flow, attributes: ["vip": true])
        var entries = world.entry.entries
        let place = try #require(entries.firstIndex { $0.kind == .read })
        entries[place].members["values"] = ["/customer/timezone": nil, "/customer/vip": false]
        let entering = makeRun(flow, trigger: world.log[0])
        let again = world.engine.enter(
            entering, ordinal: 1, facts: Facts(repeating: entries, of: entering, now: dawn))
        #expect(again.moves == ["fork else"])
    }

    @Test func `another definition that reads what was not recorded says so, and guesses nothing`()
    {
        let world = World(makeWorkflow([.exit("out")]), attributes: ["vip": true])
        let changed = makeWorkflow([
            .branch(
                "fork",
                [
                    .init(id: "vip", condition: holds("vip"), next: .end),
                    .init(
                        id: "seg", condition: .segment(SegmentID("s"), .member(true)), next: .end),
                ], otherwise: .to("out")), .exit("out"),
        ])
        let entering = makeRun(changed, trigger: world.log[0])
        let again = Engine(changed).enter(
            entering, ordinal: 1,
            facts: Facts(repeating: world.entry.entries, of: entering, now: dawn))
        #expect(again.moves == ["fork else"])
        #expect(again.unrecorded == ["/customer/vip", ["segment": "s"]])
    }

    @Test func `an event read back from its row is the event, as far as a run sees it`() throws {
        var world = World(makeWorkflow([.wait("listen", [.on("paid")])]))
        var event = makeEvent("paid", 2, at: after(hours(1)), ["n": 1])
        event.event.depth = 3
        event.event.isLate = true
        event.event.mappedName = "charged"
        let outcome = world.give(event)
        let told = try #require(outcome?.entries.first?.event)
        #expect(told.event.scope == event.event.scope)
        #expect(told.event.depth == 3)
        #expect(told.event.answers(to: "charged"))
        #expect(told.ordinal == 2)
        #expect(told.recordedAt == event.recordedAt)
    }
}
