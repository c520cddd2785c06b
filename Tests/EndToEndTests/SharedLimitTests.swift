import HTTPServer
import JSON
import JourneyWorker
import Locks
import Reactor
import TestSupport
import Testing

/// Several dispatchers on one database, and receivers that would notice.
@Suite(.serialized, .timeLimit(.minutes(2))) struct SharedLimitTests {
    /// Counts how many requests are answered at once, and the most there ever were.
    private final class Crowd: Sendable {
        private let state = Guarded((now: 0, most: 0, all: 0))

        var most: Int { state.withLock { $0.most } }
        var all: Int { state.withLock { $0.all } }

        func enter() {
            state.withLock {
                $0.now += 1
                $0.all += 1
                $0.most = max($0.most, $0.now)
            }
        }

        func leave() { state.withLock { $0.now -= 1 } }
    }

    /// Has so many people's trials start, without anybody sending yet.
    private static func request(_ count: Int, _ world: World) async throws {
        try await world.withWorker(roles: [.ingest, .worker]) { worker in
            for number in 1...count {
                let started = try Webhook.revenueCat(
                    "trial-started", id: "e\(number)", person: "person-\(number)")
                #expect(try await worker.door.post(started).word == "accepted")
            }
            try await world.until("select count(*) from journey.effect_queue", is: count)
        }
    }

    @Test func `three dispatchers never call an account more often at once than it may`()
        async throws
    {
        try await World.with(workflows: [Definitions.tell()]) { world in
            let crowd = Crowd()
            let loop = world.loop
            let receiver = try Receiver(loop: loop) { _ in
                crowd.enter()
                try? await loop.sleep(for: .milliseconds(5))
                crowd.leave()
                return .json(200, Receiver.answer)
            }
            try await Self.request(40, world)
            let accounts: JSONValue = [
                "crm": World.account(
                    port: receiver.port, changes: JSONObject([("concurrency", 3)]))
            ]
            try await world.withWorker(accounts: accounts) { _ in
                try await world.withWorker(accounts: accounts, roles: [.dispatch]) { _ in
                    try await world.withWorker(accounts: accounts, roles: [.dispatch]) { _ in
                        try await world.untilQuiet()
                    }
                }
            }
            #expect(crowd.all == 40)
            #expect((1...3).contains(crowd.most))
            await receiver.stop()
        }
    }

    @Test func `an account whose receiver hangs keeps up no other`() async throws {
        let quick = Definitions.tell(id: "quick", extra: JSONObject([("account", "quick")]))
        try await World.with(workflows: [Definitions.tell(), quick]) { world in
            let hold = TestSignal<Void>()
            let hanging = try Receiver(loop: world.loop) { _ in
                _ = await hold.wait()
                return .json(200, Receiver.answer)
            }
            let receiver = try Receiver(loop: world.loop)
            try await world.withWorker(roles: [.ingest, .worker]) { worker in
                for number in 1...12 {
                    let started = try Webhook.revenueCat(
                        "trial-started", id: "e\(number)", person: "person-\(number)")
                    #expect(try await worker.door.post(started).word == "accepted")
                }
                try await world.until("select count(*) from journey.effect_queue", is: 24)
            }
            let accounts: JSONValue = [
                "crm": World.account(port: hanging.port),
                "quick": World.account(port: receiver.port),
            ]
            let narrow = JSONObject([
                ("dispatch", ["concurrency": 8]), ("shutdown", ["grace": "PT0.2S"]),
            ])
            try await world.withWorker(accounts: accounts, changes: narrow) { _ in
                try await world.until(
                    """
                    select count(*) from journey.effects
                    where account = 'quick' and status = 'succeeded'
                    """, is: 12)
                #expect(
                    try await world.count(
                        "select count(*) from journey.effects where account = 'crm' and status = 'succeeded'"
                    ) == 0)
            }
            for _ in 0..<12 { hold.send(()) }
            await hanging.stop()
            await receiver.stop()
        }
    }

    @Test func `a worker that holds effects sends nothing, and says so`() async throws {
        try await World.with(workflows: [Definitions.tell()]) { world in
            let receiver = try Receiver(loop: world.loop)
            let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
            try await world.withWorker(accounts: accounts, holdsEffects: true) { worker in
                let started = try Webhook.revenueCat("trial-started", id: "e1", person: "person-1")
                #expect(try await worker.door.post(started).word == "accepted")
                try await world.until("select count(*) from journey.effect_queue", is: 1)
                let ready = try await world.get(worker.admin + "/readyz")
                #expect(ready == (200, "ready, effects are held\n"))
                let samples = try Exposition.read(
                    try await world.get(worker.admin + "/metrics").text)
                #expect(samples["journey_effects_held"] == 1)
                #expect(
                    try await world.count(
                        """
                        select count(*) from pg_stat_activity
                        where application_name = 'journey-worker, holding effects'
                            and datname = current_database()
                        """) > 0)
            }
            #expect(try await world.count("select count(*) from journey.effect_attempts") == 0)
            #expect(receiver.arrivals.values.isEmpty)
            try await world.withWorker(accounts: accounts) { _ in try await world.untilQuiet() }
            #expect(receiver.arrivals.values.count == 1)
            await receiver.stop()
        }
    }

    @Test func `being ready takes no new connection`() async throws {
        try await World.with { world in
            try await world.withWorker { worker in
                #expect(try await world.get(worker.admin + "/readyz").status == 200)
                let made =
                    "select sessions from pg_stat_database where datname = current_database()"
                let before = try await world.count(made)
                for _ in 0..<10 { _ = try await world.get(worker.admin + "/readyz") }
                try await world.change("select pg_stat_force_next_flush()")
                #expect(try await world.count(made) - before <= 1)
            }
        }
    }
}
