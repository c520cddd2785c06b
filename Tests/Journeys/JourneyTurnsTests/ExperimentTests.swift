import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

struct ExperimentTests {
    private func workflow(weights: (Int, Int) = (50, 50)) -> WorkflowDefinition {
        let id = ExperimentID("offer")
        var workflow = makeWorkflow(
            [
                Step(
                    id: StepID("split"),
                    action: .experiment(
                        ExperimentStep(
                            experiment: id,
                            variants: [
                                .init(id: "a", next: .to("rest")),
                                .init(id: "b", next: .to("rest")),
                            ]))), .delay("rest", hours(1)),
            ], goal: Goal(match: EventMatch(names: ["paid"])))
        workflow.experiments = [
            id: ExperimentDefinition(
                id: id,
                variants: [
                    .init(id: "a", weight: weights.0), .init(id: "b", weight: weights.1),
                ])
        ]
        return workflow
    }

    // S14.3 S14.2
    @Test func `a variant is given once and kept, whatever the weights become`() throws {
        var world = World(workflow())
        let first = world.give("began")
        let variant = try #require(first.assignments.first?.variant)
        #expect(world.counted(.exposed, "flow", "offer:\(variant)") == 1)
        world.wake(at: after(hours(1)))
        let all = variant == "a" ? (0, 100) : (100, 0)
        world.publish([workflow(weights: all)], revision: 3, at: after(hours(2)))
        let again = world.give("began", at: after(hours(3)))
        #expect(again.assignments.isEmpty)
        #expect(world.assignments == ["offer": variant])
        #expect(world.counted(.exposed, "flow", "offer:\(variant)") == 2)
    }

    @Test func `a conversion is counted for the variant that the run was exposed to`() throws {
        var world = World(workflow())
        world.give("began")
        world.give("paid", at: after(.seconds(60)))
        let variant = try #require(world.assignments["offer"])
        #expect(world.counted(.convertedVariant, "flow", "offer:\(variant)") == 1)
    }
}
