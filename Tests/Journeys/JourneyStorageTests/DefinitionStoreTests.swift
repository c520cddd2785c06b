import JourneyModel
import JourneyTurns
import TestSupport
import Testing

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct DefinitionStoreTests {
    @Test func `the same definition again changes nothing`() async throws {
        try await World.with { world in
            let first = try await world.definitions.publish(
                [Fixture.published("b"), Fixture.published("a")], by: "me", reason: "start")
            #expect(first.map(\.workflow.text) == ["a", "b"])
            #expect(first.map(\.version) == [1, 1])
            #expect(first.map(\.change) == [.new, .new])
            let revision = try await world.definitions.revision()
            let again = try await world.definitions.publish(
                [Fixture.published("a"), Fixture.published("b")], by: "me", reason: "start")
            #expect(again.map(\.change) == [.unchanged, .unchanged])
            #expect(try await world.definitions.revision() == revision)
            #expect(try await world.count("audit") == 1)
        }
    }

    @Test func `an edit is the next version, and an earlier text goes live again under its number`()
        async throws
    {
        try await World.with { world in
            for (edition, version, change) in [
                (1, 1, DefinitionStore.Publication.Change.new), (2, 2, .new), (1, 1, .restored),
                (3, 3, .new),
            ] {
                let done = try await world.definitions.publish(
                    [Fixture.published("a", edition: edition)], by: "me", reason: "edit")
                #expect(done[0].version == version)
                #expect(done[0].change == change)
            }
            let set = try await world.definitions.definitions(in: world.cache)
            #expect(set.live.map(\.number) == [3])
        }
    }

    @Test func `publishers at once give out each version once`() async throws {
        try await World.with(connections: 8) { world in
            let versions = try await withThrowingTaskGroup(of: Int.self) { group in
                for edition in 0..<12 {
                    group.addTask {
                        try await world.definitions.publish(
                            [Fixture.published("a", edition: edition % 6)], by: "me", reason: "race"
                        )[0].version
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(versions) == Set(1...6))
            #expect(try await world.count("workflow_versions") == 6)
        }
    }

    // S8.1
    @Test func `a turn sees what was published before it, and versions that runs follow`()
        async throws
    {
        try await World.with { world in
            _ = try await world.definitions.publish(
                [Fixture.published("welcome")], by: "me", reason: "start")
            try await world.arrive("u1")
            let seen = TestSignal<DefinitionSet>()
            let decide: TurnStore.Decide = { turn, set in
                seen.send(set)
                return Fixture.enter(turn)
            }
            _ = try await world.turns.turn(limit: 1, decide: decide)
            _ = try await world.definitions.publish(
                [Fixture.published("welcome", edition: 2)], by: "me", reason: "edit")
            _ = try await world.deliveries.store([.webhook("e2", id: "u1")])
            // Another process, whose cache knows nothing yet.
            let fresh = TurnStore(
                pool: world.pool,
                definitions: DefinitionCache {
                    Fixture.workflow(String(decoding: $0, as: UTF8.self))
                })
            _ = try await fresh.turn(limit: 1, decide: decide)
            #expect(seen.values.map { $0.live.map(\.number) } == [[1], [2]])
            #expect(seen.values[1].version(1, of: WorkflowID("welcome")) != nil)
        }
    }

    @Test func `a turn keeps its live versions when the cache meets a later revision`() {
        let cache = DefinitionCache { Fixture.workflow(String(decoding: $0, as: UTF8.self)) }
        let workflow = WorkflowID("welcome")
        func stored(_ version: Int) -> DefinitionCache.Stored {
            DefinitionCache.Stored(
                key: DefinitionCache.Key(workflow: workflow, version: version),
                digest: "digest-\(version)", canonical: Array("welcome".utf8))
        }
        cache.takeLive([stored(2)], revision: 2)
        let set = cache.latest
        cache.takeLive([stored(3)], revision: 3)
        cache.takeVersions([stored(1)])
        let wider = cache.set(set, with: [stored(1).key])
        #expect(wider.live.map(\.number) == [2])
        #expect(wider.older.map(\.number) == [1])
        #expect(wider.version(1, of: workflow) != nil)
    }

    @Test func `a definition that cannot be read is left out and told`() async throws {
        try await World.with { world in
            struct Unreadable: Error {}
            _ = try await world.definitions.publish(
                [Fixture.published("good"), Fixture.published("bad")], by: "me", reason: "start")
            let cache = DefinitionCache { canonical in
                let id = String(decoding: canonical, as: UTF8.self)
                if id == "bad" { throw Unreadable() }
                return Fixture.workflow(id)
            }
            let set = try await world.definitions.definitions(in: cache)
            #expect(set.live.map(\.workflow.text) == ["good"])
            #expect(cache.failures.keys.map(\.workflow.text) == ["bad"])
        }
    }
}
