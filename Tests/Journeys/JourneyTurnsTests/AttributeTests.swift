import JSON
import JourneyModel
import JourneyTurns
import Testing
import TimeZones

struct AttributeTests {
    // S5.5
    @Test func `of each attribute the newest value stays, in whatever order they come`() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            var world = World()
            let told: [(Duration, JSONObject)] = [
                (.zero, ["plan": "a", "email": "a@x"]), (hours(1), ["plan": "b"]),
                (hours(2), ["email": nil]),
            ]
            let inputs = order.map { place in
                world.event(
                    "invoice.paid", at: after(hours(5)), occurred: after(told[place].0),
                    ["attributes": .object(told[place].1)])
            }
            world.take(inputs)
            #expect(world.customer.attributes == ["plan": "b"])
        }
    }

    @Test func `an attribute's own time counts before the event's`() {
        var world = World()
        world.give("invoice.paid", at: after(hours(1)), ["attributes": ["plan": "new"]])
        world.give(
            "invoice.paid", at: after(hours(2)),
            ["attributes": ["plan": "old"], "attribute_times": ["plan": .string(dawn.description)]])
        #expect(world.customer.attributes == ["plan": "new"])
    }

    @Test func `what an app's event calls attributes is not taken for the customer's`() {
        var world = World()
        var event = makeEvent("form.sent", 1, ["attributes": ["plan": "x"]])
        event.trust = .source
        world.take(world.input(.event(event), at: dawn))
        #expect(world.customer.attributes.isEmpty)
    }
}
