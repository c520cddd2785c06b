import JSON
import JourneyEngine
import JourneyModel
import TestMaterial
import Testing
import TimeZones

/// What is stored is read back as it was.
@Suite struct StoredFormTests {
    private func text(_ generator: inout SeededGenerator) -> String {
        generator.pick(["", "a", "caf\u{e9}", "cafe\u{301}", "\"\\\n", "\u{1F600}", "x-1_y"])
    }

    private func value(_ generator: inout SeededGenerator, depth: Int = 0) -> JSONValue {
        switch generator.number(0..<(depth > 2 ? 4 : 6)) {
        case 0: .null
        case 1: .bool(generator.chance(50))
        case 2:
            JSONNumber(
                literal: generator.pick(["0", "-1", "1.50", "1e9", "9223372036854775807", "0.1"])
            ).map { .number($0) } ?? .null
        case 3: .string(text(&generator))
        case 4:
            .array((0..<generator.number(0..<3)).map { _ in value(&generator, depth: depth + 1) })
        case _: .object(object(&generator, depth: depth + 1))
        }
    }

    private func object(_ generator: inout SeededGenerator, depth: Int = 0) -> JSONObject {
        JSONObject(
            (0..<generator.number(0..<4)).map { index in
                (key: "k\(index)", value: value(&generator, depth: depth))
            })
    }

    private func instant(_ generator: inout SeededGenerator) -> Instant {
        Instant(milliseconds: Int64(generator.number(0..<4_000_000_000_000)))
    }

    private func status(_ generator: inout SeededGenerator) -> RunStatus {
        let reason = text(&generator)
        return generator.pick([
            .waiting, .completed, .exited(reason: reason), .failed(error: reason),
            .cancelled(reason: reason), .superseded(reason: reason),
        ])
    }

    private func position(_ generator: inout SeededGenerator) -> Position {
        let due = instant(&generator)
        return Position(
            step: StepID("s"), visit: generator.number(0..<9), enteredAt: instant(&generator),
            waiting: generator.pick([
                .delay(due: due), .events(mark: 5, due: due),
                .effect(InvocationID("i"), requestedOrdinal: 9),
            ]), reconsiderAt: generator.chance(50) ? instant(&generator) : nil)
    }

    private func run(_ generator: inout SeededGenerator) -> Run {
        var run = Run(
            id: RunID("r"), customer: CustomerID(Int64(generator.number(1..<99))),
            workflow: WorkflowID("w"), version: generator.number(1..<9), digest: "d",
            key: generator.chance(50) ? text(&generator) : nil, slot: generator.number(0..<25),
            cause: text(&generator), rerun: generator.number(0..<3), environment: "production",
            enteredAt: instant(&generator), trigger: object(&generator),
            entryOrdinal: Int64(generator.number(0..<999)))
        run.endedAt = generator.chance(50) ? instant(&generator) : nil
        run.status = status(&generator)
        if generator.chance(50) { run.bound = object(&generator) }
        if generator.chance(70) { run.position = position(&generator) }
        for step in ["a", "b", "c"] where generator.chance(60) {
            run.visits[StepID(step)] = generator.number(1..<9)
            run.entries[StepID(step)] = StepEntry(
                at: instant(&generator), ordinal: 3,
                firstAt: generator.chance(50) ? instant(&generator) : nil)
            run.results[StepID(step)] = value(&generator)
        }
        run.stepsEntered = generator.number(0..<1_000)
        run.decisions = generator.number(0..<1_000)
        run.spentEvents = generator.chance(50) ? [EventID("e1"), EventID("e0")] : []
        run.convertedAt = generator.chance(50) ? instant(&generator) : nil
        return run
    }

    @Test func `a run is read back from its state, through text`() throws {
        let seed: UInt64 = 20261131
        print("seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let run = run(&generator)
            let bytes = JSONValue.object(run.state).bytes
            let read = try Run(state: try #require(try JSONParser.parse(bytes).object))
            #expect(read == run, "seed=\(seed)")
            #expect(JSONValue.object(read.state).bytes == bytes, "seed=\(seed)")
        }
    }

    @Test func `a state that is not one is refused by the member's name`() throws {
        var generator = SeededGenerator(seed: 1)
        let state = run(&generator).state
        for member in [
            "format", "id", "customer", "workflow", "version", "digest", "slot", "cause", "rerun",
            "environment", "entered_at", "status", "trigger", "visits", "entries", "results",
            "steps_entered", "decisions", "entry_ordinal",
        ] {
            var broken = state
            broken[member] = nil
            #expect(throws: StoredFormError(subject: "run", member: member)) {
                try Run(state: broken)
            }
        }
        var later = state
        later["format"] = 4
        #expect(throws: StoredFormError.self) { try Run(state: later) }
        later = state
        later["position"] = ["waiting": "telepathy"]
        #expect(throws: StoredFormError(subject: "run position", member: "waiting")) {
            try Run(state: later)
        }
    }

    @Test func `an effect's outcome is read back, through text`() throws {
        let seed: UInt64 = 20261132
        print("seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let outcome = generator.pick(
                [
                    .succeeded(value(&generator)),
                    .failed(error: text(&generator), detail: value(&generator)), .timedOut,
                    .expired,
                    .unknown, .suppressed(reason: text(&generator)),
                ] as [EffectOutcome])
            let bytes = JSONValue.object(outcome.json).bytes
            let read = try EffectOutcome(
                json: try #require(try JSONParser.parse(bytes).object))
            #expect(read == outcome, "seed=\(seed)")
        }
        #expect(throws: StoredFormError.self) { try EffectOutcome(json: ["outcome": "lost"]) }
        #expect(throws: StoredFormError.self) { try EffectOutcome(json: [:]) }
    }
}
