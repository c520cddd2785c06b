import JourneyStorage
import Postgres
import Reactor
import TestSupport
import Testing
import WebhookIngest

/// Arrivals share statements, and each caller hears of its own.
@Suite struct GroupCommitTests {
    private typealias Outcome = Result<DeliveryReceipt, GroupCommit.Refusal>

    private static func commit(_ id: String, _ commit: GroupCommit) async -> Outcome {
        do throws(GroupCommit.Refusal) {
            return .success(try await commit.commit(IngestWorld.arrival(id)))
        } catch {
            return .failure(error)
        }
    }

    /// Commits all ids at once and returns what each caller heard.
    private static func commitAll(
        _ ids: [String], _ commit: GroupCommit, onceWaiting: @escaping @Sendable () -> Void
    ) async -> [String: Outcome] {
        await withTaskGroup(of: (String, Outcome).self) { group in
            for id in ids { group.addTask { (id, await Self.commit(id, commit)) } }
            // Its turn on the loop comes after those of the tasks above.
            group.addTask {
                for _ in 0..<100 { await Task.yield() }
                onceWaiting()
                return ("", .failure(.full))
            }
            var outcomes: [String: Outcome] = [:]
            for await (id, outcome) in group where id != "" { outcomes[id] = outcome }
            return outcomes
        }
    }

    @Test func `what comes while a statement runs goes with the next one`() async throws {
        try await withEventLoop { loop in
            let store = FakeStore()
            var limits = GroupCommit.Limits()
            limits.statements = 1
            let commit = GroupCommit(loop: loop, limits: limits) { try await store.store($0) }
            store.hold()
            let ids = (1...5).map(String.init)
            let outcomes = await Self.commitAll(ids, commit) { store.release() }
            #expect(outcomes.count == 5)
            #expect(store.groups.map(\.count).reduce(0, +) == 5)
            #expect(store.groups.count == 2)
            #expect(store.groups.first?.count == 1)
        }
    }

    @Test func `no group is larger than the bound`() async throws {
        try await withEventLoop { loop in
            let store = FakeStore()
            var limits = GroupCommit.Limits()
            limits.statements = 1
            limits.group = 3
            let commit = GroupCommit(loop: loop, limits: limits) { try await store.store($0) }
            store.hold()
            let outcomes = await Self.commitAll((1...10).map(String.init), commit) {
                store.release()
            }
            #expect(outcomes.count == 10)
            #expect(store.groups.map(\.count) == [1, 3, 3, 3])
        }
    }

    @Test func `past the bounds of rows and bytes a caller hears at once`() async throws {
        try await withEventLoop { loop in
            let store = FakeStore()
            var limits = GroupCommit.Limits()
            limits.statements = 1
            limits.waiting = 2
            let commit = GroupCommit(loop: loop, limits: limits) { try await store.store($0) }
            store.hold()
            let outcomes = await Self.commitAll(["1", "2", "3", "4", "5"], commit) {
                store.release()
            }
            // The one in its statement is in memory too.
            #expect(outcomes.values.count { $0 == .failure(.full) } == 3)
            #expect(await Self.commit("5", commit) != .failure(.full))
            limits.waitingBytes = 1
            let narrow = GroupCommit(loop: loop, limits: limits) { try await store.store($0) }
            #expect(await Self.commit("6", narrow) == .failure(.full))
        }
    }

    @Test(arguments: ["22021", "23514", "54000"])
    func `only the delivery that the database refuses hears of it`(sqlState: String) async throws {
        try await withEventLoop { loop in
            let store = FakeStore { group in
                if group.contains(where: { $0.providerEventID == "bad" }) {
                    throw IngestWorld.refusal(sqlState)
                }
                return try FakeStore.accepting(group)
            }
            var limits = GroupCommit.Limits()
            limits.statements = 1
            let commit = GroupCommit(loop: loop, limits: limits) { try await store.store($0) }
            store.hold()
            let outcomes = await Self.commitAll(
                ["1", "2", "3", "bad", "4", "5", "6", "7"], commit
            ) { store.release() }
            for (id, outcome) in outcomes {
                switch outcome {
                case .success: #expect(id != "bad")
                case .failure(let refusal):
                    #expect(id == "bad")
                    #expect(refusal != .full)
                }
            }
        }
    }

    @Test(arguments: [IngestWorld.gone, IngestWorld.refusal("53100"), IngestWorld.refusal("42P01")])
    func `an error that lies with no delivery is heard by all, once`(
        error: PostgresError
    ) async throws {
        try await withEventLoop { loop in
            let store = FakeStore { _ in throw error }
            var limits = GroupCommit.Limits()
            limits.statements = 1
            let commit = GroupCommit(loop: loop, limits: limits) { try await store.store($0) }
            store.hold()
            let outcomes = await Self.commitAll(["1", "2", "3", "4"], commit) { store.release() }
            for outcome in outcomes.values {
                #expect(outcome == .failure(.unconfirmed("\(error)")))
            }
            #expect(store.groups.count == 2)
        }
    }

    @Test func `a deadlock is tried again, a bounded number of times`() async throws {
        try await withEventLoop { loop in
            let store = FakeStore { _ in throw IngestWorld.refusal("40P01") }
            let commit = GroupCommit(loop: loop) { try await store.store($0) }
            let outcome = await Self.commit("1", commit)
            #expect(outcome == .failure(.unconfirmed("\(IngestWorld.refusal("40P01"))")))
            #expect(store.groups.count == 4)
        }
    }

    @Test func `a store that answers for too few confirms none`() async throws {
        try await withEventLoop { loop in
            let store = FakeStore { _ in [] }
            let commit = GroupCommit(loop: loop) { try await store.store($0) }
            guard case .failure(.unconfirmed) = await Self.commit("1", commit) else {
                Issue.record("confirmed without a receipt")
                return
            }
        }
    }
}
