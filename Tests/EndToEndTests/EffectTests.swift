import HTTPClient
import HTTPServer
import JSON
import JourneyWorker
import Reactor
import TestSupport
import Testing

/// Attempts against receivers that are down, wrong, or worse.
@Suite(.serialized, .timeLimit(.minutes(1))) struct EffectTests {
    /// Runs `body` with a worker whose account lies at `port`, after one trial started.
    private static func withTrial(
        _ world: World, port: UInt16, idempotent: Bool = true,
        _ body: (Worker) async throws -> Void
    ) async throws {
        let accounts: JSONValue = ["crm": World.account(port: port, idempotent: idempotent)]
        try await world.withWorker(accounts: accounts) { worker in
            let started = try Webhook.revenueCat("trial-started", id: "e1", person: "person-1")
            #expect(try await worker.door.post(started).word == "accepted")
            try await body(worker)
        }
    }

    /// `number outcome` of every attempt of the step `tell`, in order.
    private static func attempts(_ world: World) async throws -> [String] {
        try await world.texts(
            """
            select a.number || ' ' || coalesce(a.outcome, 'running') as value
            from journey.effect_attempts a join journey.effects e using (customer, invocation)
            where e.step = 'tell' order by a.fence, a.started_at
            """)
    }

    private static func untilCompleted(_ world: World) async throws {
        try await world.until(
            "select count(*) from journey.runs where status = 'completed'", is: 1)
    }

    private static let patient = Definitions.tell(
        retry: ["attempts": 20, "backoff": "PT1S", "max": "PT1S"])

    @Test func `a receiver that is down is tried again and told once it is up`() async throws {
        try await World.with(workflows: [Self.patient]) { world in
            let port = try await Receiver.freePort(world.loop)
            try await Self.withTrial(world, port: port) { worker in
                try await world.until("a failed attempt") {
                    try await Self.attempts(world).first == "1 network"
                }
                let receiver = try Receiver(loop: world.loop, port: port)
                try await Self.untilCompleted(world)
                #expect(receiver.arrivals.values.count == 1)
                #expect(try await world.effects() == ["tell succeeded"])
                await receiver.stop()
            }
        }
    }

    @Test func `a receiver that fails first is told again under the same key`() async throws {
        try await World.with(workflows: [Self.patient]) { world in
            let receiver = try Receiver(loop: world.loop) { number in
                number == 1 ? .text(500, "not now") : .json(200, Receiver.answer)
            }
            try await Self.withTrial(world, port: receiver.port) { worker in
                try await Self.untilCompleted(world)
                let requests = receiver.arrivals.values
                #expect(requests.count == 2)
                #expect(Set(requests.map(\.key)).count == 1)
                for request in requests { request.expectSigned() }
                #expect(try await Self.attempts(world) == ["1 http_500", "2 succeeded"])
                #expect(try await world.effects() == ["tell succeeded"])
            }
            await receiver.stop()
        }
    }

    @Test func `a 404 is an end, and the run takes on_failed`() async throws {
        try await World.with(workflows: [Self.patient]) { world in
            let receiver = try Receiver(loop: world.loop) { _ in .text(404, "nobody") }
            try await Self.withTrial(world, port: receiver.port) { worker in
                try await Self.untilCompleted(world)
                #expect(receiver.arrivals.values.count == 1)
                #expect(try await world.effects() == ["tell failed", "missed succeeded"])
            }
            await receiver.stop()
        }
    }

    @Test func `attempts that are used up are an end`() async throws {
        let workflow = Definitions.tell(retry: ["attempts": 2, "backoff": "PT1S", "max": "PT1S"])
        try await World.with(workflows: [workflow]) { world in
            let receiver = try Receiver(loop: world.loop) { _ in .text(503, "never") }
            try await Self.withTrial(world, port: receiver.port) { worker in
                try await Self.untilCompleted(world)
                #expect(try await Self.attempts(world) == ["1 http_503", "2 http_503"])
                #expect(try await world.effects() == ["tell failed", "missed succeeded"])
            }
            await receiver.stop()
        }
    }

    // S13.4
    @Test func `who acts and drops the connection is told again only if it honours the key`()
        async throws
    {
        try await World.with(workflows: [Self.patient]) { world in
            let hold = TestSignal<Void>()
            let dropping = try Receiver(loop: world.loop) { _ in
                _ = await hold.wait()
                return .text(200, "unheard")
            }
            try await Self.withTrial(world, port: dropping.port) { worker in
                let first = await dropping.arrivals.wait()
                await dropping.stop()
                let receiver = try Receiver(loop: world.loop, port: dropping.port)
                try await Self.untilCompleted(world)
                let second = receiver.arrivals.values
                #expect(second.count == 1)
                #expect(second.map(\.key) == first.map(\.key))
                let attempts = try await Self.attempts(world)
                #expect(attempts.last?.hasSuffix(" succeeded") == true)
                #expect(
                    try await world.count(
                        "select count(*) from journey.effect_attempts where ambiguous") == 1)
                await receiver.stop()
            }
            hold.send(())
        }
    }

    @Test func `without that an attempt of unknown outcome is never repeated`() async throws {
        try await World.with(workflows: [Self.patient]) { world in
            let hold = TestSignal<Void>()
            let dropping = try Receiver(loop: world.loop) { _ in
                _ = await hold.wait()
                return .text(200, "unheard")
            }
            try await Self.withTrial(world, port: dropping.port, idempotent: false) { worker in
                _ = await dropping.arrivals.wait()
                await dropping.stop()
                let receiver = try Receiver(loop: world.loop, port: dropping.port)
                try await Self.untilCompleted(world)
                try await world.untilQuiet()
                #expect(receiver.arrivals.values.isEmpty)
                #expect(try await Self.attempts(world) == ["1 network"])
                #expect(try await world.effects() == ["tell unknown", "missed succeeded"])
                await receiver.stop()
            }
            hold.send(())
        }
    }

    @Test func `an exit between attempts takes the effect back`() async throws {
        try await World.with(workflows: [Definitions.tellUnlessRefunded]) { world in
            let receiver = try Receiver(loop: world.loop) { _ in .text(500, "not now") }
            try await Self.withTrial(world, port: receiver.port) { worker in
                try await world.until("a failed attempt") {
                    try await Self.attempts(world) == ["1 http_500"]
                }
                let refunded = try Webhook.revenueCat("refunded", id: "e2", person: "person-1")
                #expect(try await worker.door.post(refunded).word == "accepted")
                try await world.until(
                    "select count(*) from journey.runs where status = 'exited'", is: 1)
                try await world.untilQuiet()
                #expect(try await world.runs() == ["tell-journey exited refunded"])
                #expect(try await world.effects() == ["tell withdrawn"])
                #expect(receiver.arrivals.values.count == 1)
            }
            await receiver.stop()
        }
    }

    @Test func `a lost lease is taken up under the same key, and no further than attempts go`()
        async throws
    {
        let workflow = Definitions.tell(retry: ["attempts": 2, "backoff": "PT1S", "max": "PT1S"])
        try await World.with(workflows: [workflow]) { world in
            let receiver = try Receiver(loop: world.loop)
            // No dispatcher yet: the test leases, as one would that is then killed.
            try await world.withWorker(roles: [.ingest, .worker]) { worker in
                let started = try Webhook.revenueCat("trial-started", id: "e1", person: "person-1")
                #expect(try await worker.door.post(started).word == "accepted")
                try await world.until("select count(*) from journey.effect_queue", is: 1)
            }
            let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
            try await world.change(
                """
                update journey.effect_queue
                set attempts = 2, fence = 2, lease_until = now(), due_at = now()
                """)
            try await world.withWorker(accounts: accounts) { worker in
                try await Self.untilCompleted(world)
                #expect(receiver.arrivals.values.isEmpty)
                #expect(try await world.effects() == ["tell unknown", "missed succeeded"])
            }
            await receiver.stop()
        }
    }

    @Test func `a drain lets the attempt under way end`() async throws {
        try await World.with(workflows: [Self.patient]) { world in
            let hold = TestSignal<Void>()
            let receiver = try Receiver(loop: world.loop) { _ in
                _ = await hold.wait()
                return .json(200, Receiver.answer)
            }
            try await Self.withTrial(world, port: receiver.port) { worker in
                _ = await receiver.arrivals.wait()
                let drain = Task(executorPreference: world.loop.tasks) {
                    await worker.service.drain()
                }
                try await world.until("the worker says that it drains") {
                    let ready = try await world.get(worker.admin + "/readyz")
                    return ready.status == 503 && ready.text.contains("draining")
                }
                await #expect(throws: (any Error).self) { try await worker.door.post([]) }
                hold.send(())
                await drain.value
                #expect(try await Self.attempts(world) == ["1 succeeded"])
                #expect(try await world.effects() == ["tell succeeded"])
            }
            await receiver.stop()
        }
    }

    @Test func `a drain that runs out of time breaks the attempt off and hands that in`()
        async throws
    {
        try await World.with(workflows: [Self.patient]) { world in
            let hold = TestSignal<Void>()
            let receiver = try Receiver(loop: world.loop) { _ in
                _ = await hold.wait()
                return .json(200, Receiver.answer)
            }
            let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
            let changes = JSONObject([("shutdown", ["grace": "PT0.2S"])])
            try await world.withWorker(accounts: accounts, changes: changes) { worker in
                let started = try Webhook.revenueCat("trial-started", id: "e1", person: "person-1")
                #expect(try await worker.door.post(started).word == "accepted")
                _ = await receiver.arrivals.wait()
            }
            #expect(try await Self.attempts(world) == ["1 interrupted"])
            #expect(
                try await world.count(
                    "select count(*) from journey.effect_queue where lease_until is null") == 1)
            hold.send(())
            await receiver.stop()
        }
    }

    @Test func `a destination that the account forbids is refused and not tried again`()
        async throws
    {
        try await World.with(workflows: [Self.patient]) { world in
            let receiver = try Receiver(loop: world.loop)
            let account = World.account(
                port: receiver.port, changes: JSONObject([("allow_private", false)]))
            try await world.withWorker(accounts: ["crm": account]) { worker in
                let started = try Webhook.revenueCat("trial-started", id: "e1", person: "person-1")
                #expect(try await worker.door.post(started).word == "accepted")
                try await Self.untilCompleted(world)
                #expect(try await Self.attempts(world) == ["1 destination_refused"])
                #expect(receiver.arrivals.values.isEmpty)
            }
            await receiver.stop()
        }
    }
}
