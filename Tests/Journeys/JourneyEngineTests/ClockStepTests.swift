import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Delays until an instant, time windows, and the zones whose clocks they read.
@Suite struct ClockStepTests {
    /// A world of zones whose rules are written here.
    private static let zones = TimeZoneSet(
        version: "2025b",
        rules: [
            TimeZoneRules(name: "Fixed/East", fixedOffsetSeconds: 7_200, version: "2025b"),
            TimeZoneRules(name: "Fixed/West", fixedOffsetSeconds: -18_000, version: "2025b"),
            .utc,
        ])

    private func facts(zone: String? = nil) -> Facts {
        Facts(attributes: [:], zones: Self.zones, defaultZone: zone, now: dawn)
    }

    private func time(_ text: String) -> LocalTime { LocalTime(text) ?? .midnight }

    private func windowed(
        _ start: String, _ end: String, zone: String? = nil, onSkip: Edge? = nil
    ) -> [Step] {
        [
            Step(
                id: StepID("window"),
                action: .timeWindow(
                    TimeWindow(
                        window: DailyWindow(start: time(start), end: time(end)), timezone: zone,
                        onSkip: onSkip, next: .to("in")))),
            .exit("in", reason: "in"), .exit("out", reason: "out"),
        ]
    }

    // MARK: Zones. Dawn is 2026-03-01T10:00Z.

