import Glibc
import HTTPClient
import HTTPServer
import JSON
import JourneyStorage
import Postgres
import TestSupport
import Testing

/// The built program: signals, exit codes, several of it at once.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ProcessTests {
    /// Starts `serve` and waits until it is ready.
    private static func serve(
        _ world: World, in folder: String, name: String = "worker", accounts: JSONValue = [:],
        changes: JSONObject = JSONObject(), _ words: [String] = []
    ) async throws -> (process: Process, door: Door) {
        let path = "\(folder)/\(name).json"
        try Process.write(world.configuration(accounts: accounts, changes: changes), to: path)
        let process = try Process(["serve", "--config", path] + words, in: folder, name: name)
        try await world.until("\(name) is ready") {
            if let code = process.code {
                throw World.Failure(what: "ended with \(code): \(process.errors)")
            }
            return process.port("ingest_port") != nil
        }
        return (process, Door(http: world.http, port: process.port("ingest_port") ?? 0))
    }

    private static func end(_ process: Process, _ world: World) async throws -> Int32? {
        try await world.until("the process ends") { process.code != nil }
        Secrets.expectNone(in: process.errors.split(separator: "\n").map(String.init))
        Secrets.expectNone(in: process.output.split(separator: "\n").map(String.init))
        return process.code
    }

    // S13.1 S13.4
    @Test func `a worker killed in an attempt is made up for, under the same key`() async throws {
        try await World.with(workflows: [Definitions.tell()]) { world in
            try await TemporaryFolder.with { folder in
                let hold = TestSignal<Void>()
                let receiver = try Receiver(loop: world.loop) { number in
                    if number == 1 { _ = await hold.wait() }
                    return .json(200, Receiver.answer)
                }
                let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
                let first = try await Self.serve(world, in: folder, accounts: accounts)
                let started = try Webhook.revenueCat("trial-started", id: "k1", person: "person-1")
                #expect(try await first.door.post(started).word == "accepted")
                _ = await receiver.arrivals.wait()
                first.process.signal(SIGKILL)
                #expect(try await Self.end(first.process, world) == -SIGKILL)
                hold.send(())
                // The lease runs out earlier than the account's patience would have it.
                try await world.change(
                    "update journey.effect_queue set lease_until = now(), due_at = now()")
                let second = try await Self.serve(
                    world, in: folder, name: "second", accounts: accounts)
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 1)
                let requests = receiver.arrivals.values
                #expect(requests.count == 2)
                #expect(Set(requests.map(\.key)).count == 1)
                #expect(
                    try await world.texts(
                        """
                        select number || ' ' || outcome || ' ' || ambiguous as value
                        from journey.effect_attempts order by fence
                        """) == ["1 lease_lost true", "2 succeeded false"])
                second.process.signal(SIGTERM)
                #expect(try await Self.end(second.process, world) == 0)
                await receiver.stop()
            }
        }
    }

    @Test func `SIGTERM lets the attempt under way end, and the exit code is 0`() async throws {
        try await World.with(workflows: [Definitions.tell()]) { world in
            try await TemporaryFolder.with { folder in
                let hold = TestSignal<Void>()
                let receiver = try Receiver(loop: world.loop) { _ in
                    _ = await hold.wait()
                    return .json(200, Receiver.answer)
                }
                let (process, door) = try await Self.serve(
                    world, in: folder, accounts: ["crm": World.account(port: receiver.port)])
                let started = try Webhook.revenueCat("trial-started", id: "t1", person: "person-1")
                #expect(try await door.post(started).word == "accepted")
                _ = await receiver.arrivals.wait()
                process.signal(SIGTERM)
                try await world.until("it drains") { process.errors.contains("\"draining\"") }
                #expect(process.code == nil)
                hold.send(())
                #expect(try await Self.end(process, world) == 0)
                #expect(process.errors.contains("\"drained\""))
                #expect(try await world.effects() == ["tell succeeded"])
                #expect(receiver.arrivals.values.count == 1)
                await receiver.stop()
            }
        }
    }

    @Test func `a second SIGTERM stops at once, and nothing is lost`() async throws {
        try await World.with(workflows: [Definitions.tell()]) { world in
            try await TemporaryFolder.with { folder in
                let hold = TestSignal<Void>()
                let receiver = try Receiver(loop: world.loop) { number in
                    if number == 1 { _ = await hold.wait() }
                    return .json(200, Receiver.answer)
                }
                let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
                let first = try await Self.serve(world, in: folder, accounts: accounts)
                let started = try Webhook.revenueCat("trial-started", id: "t1", person: "person-1")
                #expect(try await first.door.post(started).word == "accepted")
                _ = await receiver.arrivals.wait()
                first.process.signal(SIGTERM)
                try await world.until("it drains") { first.process.errors.contains("\"draining\"") }
                first.process.signal(SIGTERM)
                #expect(try await Self.end(first.process, world) == 0)
                #expect(!first.process.errors.contains("\"drained\""))
                hold.send(())
                // What it had in hand is another's once its lease has run out.
                try await world.change(
                    "update journey.effect_queue set lease_until = now(), due_at = now()")
                let second = try await Self.serve(
                    world, in: folder, name: "second", accounts: accounts)
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 1)
                #expect(receiver.arrivals.values.count == 2)
                #expect(Set(receiver.arrivals.values.map(\.key)).count == 1)
                second.process.signal(SIGTERM)
                #expect(try await Self.end(second.process, world) == 0)
                await receiver.stop()
            }
        }
    }

    @Test func `what SIGTERM meets in flight is handed back when the grace is over`() async throws {
        try await World.with(workflows: [Definitions.tell()]) { world in
            try await TemporaryFolder.with { folder in
                let hold = TestSignal<Void>()
                let receiver = try Receiver(loop: world.loop) { number in
                    if number == 1 { _ = await hold.wait() }
                    return .json(200, Receiver.answer)
                }
                let accounts: JSONValue = [
                    "crm": World.account(
                        port: receiver.port, changes: JSONObject([("concurrency", 1)]))
                ]
                let first = try await Self.serve(
                    world, in: folder, accounts: accounts,
                    changes: JSONObject([("shutdown", ["grace": "PT1S"])]))
                // The second waits behind the first: its account has one attempt at a time.
                for number in 1...2 {
                    let started = try Webhook.revenueCat(
                        "trial-started", id: "h\(number)", person: "person-\(number)")
                    #expect(try await first.door.post(started).word == "accepted")
                }
                _ = await receiver.arrivals.wait()
                try await world.until("select count(*) from journey.effect_queue", is: 2)
                first.process.signal(SIGTERM)
                #expect(try await Self.end(first.process, world) == 0)
                #expect(
                    try await world.count(
                        """
                        select count(*) from journey.effect_queue where lease_until is null
                        """) == 2)
                #expect(
                    try await world.texts(
                        """
                        select outcome || ' ' || ambiguous as value from journey.effect_attempts
                        """) == ["interrupted true"])
                hold.send(())
                let second = try await Self.serve(
                    world, in: folder, name: "second", accounts: accounts)
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 2)
                #expect(receiver.arrivals.values.count == 3)
                #expect(Set(receiver.arrivals.values.map(\.key)).count == 2)
                second.process.signal(SIGTERM)
                #expect(try await Self.end(second.process, world) == 0)
                await receiver.stop()
            }
        }
    }

    @Test func `effects that are held go out once a process does not hold them`() async throws {
        try await World.with(workflows: [Definitions.tell()]) { world in
            try await TemporaryFolder.with { folder in
                let receiver = try Receiver(loop: world.loop)
                let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
                let holding = try await Self.serve(
                    world, in: folder, accounts: accounts, ["--hold-effects"])
                let started = try Webhook.revenueCat("trial-started", id: "e1", person: "person-1")
                #expect(try await holding.door.post(started).word == "accepted")
                try await world.until("select count(*) from journey.effect_queue", is: 1)
                let admin = "http://127.0.0.1:\(holding.process.port("admin_port") ?? 0)"
                #expect(
                    try await world.get(admin + "/readyz").text == "ready, effects are held\n")
                #expect(
                    try await world.get(admin + "/metrics").text.contains("journey_effects_held 1"))
                holding.process.signal(SIGTERM)
                #expect(try await Self.end(holding.process, world) == 0)
                #expect(receiver.arrivals.values.isEmpty)
                #expect(
                    try await world.count("select count(*) from journey.effect_attempts") == 0)
                let sending = try await Self.serve(
                    world, in: folder, name: "sending", accounts: accounts)
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 1)
                #expect(receiver.arrivals.values.count == 1)
                sending.process.signal(SIGTERM)
                #expect(try await Self.end(sending.process, world) == 0)
                await receiver.stop()
            }
        }
    }

    // S1.3
    @Test func `two workers side by side take no input twice`() async throws {
        try await World.with(workflows: [Definitions.tell()]) { world in
            try await TemporaryFolder.with { folder in
                let receiver = try Receiver(loop: world.loop)
                let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
                let first = try await Self.serve(world, in: folder, accounts: accounts)
                let second = try await Self.serve(
                    world, in: folder, name: "second", accounts: accounts)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<200 {
                        let door = number % 2 == 0 ? first.door : second.door
                        group.addTask {
                            let body = try Webhook.revenueCat(
                                "trial-started", id: "w\(number)", person: "person-\(number % 20)")
                            return try await door.post(body).status
                        }
                    }
                    for try await status in group { #expect(status == 200) }
                }
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 200)
                try await world.untilQuiet()
                #expect(try await world.count("select count(*) from journey.events") == 200)
                // Each event and each effect's result, once.
                #expect(
                    try await world.count("select sum(inputs_taken) from journey.customers") == 400)
                #expect(receiver.arrivals.values.count == 200)
                #expect(Set(receiver.arrivals.values.map(\.key)).count == 200)
                for process in [first.process, second.process] {
                    process.signal(SIGTERM)
                    #expect(try await Self.end(process, world) == 0)
                }
                await receiver.stop()
            }
        }
    }

    @Test(arguments: [["serve"], ["check-config"], ["migrate", "up"], ["connectors"]])
    func `a wrong configuration is told whole, and the exit code is 2`(
        verb: [String]
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: JourneySchema.migrator) {
            settings, loop in
            try await World.with(settings.connectionString, on: loop) { world in
                try await TemporaryFolder.with { folder in
                    let path = folder + "/bad.json"
                    try Process.write(
                        [
                            "database": ["url": ["env": "NOT_THERE"], "pool": 0], "wroker": [:],
                            "connectors": ["c": ["provider": "nobody"]],
                        ], to: path)
                    let process = try Process(verb + ["--config", path], in: folder)
                    #expect(try await Self.end(process, world) == 2)
                    for part in [
                        "/database/url", "NOT_THERE", "/database/pool", "/wroker", "worker",
                        "/connectors/c/provider",
                    ] {
                        #expect(process.errors.contains(part), "\(part) in \(process.errors)")
                    }
                    let absent = try Process(
                        verb + ["--config", "/nowhere.json"], in: folder, name: "absent")
                    #expect(try await Self.end(absent, world) == 2)
                }
            }
        }
    }

    @Test func `a database without the schema is refused, and migrate brings it forward`()
        async throws
    {
        try await TestDatabase.withDatabaseAndLoop(migrated: JourneySchema.migrator) {
            settings, loop in
            try await World.with(settings.connectionString, on: loop) { world in
                try await world.change("drop schema journey cascade")
                try await TemporaryFolder.with { folder in
                    let path = folder + "/config.json"
                    try Process.write(world.configuration(), to: path)
                    func run(_ words: [String]) async throws -> Process {
                        let process = try Process(words + ["--config", path], in: folder)
                        try await world.until("\(words) ends") { process.code != nil }
                        return process
                    }
                    let refused = try await run(["serve"])
                    #expect(refused.code == 1)
                    #expect(refused.errors.contains("run journey-worker migrate up"))
                    let plan = try await run(["migrate", "plan"])
                    #expect(plan.code == 0)
                    #expect(plan.output.contains("create table journey.inbox"))
                    let before = try await run(["migrate", "status"])
                    #expect(before.output.contains("version 0 of"))
                    #expect(before.output.contains("pending: 1 definitions"))
                    let up = try await run(["migrate", "up"])
                    #expect(up.code == 0)
                    #expect(up.output.contains("Applied 1 definitions."))
                    let again = try await run(["migrate", "up"])
                    #expect(again.output == "The schema is up to date.\n")
                    let after = try await run(["migrate", "status"])
                    #expect(after.output.contains("nothing is pending"))
                    let nothing = try await run(["migrate", "plan"])
                    #expect(nothing.output == "-- Nothing is pending.\n")
                    let served = try await Self.serve(world, in: folder)
                    served.process.signal(SIGINT)
                    #expect(try await Self.end(served.process, world) == 0)
                }
            }
        }
    }

    @Test func `SIGHUP reads the connectors again, and a wrong file changes nothing`()
        async throws
    {
        try await World.with { world in
            try await TemporaryFolder.with { folder in
                let (process, door) = try await Self.serve(world, in: folder)
                let path = folder + "/worker.json"
                let body = try Webhook.fixture("revenuecat/trial-started")
                try Process.write(["nonsense": 1], to: path)
                process.signal(SIGHUP)
                try await world.until("it refuses") { process.errors.contains("the old one stays") }
                #expect(try await door.post(body).status == 200)
                try Process.write(
                    world.configuration(changes: JSONObject([("connectors", [:])])), to: path)
                process.signal(SIGHUP)
                try await world.until("the connector is gone") {
                    try await door.post(body).status == 404
                }
                process.signal(SIGTERM)
                #expect(try await Self.end(process, world) == 0)
            }
        }
    }
}
