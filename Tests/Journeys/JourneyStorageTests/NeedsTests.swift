import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestSupport
import Testing
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

/// What definitions ask for is loaded, and nothing else.
@Suite(.timeLimit(.minutes(3)))
struct NeedsTests {
    private static func question(_ since: EventHistory.Since) -> Condition {
        .events(
            EventHistory(
                match: EventMatch(names: ["purchase.completed"]), since: since,
                range: NumberRange(atLeast: JSONNumber(3))))
    }

    @Test func `a question about history finds events of earlier turns`() async throws {
        let flows = [
            "loyal": flow(
                "loyal", .event(names: ["purchase.completed"]),
                condition: Self.question(.within(.seconds(86_400 * 30))))
        ]
        try await Scenario.with(flows) { scenario in
            try await scenario.publish("loyal")
            for number in 1...4 {
                try await scenario.tell("purchase.completed", number)
                try await scenario.tell("app.opened", 100 + number)
                _ = try await scenario.settle()
                #expect(
                    try await scenario.world.count("runs") == Int64(max(0, number - 2)))
            }
        }
    }

    @Test func `the reach of questions is the longest of them`() throws {
        let now = Instant(milliseconds: 1_800_000_000_000)
        var needs = Needs()
        #expect(HistoryReach(needs, oldestRun: nil, now) == nil)
        needs.histories = [
            Needs.History(names: ["a"], since: .within(.seconds(60))),
            Needs.History(names: ["subscription.renewed"], since: .within(.seconds(3_600))),
        ]
        let reach = try #require(HistoryReach(needs, oldestRun: nil, now))
        #expect(reach.since == now - .seconds(3_600) - .seconds(2 * 86_400))
        #expect(reach.names == ["a", "subscription.renewed", "subscription.recovered"])
        needs.histories.insert(Needs.History(names: ["provider:shop:X"], since: .ever))
        let all = try #require(HistoryReach(needs, oldestRun: nil, now))
        #expect(all.since == nil)
        #expect(all.names == nil)
    }

    @Test func `the feature house is asked by a customer's ids, and only where something reads it`()
        async throws
    {
        let asked = TestSignal<[FeatureQuestion]>()
        let door: FeatureDoor = { questions, features in
            asked.send(questions)
            return Dictionary(
                uniqueKeysWithValues: questions.map { question in
                    let answer = FeatureAnswer(
                        allowed: question.ids.contains("u1"), unlimited: false, type: "boolean")
                    return (
                        question.customer,
                        Dictionary(
                            uniqueKeysWithValues: features.map { ($0, FeatureFacts(own: answer)) })
                    )
                })
        }
        let flows = [
            "plain": flow("plain", .event(names: ["app.opened"])),
            "gated": flow(
                "gated", .event(names: ["app.opened"]),
                condition: .feature(FeatureTest(id: "export", allowed: true))),
        ]
        try await Scenario.with(flows, features: door) { scenario in
            try await scenario.publish("plain")
            try await scenario.tell("app.opened", 1)
            _ = try await scenario.settle()
            #expect(asked.values.isEmpty)
            try await scenario.publish("gated")
            try await scenario.tell("app.opened", 2)
            try await scenario.tell("app.opened", 3, to: "u2")
            _ = try await scenario.settle()
            #expect(asked.values.first?.map(\.ids) == [["u1"], ["u2"]])
            #expect(try await scenario.world.count("runs", "workflow = 'gated'") == 1)
        }
    }

    @Test func `changed access wakes those whose runs read it`() async throws {
        let flows = [
            "gated": flow("gated", .event(names: ["app.opened"])),
            "plain": flow("plain", .event(names: ["app.closed"])),
        ]
        try await Scenario.with(flows) { scenario in
            try await scenario.publish("gated", "plain")
            try await scenario.tell("app.opened", 1)
            try await scenario.tell("app.closed", 2, to: "u2")
            _ = try await scenario.settle()
            let wakes = FeatureWakeStore(pool: scenario.world.pool)
            func wake(_ wakesAll: Bool) async throws -> Int {
                try await wakes.wake(
                    ["u1", "u2", "u3"], environment: "production", workflows: ["gated"],
                    wakesAll: wakesAll)
            }
            #expect(try await wake(false) == 1)
            #expect(try await scenario.world.count("timers", "due_at <= now()") == 1)
            #expect(try await wake(true) == 2)
        }
    }

    // S14.4
    @Test func `a variant and its exposure outlast the run`() async throws {
        let id = ExperimentID("offer")
        var split = flow(
            "split", .event(names: ["began"]),
            action: .experiment(
                ExperimentStep(
                    experiment: id,
                    variants: [.init(id: "a", next: .end), .init(id: "b", next: .end)])))
        split.experiments = [
            id: ExperimentDefinition(
                id: id, variants: [.init(id: "a", weight: 50), .init(id: "b", weight: 50)])
        ]
        try await Scenario.with(["split": split]) { scenario in
            try await scenario.publish("split")
            for number in 1...2 {
                try await scenario.tell("began", number)
                _ = try await scenario.settle()
            }
            #expect(try await scenario.world.count("runs") == 2)
            #expect(try await scenario.world.count("assignments") == 1)
            #expect(
                try await scenario.world.number(
                    "select sum(amount) from journey.counts where name = 'exposed'") == 2)
        }
    }
}
