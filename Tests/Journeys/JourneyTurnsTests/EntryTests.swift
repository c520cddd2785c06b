import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// Who enters, and how often (S4).
@Suite struct EntryTests {
    let rest: [Step] = [.delay("rest", hours(1))]
    let byShop = Entry.Key.reference(JSONPointer(tokens: ["event", "shop"]))

    // MARK: Filters

    @Test func `an event of another name starts nothing and is not counted`() {
        var world = World(makeWorkflow(rest))
        #expect(world.give("ended").counts.isEmpty)
        #expect(world.runs.isEmpty)
    }

    @Test func `environment, connector, where and unless decide who enters`() {
        let vip = Condition.compare(.eq, ref("event", "vip"), .literal(true))
        let table: [(WorkflowDefinition, JSONObject, String, Count.Name)] = [
            (makeWorkflow(rest, environments: ["sandbox"]), [:], "environment", .notEntered),
            (
                makeWorkflow(rest, entry: makeEntry(connectors: ["till"])), [:], "connector",
                .filtered
            ),
            (makeWorkflow(rest, entry: makeEntry(condition: vip)), [:], "condition", .filtered),
            (
                makeWorkflow(rest, entry: makeEntry(unless: vip)), ["vip": true], "condition",
                .filtered
            ),
        ]
        for (workflow, properties, cause, name) in table {
            var world = World(workflow)
            world.give("began", properties)
            #expect(world.runs.isEmpty)
            #expect(world.counted(name, "flow", cause) == 1)
        }
        var world = World(
            makeWorkflow(rest, entry: makeEntry(connectors: ["shop"], condition: .not(.not(vip)))))
        world.give("began", ["vip": true])
        #expect(world.endings == ["waiting"])
    }

    @Test func `unless on what is unknown stops nobody`() {
        let vip = Condition.compare(.eq, ref("event", "vip"), .literal(true))
        var world = World(makeWorkflow(rest, entry: makeEntry(unless: vip)))
        world.give("began")
        #expect(world.endings == ["waiting"])
    }

    // S4.5
    @Test func `who has converted or left by a later fact does not enter late`() {
        let gone = ExitRule(cause: .event(EventMatch(names: ["ended"])), reason: "x")
        let won = Goal(match: EventMatch(names: ["won"]))
        let entry = makeEntry(key: byShop)
        for (name, workflow) in [
            ("ended", makeWorkflow(rest, entry: entry, exits: [gone])),
            ("won", makeWorkflow(rest, entry: entry, goal: won)),
        ] {
            var world = World(workflow)
            world.give(name, occurred: dawn + .seconds(2), ["shop": "a"])
            world.give("began", at: dawn + .seconds(9), occurred: dawn, ["shop": "a"])
            #expect(world.runs.isEmpty, "\(name)")
            #expect(world.counted(.notEntered, "flow", "late") == 1)
            // Another key, and a later beginning, are other stories.
            world.give("began", at: dawn + .seconds(10), occurred: dawn, ["shop": "b"])
            world.give(
                "began", at: dawn + .seconds(11), occurred: dawn + .seconds(5), ["shop": "a"])
            #expect(world.endings == ["waiting", "waiting"], "\(name)")
        }
    }

    // S4.4
    @Test func `entry and exit both true on the same event: not entered`() {
        let byEvent = ExitRule(cause: .event(EventMatch(names: ["began"])), reason: "x")
        let byCondition = ExitRule(cause: .condition(holds("gone")), reason: "x")
        for exit in [byEvent, byCondition] {
            var world = World(makeWorkflow(rest, exits: [exit]))
            world.customer.attributes = ["gone": true]
            world.give("began")
            #expect(world.runs.isEmpty)
            #expect(world.counted(.filtered, "flow", "exits") == 1)
        }
    }

    // MARK: Keys

    @Test func `a key gives each value its own run, and a missing one none`() {
        var world = World(makeWorkflow(rest, entry: makeEntry(.oneTime, key: byShop)))
        world.give("began", ["shop": "a"])
        world.give("began", ["shop": 12])
        world.give("began", ["shop": "12"])
        world.give("began", ["shop": nil])
        world.give("began")
        #expect(world.runs.map(\.key) == ["a", "12"])
        #expect(world.counted(.notEntered, "flow", "live") == 1)
        #expect(world.counted(.notEntered, "flow", "no_key") == 2)
    }

    @Test func `keys are compared by their bytes`() {
        var world = World(makeWorkflow(rest, entry: makeEntry(.oneTime, key: byShop)))
        world.give("began", ["shop": "caf\u{e9}"])
        world.give("began", ["shop": "cafe\u{301}"])
        #expect(world.runs.count == 2)
    }

