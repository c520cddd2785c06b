import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// Operators' commands are inputs of a customer's turn, decided by the same code (S1).
@Suite struct CommandTests {
    private func command(
        _ action: OperatorCommand.Action, _ run: RunID, audit: Int64 = 7, at: Instant = dawn,
        in world: inout World
    ) -> TurnInput {
        world.input(
            .command(
                CustomerCommand(run: run, command: OperatorCommand(action, audit: audit))), at: at)
    }

    /// A world whose only run failed, because its effect did.
    private func failed() throws -> (World, Run, EffectRequest) {
        var world = World(makeWorkflow("w", [.action("tell")]))
        world.give("began")
        let request = try #require(world.requests.first)
        world.take(world.result(of: request, .failed(error: "http_500", detail: .null)))
        let run = try #require(world.runs.first)
        #expect(run.status == .failed(error: "http_500"))
        return (world, run, request)
    }

    // S1.2
    @Test func `a live run is cancelled with the reason, and its effect withdrawn`() throws {
        var world = World(makeWorkflow("w", [.action("tell")]))
        world.give("began")
        let run = try #require(world.runs.first)
        let request = try #require(world.requests.first)
        let cancel = command(.cancel(reason: "asked for"), run.id, in: &world)
        let result = world.take(cancel)
        #expect(world.endings == ["cancelled asked for"])
        #expect(result.withdrawals.map(\.invocation) == [request.invocation])
        #expect(result.commands == [CommandOutcome(audit: 7, run: run.id)])
        let again = command(.cancel(reason: "again"), run.id, audit: 8, in: &world)
        let refused = world.take(again)
        #expect(
            refused.commands.first?.refusal == "it has ended: cancelled (asked for)")
        #expect(refused.changedRuns.isEmpty)
        #expect(world.counted(.stale, nil, "command") == 1)
    }

    // S13.5 S13.8
    @Test func `a run lives again at the step it failed at, and waits for the same effect`() throws
    {
        var (world, run, request) = try failed()
        let later = dawn + .seconds(3_600)
        let retry = command(.retry(request.invocation), run.id, at: later, in: &world)
        let result = world.take(retry, at: later)
        #expect(result.commands == [CommandOutcome(audit: 7, run: run.id)])
        #expect(
            result.renewals == [
                EffectRenewal(
                    invocation: request.invocation, notBefore: later,
                    deadline: later + .seconds(86_400))
            ])
        #expect(result.requests.isEmpty)
        let living = try #require(result.changedRuns.first)
        #expect(living.status == .waiting && living.endedAt == nil)
        #expect(living.position?.visit == 0 && living.position?.enteredAt == dawn)
        world.take(world.result(of: request, at: later), at: later)
        #expect(world.endings == ["completed"])
    }

    @Test func `a run whose place was taken, that lives or has succeeded is not repaired`() throws {
        var (world, run, request) = try failed()
        world.give("began", at: dawn + .seconds(1))
        #expect(world.runs.count == 2)
        let rival = world.runs[1].id
        let retry = command(.retry(request.invocation), run.id, in: &world)
        let refused = world.take(retry, at: dawn + .seconds(2))
        #expect(refused.commands.first?.refusal?.contains("\(rival)") == true)
        #expect(refused.renewals.isEmpty && refused.changedRuns.isEmpty)
        let living = command(.retry(request.invocation), rival, in: &world)
        let alive = world.take(living, at: dawn + .seconds(3))
        #expect(alive.commands.first?.refusal?.hasPrefix("it lives") == true)
        let gone = command(.cancel(reason: "r"), RunID("none"), in: &world)
        #expect(
            world.take(gone, at: dawn + .seconds(4)).commands.first?.refusal?.contains(
                "no such run")
                == true)
    }

    @Test func `an effect that the run did not fail with is not attempted again`() throws {
        var (world, run, _) = try failed()
        let retry = command(.retry(InvocationID("other")), run.id, in: &world)
        let result = world.take(retry)
        #expect(result.commands.first?.refusal?.contains("does not stand") == true)
        #expect(result.renewals.isEmpty)
        #expect(world.endings == ["failed http_500"])
    }

    @Test func `past its time limit a run is not repaired`() throws {
        var (world, run, request) = try failed()
        let late = dawn + .seconds(91 * 86_400)
        let retry = command(.retry(request.invocation), run.id, at: late, in: &world)
        #expect(
            world.take(retry, at: late).commands.first?.refusal?.contains("time limit") == true)
    }
}
