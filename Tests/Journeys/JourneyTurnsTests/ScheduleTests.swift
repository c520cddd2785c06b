import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

struct ScheduleTests {
    private func workflow(_ cron: String, _ audience: Condition = .constant(true)) throws
        -> WorkflowDefinition
    {
        makeWorkflow(
            [.delay("rest", days(1))],
            entry: Entry(
                trigger: .schedule(
                    ScheduleTrigger(cron: try CronExpression(cron), audience: audience, rate: 7)),
                reentry: .everyTime))
    }

    private func plan(
        _ workflow: WorkflowDefinition, since: Instant = dawn, latest: Instant? = nil,
        isWalking: Bool = false, now: Instant
    ) -> SchedulePlan {
        SchedulePlan(
            DefinitionSet(live: [
                DefinitionSet.Version(
                    workflow: workflow.id, number: 1, digest: "d", definition: workflow,
                    liveRevision: 2, liveSince: since)
            ]),
            latest: latest.map { [workflow.id: $0] } ?? [:],
            walking: isWalking ? [workflow.id] : [], zones: .utcOnly, defaultZone: nil, now: now)
    }

    // dawn is 10:00.
    @Test func `what is due since the last firing starts`() throws {
        let hourly = try workflow("30 * * * *")
        #expect(plan(hourly, now: after(.seconds(1_700))).starting.isEmpty)
        let due = plan(hourly, now: after(.seconds(1_800)))
        #expect(due.starting.map(\.plannedAt) == [after(.seconds(1_800))])
        #expect(due.starting.map(\.rate) == [7])
        let next = plan(hourly, latest: after(.seconds(1_800)), now: after(hours(1)))
        #expect(next.starting.isEmpty)
    }

    @Test func `nothing fires for the time before publishing`() throws {
        let hourly = try workflow("30 * * * *")
        #expect(plan(hourly, since: after(.seconds(1_900)), now: after(hours(1))).starting.isEmpty)
    }

    @Test func `a firing while one is walking is skipped, and so are those missed by an hour`()
        throws
    {
        let hourly = try workflow("0 * * * *")
        let walking = plan(hourly, isWalking: true, now: after(hours(1)))
        #expect(walking.starting.isEmpty)
        #expect(walking.skipped.map(\.reason) == ["walking"])
        let outage = plan(hourly, now: after(hours(5) + .seconds(1_800)))
        #expect(outage.starting.map(\.plannedAt) == [after(hours(5))])
        #expect(outage.skipped.map(\.reason) == ["missed"])
        #expect(outage.skipped.map(\.count) == [4])
    }

    // S4.2
    @Test func `the audience is decided in the customer's turn, and a firing starts one run`()
        throws
    {
        let workflow = try workflow("0 9 * * *", holds("vip"))
        var world = World(workflow)
        let firing = ScheduleInput(workflow: workflow.id, plannedAt: after(hours(1)))
        world.take(world.input(.schedule(firing), at: after(hours(1))))
        #expect(world.counted(.filtered, "flow", "audience") == 1)
        world.customer.attributes = ["vip": true]
        for _ in 0..<2 { world.take(world.input(.schedule(firing), at: after(hours(2)))) }
        #expect(world.runs.map(\.cause) == ["schedule:\(after(hours(1)))"])
        #expect(world.runs[0].trigger.isEmpty)
    }
}
