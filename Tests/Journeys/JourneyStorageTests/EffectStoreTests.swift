import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct EffectStoreTests {
    private static let crm = [EffectCapacity(tool: "http", account: "crm", free: 10)]

    private func withEffect(
        _ body: @escaping @Sendable (World, EffectRequest) async throws -> Void
    ) async throws {
        try await World.with { world in
            try await world.arrive("u1")
            let requests = TestSignal<EffectRequest>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                let result = Fixture.enter(turn)
                requests.send(result.requests[0])
                return result
            }
            try await body(world, requests.values[0])
        }
    }

    // S13.3
    @Test func `a lease carries the request as it was asked for`() async throws {
        try await withEffect { world, request in
            let leases = try await world.effects.lease(Self.crm)
            #expect(leases.map(\.request) == [request])
            #expect(leases[0].attempt == 1)
            #expect(leases[0].fence == 1)
            #expect(!leases[0].wasAmbiguous)
            #expect(leases[0].leaseUntil - leases[0].startedAt == .seconds(60))
            #expect(try await world.effects.lease(Self.crm).isEmpty)
            #expect(try await world.count("effect_attempts", "ended_at is null") == 1)
        }
    }

    @Test func `only accounts with room are served`() async throws {
        try await withEffect { world, _ in
            let others = [
                EffectCapacity(tool: "http", account: "other", free: 5),
                EffectCapacity(tool: "log", account: nil, free: 5),
                EffectCapacity(tool: "http", account: "crm", free: 0),
            ]
            let leases = try await world.effects.lease(others)
            #expect(leases.isEmpty)
        }
    }

    // S13.6
    @Test func `a result ends the effect and wakes the run once`() async throws {
        try await withEffect { world, request in
            let lease = try await world.effects.lease(Self.crm)[0]
            let outcome = EffectOutcome.succeeded(["status": 200, "amount": 1])
            let end = FinishedAttempt(
                lease: lease, outcome: "200", excerpt: Array(repeating: 65, count: 9_000),
                next: .end(outcome))
            #expect(try await world.effects.finish([end]) == [true])
            #expect(try await world.effects.finish([end]) == [false])
            #expect(try await world.count("effect_queue") == 0)
            #expect(try await world.count("effects", "status = 'succeeded' and attempts = 1") == 1)
            #expect(
                try await world.count(
                    "effect_attempts", "outcome = '200' and octet_length(excerpt) = 4096") == 1)
            let seen = TestSignal<CustomerTurn>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                seen.send(turn)
                return Fixture.take(turn)
            }
            guard case .result(let result) = seen.values[0].inputs[0].content else {
                Issue.record("the input is a result")
                return
            }
            #expect(
                result
                    == EffectResult(
                        invocation: request.invocation, run: request.run, step: request.step,
                        outcome: outcome, isMessage: false))
        }
    }

    @Test func `a retry waits its pause and is leased again with the next fence`() async throws {
        try await withEffect { world, _ in
            let lease = try await world.effects.lease(Self.crm)[0]
            let retry = FinishedAttempt(
                lease: lease, outcome: "503", next: .retry(after: .seconds(3_600)))
            #expect(try await world.effects.finish([retry]) == [true])
            #expect(try await world.effects.lease(Self.crm).isEmpty)
            try await world.run("update journey.effect_queue set due_at = now()")
            let second = try await world.effects.lease(Self.crm)[0]
            #expect(second.attempt == 2)
            #expect(second.fence == 2)
            #expect(!second.wasAmbiguous)
            // The first holder's word no longer counts.
            #expect(try await world.effects.finish([retry]) == [false])
        }
    }

    // S13.3 S13.4
    @Test func `a lease that ran out is given again as ambiguous, and its holder is fenced off`()
        async throws
    {
        try await withEffect { world, _ in
            let lost = try await world.effects.lease(Self.crm)[0]
            try await world.run(
                "update journey.effect_queue set due_at = now(), lease_until = now()")
            let next = try await world.effects.lease(Self.crm)[0]
            #expect(next.wasAmbiguous)
            #expect(next.fence == lost.fence + 1)
            #expect(
                try await world.count("effect_attempts", "outcome = 'lease_lost' and ambiguous")
                    == 1)
            let late = FinishedAttempt(lease: lost, outcome: "200", next: .end(.succeeded(.null)))
            #expect(try await world.effects.finish([late]) == [false])
            #expect(try await world.count("inbox") == 0)
            let end = FinishedAttempt(lease: next, outcome: "ambiguous", next: .end(.unknown))
            #expect(try await world.effects.finish([late, end]) == [false, true])
            #expect(try await world.count("inbox") == 1)
            // What it said is kept beside the attempt, and counted once.
            #expect(
                try await world.count(
                    "effect_attempts", "late_outcome = '200' and late_at is not null and fence = 1")
                    == 1)
            #expect(try await world.count("effects", "lost = 1 and attempts = 2") == 1)
            #expect(
                try await world.number(
                    "select sum(amount) from journey.counts where name = 'stale'") == 1)
        }
    }

    // S12.2
    @Test func `no attempt starts while the customer has unread input`() async throws {
        try await withEffect { world, _ in
            _ = try await world.deliveries.store([.webhook("more", id: "u1")])
            #expect(try await world.effects.lease(Self.crm).isEmpty)
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            try await world.run("update journey.effect_queue set due_at = now()")
            #expect(try await world.effects.lease(Self.crm).count == 1)
        }
    }

    // S12.2
    @Test func `past its deadline an effect expires and wakes its run`() async throws {
        try await withEffect { world, _ in
            try await world.run("update journey.effect_queue set deadline = now()")
            #expect(try await world.effects.lease(Self.crm).isEmpty)
            #expect(try await world.count("effects", "status = 'expired'") == 1)
            #expect(
                try await world.count(
                    "inbox", "payload -> 'outcome' ->> 'outcome' = 'expired' and kind = 'result'")
                    == 1)
        }
    }

    @Test func `an effect that nobody serves expires all the same`() async throws {
        try await withEffect { world, _ in
            try await world.effects.expireUnserved()
            #expect(try await world.count("effect_queue") == 1)
            try await world.run("update journey.effect_queue set deadline = now()")
            try await world.effects.expireUnserved()
            #expect(try await world.count("effect_queue") == 0)
            #expect(try await world.count("inbox", "kind = 'result'") == 1)
        }
    }

    @Test func `a lost lease past the deadline ends unknown`() async throws {
        try await withEffect { world, _ in
            _ = try await world.effects.lease(Self.crm)
            try await world.run(
                "update journey.effect_queue set deadline = now(), due_at = now(), lease_until = now()"
            )
            let leases = try await world.effects.lease(Self.crm)
            #expect(leases.isEmpty)
            #expect(try await world.count("effects", "status = 'unknown'") == 1)
        }
    }

    // S12.3
    @Test func `an effect between attempts is withdrawn with its run`() async throws {
        try await withEffect { world, _ in
            try await end(world)
            #expect(try await world.count("effect_queue") == 0)
            #expect(
                try await world.count("effects", "status = 'withdrawn' and reason = 'left'") == 1)
            #expect(try await world.effects.lease(Self.crm).isEmpty)
        }
    }

    @Test func `an attempt in flight brings its result in, and is not repeated`() async throws {
        try await withEffect { world, _ in
            let lease = try await world.effects.lease(Self.crm)[0]
            try await end(world)
            #expect(try await world.count("effect_queue", "withdrawn = 'left'") == 1)
            let result = FinishedAttempt(
                lease: lease, outcome: "200", next: .end(.succeeded(.null)))
            #expect(try await world.effects.finish([result]) == [true])
            #expect(try await world.count("inbox", "kind = 'result'") == 1)
            #expect(
                try await world.count("effects", "status = 'succeeded' and reason = 'left'") == 1)
        }
    }

    @Test func `a withdrawn effect whose attempt failed is over`() async throws {
        try await withEffect { world, _ in
            let lease = try await world.effects.lease(Self.crm)[0]
            try await end(world)
            let retry = FinishedAttempt(lease: lease, outcome: "503", next: .retry(after: .zero))
            #expect(try await world.effects.finish([retry]) == [true])
            #expect(try await world.count("effect_queue") == 0)
            #expect(try await world.count("effects", "status = 'withdrawn'") == 1)
            #expect(try await world.count("inbox") == 0)
        }
    }

    @Test func `a lease handed back costs no attempt`() async throws {
        try await withEffect { world, _ in
            let leases = try await world.effects.lease(Self.crm)
            try await world.effects.handBack(leases)
            let again = try await world.effects.lease(Self.crm)[0]
            #expect(again.attempt == 1)
            #expect(again.fence == 2)
            #expect(!again.wasAmbiguous)
        }
    }

    @Test func `dispatchers at once lease each effect once`() async throws {
        try await World.with(connections: 8) { world in
            _ = try await world.deliveries.store((0..<120).map { .webhook("e\($0)", id: "u\($0)") })
            _ = try await world.routing.route(limit: 500)
            _ = try await world.turns.turn(limit: 200) { turn, _ in Fixture.enter(turn) }
            let leased = try await withThrowingTaskGroup(of: [LeasedEffect].self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        var leased: [LeasedEffect] = []
                        while try await world.count("effect_queue", "lease_until is null") > 0 {
                            leased += try await world.effects.lease([
                                EffectCapacity(tool: "http", account: "crm", free: 7)
                            ])
                        }
                        return leased
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(leased.count == 120)
            #expect(Set(leased.map(\.request.invocation)).count == 120)
            #expect(leased.allSatisfy { $0.fence == 1 })
        }
    }

    /// Ends the run of u1 by a turn.
    private func end(_ world: World) async throws {
        _ = try await world.deliveries.store([.webhook("leave", id: "u1")])
        _ = try await world.turns.turn(limit: 10) { turn, _ in
            var result = Fixture.take(turn)
            var run = turn.runs[0]
            run.status = .exited(reason: "left")
            run.endedAt = turn.now
            run.position = nil
            result.changedRuns = [run]
            return result
        }
    }
}
