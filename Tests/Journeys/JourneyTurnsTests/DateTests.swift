import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

struct DateTests {
    private let renewal = ref("customer", "renews_at")

    private func told(_ instant: Instant?) -> JSONObject {
        ["attributes": ["renews_at": instant.map { .string($0.description) } ?? .null]]
    }

    private func world(
        offset: Duration = .zero, at: LocalTime? = nil, late: Duration = .zero,
        reentry: Entry.Reentry = .everyTime
    ) -> World {
        World(
            makeWorkflow(
                [.delay("rest", hours(1))],
                entry: onDate(renewal, offset: offset, at: at, late: late, reentry: reentry)))
    }

    // S4.2
    @Test func `a date starts a run at its shifted instant, by its own cause`() {
        var world = world(offset: .zero - days(3))
        world.give("invoice.paid", told(after(days(10))))
        #expect(world.runs.isEmpty)
        #expect(world.wakeAt == after(days(7)))
        world.wake(at: after(days(7)))
        #expect(world.runs.map(\.cause) == ["date:/customer/renews_at:\(after(days(10)))"])
        #expect(world.runs[0].trigger.isEmpty)
        world.wake(at: after(days(20)))
        #expect(world.runs.count == 1)
    }

    @Test func `a moved date is another occurrence, the same one is not`() {
        var world = world()
        world.give("invoice.paid", told(after(days(2))))
        world.give("invoice.paid", at: after(hours(1)), told(after(days(5))))
        #expect(world.wakeAt == after(days(5)))
        world.wake(at: after(days(5)))
        world.give("invoice.paid", at: after(days(6)), told(after(days(5))))
        #expect(world.runs.count == 1)
        world.give("invoice.paid", at: after(days(7)), told(after(days(9))))
        world.wake(at: after(days(9)))
        #expect(world.runs.count == 2)
    }

    @Test func `a moved date enters under the rules of entering again`() {
        var world = world(reentry: .oneTime)
        world.give("invoice.paid", told(after(days(2))))
        world.wake(at: after(days(2)))
        world.wake(at: after(days(3)))
        world.give("invoice.paid", at: after(days(4)), told(after(days(5))))
        world.wake(at: after(days(5)))
        #expect(world.runs.count == 1)
        #expect(world.counted(.notEntered, "flow", "reentry") == 1)
    }

    @Test func `a date that goes takes its entry along`() {
        var world = world()
        world.give("invoice.paid", told(after(days(2))))
        world.give("invoice.paid", at: after(hours(1)), told(nil))
        #expect(world.dates.isEmpty)
        #expect(world.wakeAt == nil)
        world.wake(at: after(days(3)))
        #expect(world.runs.isEmpty)
        #expect(world.counted(.notEntered, "flow", "date_gone") == 1)
    }

    @Test func `a date that is past when it becomes known enters only as late as allowed`() {
        var strict = world()
        strict.give("invoice.paid", at: after(hours(2)), told(after(hours(1))))
        #expect(strict.runs.isEmpty)
        #expect(strict.counted(.notEntered, "flow", "late") == 1)
        var lenient = world(late: hours(1))
        lenient.give("invoice.paid", at: after(hours(2)), told(after(hours(1))))
        #expect(lenient.runs.count == 1)
    }

    @Test func `a date that came due while no worker ran is not late`() {
        var world = world()
        let told = world.event("invoice.paid", at: dawn, told(after(hours(1))))
        world.take([told], at: after(hours(5)))
        #expect(world.runs.count == 1)
    }

    // S7.2
    @Test func `a local time is that of the customer's date and zone`() throws {
        try #require(World.zones.rules(named: "America/New_York") != nil)
        var world = world(at: LocalTime(hour: 9, minute: 0))
        world.customer.attributes = ["timezone": "America/New_York"]
        // 02:00 UTC is the evening before in New York.
        let date = try #require(Instant("2026-03-20T02:00:00Z"))
        world.give("invoice.paid", told(date))
        #expect(world.wakeAt == Instant("2026-03-19T13:00:00Z"))
    }

    @Test func `publishing starts nobody whose date is past, and waits for dates to come`() {
        for (days, runs) in [(1, 0), (10, 1)] {
            var world = World()
            world.customer.createdAt = dawn
            world.customer.attributes = [
                "renews_at": .string(after(.seconds(days * 86_400)).description)
            ]
            world.publish(
                [
                    makeWorkflow(
                        [.delay("rest", hours(1))], entry: onDate(renewal, late: hours(999)))
                ], revision: 4, at: after(.seconds(2 * 86_400)))
            world.wake(at: after(.seconds(3 * 86_400)))
            #expect(world.runs.isEmpty)
            world.wake(at: after(.seconds(11 * 86_400)))
            #expect(world.runs.count == runs)
        }
    }

    @Test func `each subscription's date is watched by itself`() {
        let end = ref("subscription", "expires_at")
        var world = World(
            makeWorkflow(
                [.delay("rest", days(1))], entry: onDate(end, key: .subscription)))
        for (number, days) in [("a", 3), ("b", 5)] {
            world.give(
                "subscription.started",
                [
                    "subscription_key": .string(number),
                    "expires_at": .string(after(.seconds(days * 86_400)).description),
                ])
        }
        #expect(world.dates.map(\.key.subject).sorted() == ["shop/a", "shop/b"])
        world.wake(at: after(days(3)))
        world.wake(at: after(days(5)))
        #expect(world.runs.map(\.key) == ["a", "b"])
        #expect(world.runs.map(\.subscription?.key) == ["a", "b"])
    }

    // S2.1
    @Test func `a date waits for an earlier input that moves it`() {
        var world = world()
        world.give("invoice.paid", told(after(days(2))))
        let moved = world.event(
            "invoice.paid", at: after(days(1)), told(after(days(9))))
        world.take([moved], at: after(days(3)))
        #expect(world.runs.isEmpty)
        #expect(world.wakeAt == after(days(9)))
    }
}
