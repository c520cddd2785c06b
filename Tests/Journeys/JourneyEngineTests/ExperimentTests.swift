import JSON
import JourneyEngine
import JourneyModel
import Testing
import WorkflowDefinitions

/// Splits (S14). The customer is 7, whose bucket for `offer` is 12888982792581400902: 69 of 100.
@Suite struct ExperimentTests {
    private func flow(
        _ weights: [(String, Int)], ways: [String]? = nil, again: Bool = false
    ) -> WorkflowDefinition {
        let id = ExperimentID("offer")
        let ways = ways ?? weights.map(\.0)
        let split = Step(
            id: StepID("split"),
            action: .experiment(
                ExperimentStep(
                    experiment: id,
                    variants: ways.map { .init(id: $0, next: .to(again ? "rest" : $0)) })))
        return makeWorkflow(
            [split, .delay("rest", hours(1), next: .to("split"))]
                + ways.map { Step.exit($0, reason: $0) },
            experiments: [
                ExperimentDefinition(
                    id: id,
                    variants: weights.map {
                        .init(id: $0.0, weight: $0.1, isHoldout: $0.0 == "holdout")
                    })
            ])
    }

    private func assigned(_ variant: String) -> Facts {
        Facts(attributes: [:], assignments: ["offer": variant], now: dawn)
    }

    // S14.1
    @Test func `the lot falls by the customer's bucket among the cumulative weights`() throws {
        let table: [([(String, Int)], String)] = [
            ([("a", 50), ("b", 50)], "b"), ([("a", 69), ("b", 31)], "b"),
            ([("a", 70), ("b", 30)], "a"), ([("b", 30), ("a", 70)], "a"),
            ([("none", 0), ("all", 100)], "all"), ([("all", 100), ("none", 0)], "all"),
        ]
        for (weights, variant) in table {
            let world = World(flow(weights))
            #expect(world.ending == "exited \(variant)")
            let moved = try #require(world.entry.entries.first { $0.kind == .moved })
            #expect(moved.members["bucket"] == "12888982792581400902")
            #expect(moved.members["variant"]?.string == variant)
        }
    }

    // S14.2
    @Test func `who is assigned keeps the variant, whatever the weights become`() {
        let first = World(flow([("a", 50), ("b", 50)]))
        #expect(first.entry.assignments == [Assignment(experiment: "offer", variant: "b")])
        let later = World(flow([("a", 100), ("b", 0)]), facts: assigned("b"))
        #expect(later.ending == "exited b")
        #expect(later.entry.assignments.isEmpty)
        let new = World(flow([("a", 100), ("b", 0)]))
        #expect(new.ending == "exited a")
    }

    // S14.3
    @Test func `an assigned variant that is gone fails the step`() {
        let gone = World(flow([("a", 100)]), facts: assigned("b"))
        #expect(gone.ending == "failed missing_variant")
        #expect(gone.entry.exposures.isEmpty)
        let unled = World(flow([("a", 50), ("b", 50)], ways: ["a"]))
        #expect(unled.ending == "failed missing_variant")
    }

    // S14.4
    @Test func `exposure is told once a run, with who is held out`() {
        var world = World(flow([("holdout", 70), ("b", 30)], again: true))
        #expect(
            world.entry.exposures == [
                Exposure(experiment: "offer", variant: "holdout", isHoldout: true, at: dawn)
            ])
        #expect(world.entry.entries.contains { $0.kind == .exposed })
        let again = world.fire(at: after(hours(1)))
        #expect(again?.moves == ["rest next", "split holdout"])
        #expect(again?.exposures.isEmpty == true)
        #expect(again?.assignments.isEmpty == true)
    }
}
