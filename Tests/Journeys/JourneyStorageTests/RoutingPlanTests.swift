import JourneyModel
import Testing

@testable import JourneyStorage

struct RoutingPlanTests {
    private func key(_ id: String) -> RoutingPlan.Key {
        RoutingPlan.Key(environment: "production", app: "", id: id)
    }

    private func row(
        _ sequence: Int64, _ id: String?, aliases: [String] = [], anonymous: Bool = false
    ) -> RoutingPlan.Row {
        RoutingPlan.Row(
            sequence: sequence, environment: "production", app: nil,
            person: Event.Person(id: id, aliases: aliases, isAnonymous: anonymous))
    }

    @Test func `inputs of one new person in one batch share one new record`() {
        let plan = RoutingPlan(
            rows: [row(1, "u"), row(2, "u", aliases: ["a"]), row(3, "a", anonymous: true)],
            links: [:], identified: [])
        #expect(plan.assigned == [1: .new(0), 2: .new(0), 3: .new(0)])
        #expect(plan.newRecords.count == 1)
        #expect(plan.added[key("u")]?.isOwn == true)
        #expect(plan.added[key("a")]?.isOwn == false)
        #expect(plan.conflicts.isEmpty)
    }

    @Test func `a person's id joins the anonymous record of an alias`() {
        let plan = RoutingPlan(
            rows: [row(1, "u", aliases: ["$anon"])],
            links: [key("$anon"): .init(record: .existing(7), isOwn: false)], identified: [])
        #expect(plan.assigned == [1: .existing(7)])
        #expect(plan.added == [key("u"): .init(record: .existing(7), isOwn: true)])
    }

    // S10.1
    @Test func `a person's id never joins another person's record through an alias`() {
        let plan = RoutingPlan(
            rows: [row(1, "u", aliases: ["v"])],
            links: [key("v"): .init(record: .existing(7), isOwn: true)],
            identified: [.existing(7)])
        #expect(plan.assigned == [1: .new(0)])
        #expect(plan.conflicts.count == 1)
        #expect(plan.raised.isEmpty)
    }

    // S10.1
    @Test func `an anonymous id follows the identified record of an alias, once all are one`() {
        let plan = RoutingPlan(
            rows: [
                row(1, "$anon", aliases: ["x", "u"], anonymous: true),
                row(2, "x", anonymous: true), row(3, "somebody"),
            ],
            links: [
                key("x"): .init(record: .existing(5), isOwn: false),
                key("u"): .init(record: .existing(7), isOwn: true),
            ], identified: [.existing(7)])
        #expect(plan.merges == [.init(one: 7, other: 5, input: 1)])
        #expect(plan.waiting == [1, 2])
        #expect(plan.assigned == [3: .new(0)])
    }

    // S10.1
    @Test func `identified records are merged where the app itself says so`() {
        let links: [RoutingPlan.Key: RoutingPlan.Link] = [
            key("u"): .init(record: .existing(5), isOwn: true),
            key("v"): .init(record: .existing(7), isOwn: true),
        ]
        var said = row(1, "u", aliases: ["v"])
        said.joins = true
        let plan = RoutingPlan(
            rows: [said], links: links, identified: [.existing(5), .existing(7)])
        #expect(plan.merges == [.init(one: 5, other: 7, input: 1)])
        #expect(plan.conflicts.isEmpty)
        // An id that the app gives is the person's own: no provider's word parts it again.
        var fresh = row(1, "u", aliases: ["w"])
        fresh.joins = true
        let linked = RoutingPlan(
            rows: [fresh, row(2, "w")], links: links, identified: [.existing(5)])
        #expect(linked.assigned == [1: .existing(5), 2: .existing(5)])
    }

    @Test func `what came after an input that waits does not overtake it`() {
        let plan = RoutingPlan(
            rows: [row(5, "b", anonymous: true), row(6, "c")],
            links: [
                key("a"): .init(record: .existing(7), isOwn: false),
                key("b"): .init(record: .existing(7), isOwn: false),
            ], identified: [], heldKeys: [key("a")], heldRecords: [.existing(7)])
        #expect(plan.waiting == [5])
        #expect(plan.assigned == [6: .new(0)])
        #expect(plan.merges.isEmpty)
    }

    @Test func `an alias that comes as somebody's own id gets a record of its own`() {
        let plan = RoutingPlan(
            rows: [row(1, "v")], links: [key("v"): .init(record: .existing(7), isOwn: false)],
            identified: [.existing(7)])
        #expect(plan.assigned == [1: .new(0)])
        #expect(plan.raised == [key("v"): .init(record: .new(0), isOwn: true)])
        #expect(plan.conflicts.count == 1)
    }

    @Test func `an anonymous record becomes a person's when its id comes as one`() {
        let plan = RoutingPlan(
            rows: [row(1, "u")], links: [key("u"): .init(record: .existing(7), isOwn: false)],
            identified: [])
        #expect(plan.assigned == [1: .existing(7)])
        #expect(plan.raised == [key("u"): .init(record: .existing(7), isOwn: true)])
        #expect(plan.conflicts.isEmpty)
    }

    @Test func `inputs without ids are unassigned`() {
        let plan = RoutingPlan(rows: [row(1, nil)], links: [:], identified: [])
        #expect(plan.assigned.isEmpty)
        #expect(plan.unassigned == [1])
    }
}
