import JourneyModel
import RunReplay
import Simulation
import TestMaterial
import Testing
import WorkflowDefinitions

/// What `verify` is for: whoever alters a history is found, with the step.
@Suite struct PlantedAlterationTests {
    private struct World {
        let verifier: RunVerifier
        let runs: [RecordedRun]
    }

    /// Runs of every shipped case, and of generated workflows.
    private func worlds(_ generator: inout SeededGenerator) throws -> [World] {
        var worlds = try Shipped().cases.map { one in
            World(
                verifier: RunVerifier(one.workflow.definition), runs: one.simulate().recorded)
        }
        for index in 0..<60 {
            let workflow = try generator.workflow("generated-\(index)")
            let report = Simulator.run(workflows: [workflow], case: generator.simulatedCase())
            worlds.append(
                World(verifier: RunVerifier(workflow.definition), runs: report.recorded))
        }
        return worlds
    }

    // S19.2 S19.1
    @Test func `every run that the simulator makes agrees with its history`() throws {
        var generator = SeededGenerator(seed: 20_261_130)
        var runs = 0
        for world in try worlds(&generator) {
            for run in world.runs {
                runs += 1
                #expect(world.verifier.verify(run) == nil)
                #expect(world.verifier.verify(run.unsealed) == nil)
            }
        }
        #expect(runs > 90)
    }

    // S19.2
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `100 of 100 planted alterations are found, and the step is named`(seed: UInt64) throws {
        print("seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        let worlds = try worlds(&generator)
        var planted: [Alteration.Kind: Int] = [:]
        var foundByReplayAlone = 0
        while planted.values.reduce(0, +) < 100 {
            let kind = Alteration.Kind.allCases[
                planted.values.reduce(0, +) % Alteration.Kind.allCases.count]
            let world = generator.pick(worlds)
            guard let run = world.runs.randomElement(using: &generator),
                let alteration = Alteration(kind, of: run, &generator)
            else { continue }
            planted[kind, default: 0] += 1
            let found = try #require(
                world.verifier.verify(alteration.altered), "\(kind) seed=\(seed)")
            if kind == .decisionGone {
                #expect(found.decision.map { $0 > alteration.decision } ?? true, "\(found)")
            } else {
                #expect(found.decision == alteration.decision, "\(kind) seed=\(seed): \(found)")
            }
            let step = try #require(found.step, "\(kind) seed=\(seed): \(found)")
            #expect(
                alteration.steps.isEmpty || alteration.steps.contains(step.text),
                "\(kind) seed=\(seed): \(found), not at \(alteration.steps)")
            if world.verifier.verify(alteration.altered.unsealed) != nil { foundByReplayAlone += 1 }
        }
        print("seed=\(seed): 100 planted, \(foundByReplayAlone) found by replay without the seal")
        #expect(planted.count == Alteration.Kind.allCases.count)
        // The seal finds the rest: values that were read and swayed nothing.
        #expect(foundByReplayAlone >= 80)
    }
}
