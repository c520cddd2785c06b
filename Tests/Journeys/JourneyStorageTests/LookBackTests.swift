import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestSupport
import Testing
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct LookBackTests {
    private static let now = Instant(milliseconds: 1_800_000_000_000)

    private func run(_ waiting: Position.Waiting?) -> Run {
        var run = Run(
            id: RunID("r"), customer: CustomerID(1), workflow: WorkflowID("w"), version: 1,
            digest: "d", key: nil, slot: 0, cause: "c", rerun: 0, environment: "production",
            enteredAt: Self.now, trigger: JSONObject(), entryOrdinal: 3)
        run.entries = [StepID("early"): StepEntry(at: Self.now, ordinal: 5)]
        run.position = waiting.map {
            Position(step: StepID("s"), visit: 0, enteredAt: Self.now, waiting: $0)
        }
        return run
    }

    private func definition(_ since: WaitUntil.Since?) -> WorkflowDefinition {
        var definition = Fixture.workflow("w")
        if let since {
            let wait = WaitUntil(
                branches: [], since: since, timeout: .duration(.seconds(60)), onTimeout: .end)
            let id = StepID("wait")
            definition.steps[id] = Step(id: id, action: .waitUntil(wait))
        }
        return definition
    }

    @Test func `the earliest mark that any wait may ask for counts`() {
        let later = Self.now + .seconds(60)
        let event = run(.events(mark: 8, due: later))
        let effect = run(.effect(InvocationID("i"), requestedOrdinal: 9))
        let delay = run(.delay(due: later))
        let cases: [(Run, WaitUntil.Since?, Int64?)] = [
            (event, .step, 8), (event, .entryInto(StepID("early")), 5), (event, .run, 3),
            (event, .entryInto(StepID("never")), 3), (effect, .step, 9), (effect, nil, 9),
            (delay, .step, nil), (delay, .run, 3),
        ]
        for (run, since, mark) in cases {
            #expect(LookBack(run: run, definition: definition(since))?.mark == mark)
        }
        #expect(LookBack(run: delay, definition: nil)?.mark == 3)
        var ended = event
        ended.status = .completed
        #expect(LookBack(run: ended, definition: nil) == nil)
    }

    @Test func `a turn is given the events that its runs look back to, and later ones`()
        async throws
    {
        try await World.with { world in
            try await world.arrive("u1")
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                // Without a definition, everything since the trigger.
                var result = Fixture.take(turn)
                var run = Fixture.run(turn, cause: "c")
                run.entryOrdinal = 1
                result.newRuns = [run]
                return result
            }
            let seen = TestSignal<[Int64]>()
            for number in 2...4 {
                var arrival = ArrivedDelivery.webhook("e\(number)", id: "u1")
                // The last one occurred before what is stored.
                if number == 4 { arrival.occurredAt = Instant(milliseconds: 0) }
                _ = try await world.deliveries.store([arrival])
                _ = try await world.turns.turn(limit: 10) { turn, _ in
                    seen.send(turn.log.map(\.ordinal))
                    return Fixture.take(turn)
                }
            }
            #expect(seen.values == [[], [2], [1, 2, 3]])
        }
    }

    // S4.5
    @Test func `what occurred later is found behind any number of inputs since`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            for number in 1...50 {
                _ = try await world.deliveries.store([.webhook("e\(number)", id: "u1")])
            }
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            // What is stored occurred now: before one, and after the other.
            for (id, time, count) in [("l1", Int64(4_000_000_000_000), 0), ("l2", 0, 52)] {
                var late = ArrivedDelivery.webhook(id, id: "u1")
                late.occurredAt = Instant(milliseconds: time)
                _ = try await world.deliveries.store([late])
                let seen = TestSignal<Int>()
                _ = try await world.turns.turn(limit: 10) { turn, _ in
                    seen.send(turn.log.count)
                    return Fixture.take(turn)
                }
                #expect(seen.values == [count])
            }
        }
    }

    @Test func `a retry policy is read back as it was stored`() throws {
        let factor = try #require(JSONNumber(literal: "1.50"))
        let policy = RetryPolicy(
            attempts: 7, backoff: .milliseconds(1_500), factor: factor, longest: .seconds(60),
            jitter: false, causes: [.serverError, .timeout])
        #expect(RetryPolicy(stored: policy.stored) == policy)
        #expect(RetryPolicy(stored: JSONObject()) == nil)
    }
}