    @Test func `subscription is the event's subscription key`() {
        var world = World(makeWorkflow(rest, entry: makeEntry(key: .subscription)))
        world.give("began", ["subscription_key": "s1"])
        #expect(world.runs.map(\.key) == ["s1"])
    }

    // MARK: Re-entry

    /// Two entries, the first run over by the second; how many runs come of it.
    func entries(_ reentry: Entry.Reentry, gap: Duration) -> Int {
        var world = World(makeWorkflow(rest, entry: makeEntry(reentry)))
        world.give("began")
        world.take([], at: after(hours(1)))
        world.give("began", at: after(gap))
        return world.runs.count
    }

    @Test func `one_time is once, every_time is always`() {
        #expect(entries(.oneTime, gap: days(300)) == 1)
        #expect(entries(.everyTime, gap: hours(1)) == 2)
    }

    @Test func `a window counts from the last entry, and its end is outside it`() {
        #expect(entries(.oncePerWindow(days(1)), gap: days(1) - .milliseconds(1)) == 1)
        #expect(entries(.oncePerWindow(days(1)), gap: days(1)) == 2)
    }

    // S4.3
    @Test func `failed, cancelled and superseded runs use up nothing`() {
        for status in [
            RunStatus.failed(error: "x"), .cancelled(reason: "x"), .superseded(reason: "x"),
        ] {
            var world = World(makeWorkflow(rest, entry: makeEntry(.oneTime)))
            world.give("began")
            world.runs[0].status = status
            world.runs[0].position = nil
            world.give("began", at: after(hours(1)))
            #expect(world.endings.last == "waiting")
            #expect(world.runs.count == 2)
        }
    }

    // S4.3
    @Test func `a run that fails gives its entry back in the same turn`() throws {
        var world = World(makeWorkflow([.action("tell")], entry: makeEntry(.oneTime)))
        world.give("began")
        let request = try #require(world.requests.first)
        let failure = world.result(of: request, .failed(error: "http_500", detail: nil))
        world.take(failure, world.event("began"))
        #expect(world.endings == ["failed http_500", "waiting"])
    }

    // S4.1
    @Test func `the same cause never starts a workflow twice`() {
        var world = World(makeWorkflow(rest))
        let event = makeEvent("began", 77)
        world.take(world.input(.event(event), at: dawn))
        world.take([], at: after(hours(1)))
        world.take(world.input(.event(event), at: after(hours(2))))
        #expect(world.runs.count == 1)
        #expect(world.counted(.notEntered, "flow", "cause_spent") == 1)
    }

    // MARK: When one is live

    @Test func `ignore leaves the live run alone`() {
        var world = World(makeWorkflow(rest))
        world.give("began")
        world.give("began")
        #expect(world.endings == ["waiting"])
        #expect(world.counted(.notEntered, "flow", "live") == 1)
    }

    @Test func `restart supersedes the live run, takes back its effect and asks no re-entry`() {
        var world = World(
            makeWorkflow([.action("tell")], entry: makeEntry(.oneTime, whenLive: .restart)))
        world.give("began")
        let result = world.give("began", at: after(hours(1)))
        #expect(world.endings == ["superseded restarted", "waiting"])
        #expect(world.runs.map(\.slot) == [0, 0])
        #expect(result.withdrawals.map(\.invocation) == [world.requests[0].invocation])
        #expect(result.requests.map(\.run) == [world.runs[1].id])
        #expect(result.changedRuns.map(\.id) == [world.runs[0].id])
    }

    // S4.1
    @Test func `start_another takes free slots up to 25`() {
        var world = World(
            makeWorkflow([.wait("listen", for: "left")], entry: makeEntry(whenLive: .startAnother)))
        for _ in 0..<26 { world.give("began") }
        #expect(world.runs.map(\.slot) == Array(0..<25))
        #expect(world.counted(.notEntered, "flow", "too_many_live") == 1)
        world.runs[3].status = .cancelled(reason: "operator")
        world.runs[3].position = nil
        world.give("began")
        #expect(world.runs.last?.slot == 3)
    }

    @Test func `two events in one turn enter as in two`() {
        for reentry in [Entry.Reentry.oneTime, .everyTime] {
            for whenLive in Entry.WhenLive.allCases {
                let flow = makeWorkflow(rest, entry: makeEntry(reentry, whenLive: whenLive))
                var one = World(flow)
                one.take(one.event("began"), one.event("began"))
                var two = World(flow)
                two.give("began")
                two.give("began")
                #expect(one.runs == two.runs)
            }
        }
    }
}