    // S6.1
    @Test func `the zone is the customer's, else the step's, the workflow's, the configuration's`()
    {
        func opens(_ attributes: JSONObject, step: String?, flow: String?, configured: String?)
            -> String?
        {
            let world = World(
                makeWorkflow(windowed("20:00", "21:00", zone: step), timezone: flow),
                attributes: attributes, facts: facts(zone: configured))
            return world.run.position?.zone?.name
        }
        let customer: JSONObject = ["timezone": "Fixed/East"]
        #expect(
            opens(customer, step: "Fixed/West", flow: "Fixed/West", configured: "Fixed/West")
                == "Fixed/East")
        #expect(
            opens([:], step: "Fixed/East", flow: "Fixed/West", configured: "Fixed/West")
                == "Fixed/East")
        #expect(
            opens([:], step: nil, flow: "Fixed/East", configured: "Fixed/West") == "Fixed/East")
        #expect(opens([:], step: nil, flow: nil, configured: "Fixed/East") == "Fixed/East")
        #expect(opens([:], step: nil, flow: nil, configured: nil) == "Etc/UTC")
    }

    // S6.2
    @Test func `a name that is no zone is noted on the run, once, and the next one counts`() {
        for name: JSONValue in ["Atlantis/Port", "", 7, "../etc/passwd"] {
            let world = World(
                makeWorkflow(windowed("20:00", "21:00", zone: "Fixed/West")),
                attributes: ["timezone": name], facts: facts())
            #expect(world.run.position?.zone?.name == "Fixed/West")
            #expect(world.run.invalidZones == [name.string ?? name.text])
            #expect(world.entry.invalidZones == world.run.invalidZones)
        }
        let missing = World(
            makeWorkflow(windowed("20:00", "21:00")), attributes: ["timezone": nil],
            facts: facts())
        #expect(missing.run.invalidZones.isEmpty)
    }

    // S6.3
    @Test func `a wait keeps the zone and the release of tzdata it was found by`() throws {
        let world = World(
            makeWorkflow(windowed("20:00", "21:00", zone: "Fixed/West")), facts: facts())
        let zone = WaitZone(name: "Fixed/West", version: "2025b")
        #expect(world.run.position?.zone == zone)
        let waiting = try #require(world.entry.entries.last)
        #expect(waiting.members["zone"] == "Fixed/West")
        #expect(waiting.members["tz"] == "2025b")
        let read = try Run(state: world.run.state)
        #expect(read.position?.zone == zone)
        #expect(read == world.run)
    }

    // MARK: time_window

    @Test func `an open window is passed at once, a closed one waited for or skipped`() {
        #expect(World(makeWorkflow(windowed("09:00", "11:00"))).ending == "exited in")
        #expect(
            World(makeWorkflow(windowed("09:00", "10:00", onSkip: .to("out")))).ending
                == "exited out")
        var world = World(makeWorkflow(windowed("09:00", "10:00")))
        #expect(world.run.position?.waiting == .window(opens: after(hours(23))))
        #expect(world.engine.nextDue(world.run) == after(hours(23)))
        #expect(world.fire(at: after(hours(22))) == nil)
        world.fire(at: after(hours(23)))
        #expect(world.ending == "exited in")
    }

    @Test func `a window that has closed again after an outage is waited for once more`() {
        var world = World(makeWorkflow(windowed("09:00", "10:00")))
        world.fire(at: after(days(3)))
        #expect(world.run.position?.due == after(days(3) + hours(23)))
        #expect(world.run.position?.enteredAt == dawn)
        world.fire(at: after(days(3) + hours(23)))
        #expect(world.ending == "exited in")
    }

    // MARK: delay until

    private func reminder(
        follows: Bool = false, at: String? = nil, onInvalid: Edge? = nil
    ) -> WorkflowDefinition {
        makeWorkflow([
            Step(
                id: StepID("until"),
                action: .delay(
                    Delay(
                        length: .until(.time(ref("/customer/ends"), moved: .zero - days(3))),
                        at: at.map { time($0) }, follows: follows, next: .to("tell"),
                        onPast: .to("past"), onInvalid: onInvalid))),
            .exit("tell", reason: "told"), .exit("past", reason: "past"),
            .exit("none", reason: "none"),
        ])
    }

    private func ends(_ instant: Instant) -> JSONObject { ["ends": .string(instant.description)] }

    // S11.6 S11.seen
    @Test func `who has no date is not told that three days are left`() {
        for attributes: JSONObject in [[:], ["ends": nil], ["ends": 3], ["ends": "soon"]] {
            #expect(
                World(reminder(), attributes: attributes).ending == "failed invalid_instant")
            #expect(
                World(reminder(onInvalid: .to("none")), attributes: attributes).ending
                    == "exited none")
        }
    }

    @Test func `an instant to come is waited for, a past one takes on_past`() {
        var world = World(reminder(), attributes: ends(after(days(5))))
        #expect(world.run.position?.due == after(days(2)))
        world.fire(at: after(days(2)))
        #expect(world.ending == "exited told")
        #expect(World(reminder(), attributes: ends(after(days(3)))).ending == "exited past")
    }

    @Test func `a local time is that of the instant's local date`() {
        // Three days before, 2026-03-03T23:00Z, is the fourth in the east.
        let attributes = ends(after(days(5) + hours(13)))
        let east = World(
            reminder(at: "09:00"),
            attributes: JSONObject(
                attributes.members + [(key: "timezone", value: "Fixed/East")]), facts: facts())
        #expect(east.run.position?.due == Instant("2026-03-04T07:00:00Z"))
        #expect(east.run.position?.zone == WaitZone(name: "Fixed/East", version: "2025b"))
        let utc = World(reminder(at: "09:00"), attributes: attributes)
        #expect(utc.run.position?.due == Instant("2026-03-03T09:00:00Z"))
    }

    @Test func `a delay that follows moves with its value in every turn`() {
        var world = World(reminder(follows: true), attributes: ends(after(days(5))))
        world.attributes = ends(after(days(9)))
        let moved = world.look(at: after(days(1)))
        #expect(moved?.entries.map(\.kind) == [.input, .read, .waiting])
        #expect(world.run.position?.due == after(days(6)))
        #expect(world.run.position?.enteredAt == dawn)
        #expect(world.look(at: after(days(1))) == nil)
        #expect(world.fire(at: after(days(2))) == nil)
        world.attributes = ends(after(days(2)))
        world.give("other", at: after(days(1)))
        #expect(world.ending == "exited past")
    }

    @Test func `a followed value that goes away is a missing instant`() {
        var world = World(
            reminder(follows: true, onInvalid: .to("none")), attributes: ends(after(days(5))))
        world.attributes = [:]
        world.look(at: after(days(1)))
        #expect(world.ending == "exited none")
    }

    @Test func `a delay that does not follow stays`() {
        var world = World(reminder(), attributes: ends(after(days(5))))
        world.attributes = ends(after(days(9)))
        #expect(world.look(at: after(days(1))) == nil)
        world.fire(at: after(days(2)))
        #expect(world.ending == "exited told")
    }
}
