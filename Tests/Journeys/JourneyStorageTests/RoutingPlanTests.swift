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
        #expect(plan.conflicts == 0)
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
        #expect(plan.conflicts == 1)
        #expect(plan.raised.isEmpty)
    }

    @Test func `an anonymous id follows the identified record of an alias`() {
        let plan = RoutingPlan(
            rows: [row(1, "$anon", aliases: ["x", "u"], anonymous: true)],
            links: [
                key("x"): .init(record: .existing(5), isOwn: false),
                key("u"): .init(record: .existing(7), isOwn: true),
            ], identified: [.existing(7)])
        #expect(plan.assigned == [1: .existing(7)])
    }

    @Test func `an alias that comes as somebody's own id gets a record of its own`() {
        let plan = RoutingPlan(
            rows: [row(1, "v")], links: [key("v"): .init(record: .existing(7), isOwn: false)],
            identified: [.existing(7)])
        #expect(plan.assigned == [1: .new(0)])
        #expect(plan.raised == [key("v"): .init(record: .new(0), isOwn: true)])
        #expect(plan.conflicts == 1)
    }

    @Test func `an anonymous record becomes a person's when its id comes as one`() {
        let plan = RoutingPlan(
            rows: [row(1, "u")], links: [key("u"): .init(record: .existing(7), isOwn: false)],
            identified: [])
        #expect(plan.assigned == [1: .existing(7)])
        #expect(plan.raised == [key("u"): .init(record: .existing(7), isOwn: true)])
        #expect(plan.conflicts == 0)
    }

    @Test func `inputs without ids are unassigned`() {
        let plan = RoutingPlan(rows: [row(1, nil)], links: [:], identified: [])
        #expect(plan.assigned.isEmpty)
        #expect(plan.unassigned == [1])
    }
}
