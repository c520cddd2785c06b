import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// Rows of a provider's export: state, and no news.
@Suite struct ImportTests {
    private let id = SubscriptionID(connector: "shop", key: "s1")

    private func row(
        _ world: inout World, _ fields: JSONObject, at: Instant, recorded: Instant
    ) -> TurnInput {
        world.input(
            .event(
                Event.imported(
                    connector: "shop", row: JSONValue.object(fields).text + at.description,
                    person: Event.Person(id: "u"), environment: "production", subscription: "s1",
                    fields: fields, occurredAt: at, now: recorded)), at: recorded)
    }

    private func status(_ world: World) -> String? {
        world.subscriptions.first { $0.id == id }?.status
    }

    private func renewed(_ world: inout World, at: Instant, recorded: Instant) -> TurnInput {
        world.event(
            "subscription.expired", at: recorded, occurred: at, ["subscription_key": "s1"])
    }

    @Test func `a later webhook stays, an earlier one gives way, in either order`() {
        for (importedAt, expected) in [(hours(1), "expired"), (hours(3), "active")] {
            for isImportFirst in [true, false] {
                var world = World(makeWorkflow("flow", [.delay("rest", hours(1))]))
                let now = after(hours(5))
                let imported = row(
                    &world, ["status": "active"], at: after(importedAt), recorded: now)
                let told = renewed(&world, at: after(hours(2)), recorded: now)
                for input in isImportFirst ? [imported, told] : [told, imported] {
                    world.take([input], at: now)
                }
                #expect(status(world) == expected, "\(importedAt) \(isImportFirst)")
            }
        }
    }

    @Test func `what a provider tells of the same instant wins`() {
        for isImportFirst in [true, false] {
            var world = World(makeWorkflow("flow", [.delay("rest", hours(1))]))
            let imported = row(&world, ["status": "active"], at: dawn, recorded: dawn)
            let told = renewed(&world, at: dawn, recorded: dawn)
            world.take(isImportFirst ? [imported, told] : [told, imported], at: dawn)
            #expect(status(world) == "expired")
        }
    }

    @Test func `an import enters no workflow and no segment, and a live run's condition sees it`() {
        let isActive = Condition.subscription(
            .compare(.eq, ref("subscription", "status"), .literal("active")))
        let segment = SegmentDefinition(id: SegmentID("payers"), name: nil, condition: isActive)
        var named = makeEntry()
        named.trigger = .event(names: ["subscription.imported"])
        let byEvent = makeWorkflow("by-event", [.delay("rest", hours(1))], entry: named)
        named.trigger = .segment(SegmentID("payers"), on: .enter)
        let bySegment = makeWorkflow("by-segment", [.delay("rest", hours(1))], entry: named)
        var world = World([byEvent, bySegment], segments: [segment])
        let imported = row(&world, ["status": "active"], at: dawn, recorded: after(hours(1)))
        let result = world.take([imported], at: after(hours(1)))
        #expect(status(world) == "active")
        #expect(result.segments.map(\.enteredAt) == [after(hours(1))])
        #expect(result.emitted.isEmpty)
        #expect(result.counts[Count(.imported)] == 1)
        // Leaving later is news again.
        let left = world.take(
            [renewed(&world, at: after(hours(2)), recorded: after(hours(2)))], at: after(hours(2)))
        #expect(left.emitted.count == 1)
    }
}
