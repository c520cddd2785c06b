import HTTPClient
import JSON
import Locks
import Postgres
import PrivateCluster
import Reactor
import TestSupport
import Testing

/// The database goes away and comes back; what was answered 2xx is there.
@Suite(.serialized, .timeLimit(.minutes(1))) struct OutageTests {
    /// Runs `body` with a world on a cluster of its own.
    private static func withCluster(
        workflows: [JSONValue],
        _ body: @escaping @Sendable (World, PrivateCluster) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            // Only a power cut could take what the operating system has: fsync may be off, not commits.
            let cluster = try PrivateCluster.start(
                home: folder + "/cluster", settings: ["fsync": "off", "max_connections": "40"])
            defer { cluster.stop() }
            try await withEventLoop { loop in
                try await World.with(
                    cluster.connectionString, on: loop, workflows: workflows
                ) { world in try await body(world, cluster) }
            }
        }
    }

    /// It blocks, so not on the loop.
    private static func off(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await Task.detached(operation: body).value
    }

    @Test func `an outage is answered 503 at once, and afterwards everything goes on`()
        async throws
    {
        try await Self.withCluster(workflows: [Definitions.tell()]) { world, cluster in
            let receiver = try Receiver(loop: world.loop)
            let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
            try await world.withWorker(accounts: accounts) { worker in
                let before = try Webhook.revenueCat("trial-started", id: "o1", person: "person-1")
                let after = try Webhook.revenueCat("trial-started", id: "o2", person: "person-2")
                #expect(try await worker.door.post(before).word == "accepted")
                _ = await receiver.arrivals.wait()
                try await Self.off { cluster.kill() }
                for _ in 0..<3 {
                    let begun = ContinuousClock.now
                    let answer = try await worker.door.post(after)
                    #expect(answer.status == 503)
                    #expect(answer.header("Retry-After").flatMap { Int($0) } != nil)
                    #expect(answer.json["error"]?["code"] == "not_stored")
                    #expect(ContinuousClock.now - begun < .seconds(15))
                }
                #expect(try await world.get(worker.admin + "/readyz").status == 503)
                #expect(try await world.get(worker.admin + "/healthz").status == 200)
                #expect(try await world.get(worker.admin + "/metrics").status == 200)
                try await Self.off { try cluster.restart() }
                try await world.until("the delivery is accepted") {
                    try await worker.door.post(after).status == 200
                }
                _ = await receiver.arrivals.wait(for: 2)
                try await world.until("both runs are completed") {
                    try await world.runs() == ["tell completed", "tell completed"]
                }
                #expect(try await world.get(worker.admin + "/readyz").status == 200)
            }
            #expect(Set(receiver.arrivals.values.map(\.key)).count == 2)
            await receiver.stop()
        }
    }

    @Test func `each of 200 deliveries in flight that was answered 200 is stored`() async throws {
        try await Self.withCluster(workflows: [Definitions.waits()]) { world, cluster in
            try await world.withWorker { worker in
                let kept = TestSignal<String>()
                let isDown = TestSignal<Void>()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            let id = "f\(number)"
                            let body = try Webhook.revenueCat(
                                "trial-started", id: id, person: "person-\(number % 40)")
                            // A third of them meets the outage in its midst.
                            if number % 3 == 0 { _ = await isDown.wait() }
                            if try await worker.door.post(body).status == 200 {
                                kept.send(id)
                            }
                        }
                    }
                    group.addTask {
                        try await Self.off { cluster.kill() }
                        isDown.send(())
                        try await Self.off { try cluster.restart() }
                    }
                    try await group.waitForAll()
                }
                let promised = Set(kept.values)
                try await world.until("the database answers") {
                    (try? await world.count("1")) == 1
                }
                let stored = Set(
                    try await world.texts(
                        "select provider_event_id as value from journey.delivery_ids"))
                #expect(promised.isSubset(of: stored))
                // The provider sends again what was not confirmed.
                for number in 0..<200 where !promised.contains("f\(number)") {
                    let body = try Webhook.revenueCat(
                        "trial-started", id: "f\(number)", person: "person-\(number % 40)")
                    try await world.until("a repeat is taken") {
                        try await worker.door.post(body).status == 200
                    }
                }
                try await world.untilQuiet()
                #expect(try await world.count("select count(*) from journey.events") == 200)
                #expect(try await world.count("select count(*) from journey.runs") == 40)
                #expect(
                    try await world.count("select sum(inputs_taken) from journey.customers") == 200)
            }
        }
    }
}
