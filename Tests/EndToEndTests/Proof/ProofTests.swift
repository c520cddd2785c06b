import Configuration
import Glibc
import HTTPClient
import JSON
import Locks
import Postgres
import PrivateCluster
import Reactor
import Settings
import TestModel
import TestSupport
import Testing
import TimeZones

/// The proof that nothing is lost or done twice, whatever dies: `PROOF=long` does all of it, otherwise as
/// much as every change can wait for. The catalog's page `Proof` tells its conditions and numbers.
@Suite(.serialized, .timeLimit(.minutes(ProofScale.current.minutes))) struct ProofTests {
    // S1.1 S1.3 S1.4 S2.1 S2.4 S13.2 S13.4 S13.6 S18.4
    @Test func `whatever dies, nothing is lost, nothing is done twice, and a re-run is the same`()
        async throws
    {
        let scale = ProofScale.current
        try await TemporaryFolder.with { folder in
            // Only a power cut could take what the operating system has: fsync may be off, not commits.
            let cluster = try PrivateCluster.start(
                home: folder + "/cluster",
                settings: [
                    "fsync": "off", "max_connections": "80", "track_commit_timestamp": "on",
                ])
            defer { cluster.stop() }
            try await withEventLoop { loop in
                try await World.with(
                    cluster.connectionString, on: loop,
                    workflows: ProofWorkflows.all(edition: 0)
                ) { world in
                    try await Proof(
                        world: world, cluster: cluster, folder: folder, scale: scale
                    ).run()
                }
            }
        }
    }
}

/// One proof under way.
private struct Proof {
    let world: World
    let cluster: PrivateCluster
    let folder: String
    let scale: ProofScale
    private let sent: Guarded<Sent>
    private let publishKills = Guarded(0)
    /// What waits to be done, as last seen.
    private let backlog = Guarded(0)
    private let receiver: RudeReceiver
    private let fleet: ProofFleet
    private let settings: WorkerSettings

    private struct Sent {
        var deliveries: ProofDeliveries
        /// Deliveries that were answered 200 at least once.
        var count = 0
        var conflicts: Set<String> = []
        /// `connector id` of each.
        var promised: Set<String> = []
        var requests = 0
        var isOver = false
    }

    init(world: World, cluster: PrivateCluster, folder: String, scale: ProofScale) throws {
        self.world = world
        self.cluster = cluster
        self.folder = folder
        self.scale = scale
        receiver = try RudeReceiver(seed: scale.seed)
        sent = Guarded(
            Sent(
                deliveries: try ProofDeliveries(
                    interval: scale.deliveriesForEach, seed: scale.seed,
                    start: systemClock().milliseconds - 2 * 86_400_000)))
        let configuration = world.configuration(
            accounts: [
                "sure": World.account(port: receiver.port),
                "once": World.account(port: receiver.port, idempotent: false),
            ], changes: JSONObject([("log", ["level": "info"])]))
        let path = folder + "/worker.json"
        try Process.write(configuration, to: path)
        settings = try WorkerSettings.read(
            ConfigurationSource(bytes: configuration.bytes, environment: [:]))
        fleet = ProofFleet(folder: folder, configuration: path, scale: scale)
    }

    func run() async throws {
        let started = ContinuousClock.now
        for statement in ProofLedger.statements { try await world.change(statement) }
        let databaseKills = Guarded(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 { group.addTask { try await send() } }
            group.addTask { try await publish() }
            group.addTask { try await look() }
            group.addTask { try await killDatabase(databaseKills) }
            group.addTask { try await tend() }
            try await group.waitForAll()
        }
        let sendingTook = started.duration(to: .now)
        try await settle()
        let codes = try await fleet.drain(world)
        #expect(codes.allSatisfy { $0 == 0 }, "\(codes)")
        receiver.stop()
        try await judge(
            ProofCounts(
                scale: scale, kills: fleet.kills, publishKills: publishKills.withLock { $0 },
                databaseKills: databaseKills.withLock { $0 }, freezes: fleet.freezes,
                sendingTook: sendingTook, tookInAll: started.duration(to: .now)))
    }

    private var isOver: Bool { sent.withLock { $0.isOver } }

    // MARK: The disturbance

    /// However slow the machine is, the proof goes on while anything dies; what waits in vain for a kill
    /// is told by the kills that are missing.
    private func tend() async throws {
        var stall = Stall(limit: scale.patience)
        var told = ContinuousClock.now
        while !isOver {
            try fleet.tend()
            let kills = fleet.kills.values.reduce(publishKills.withLock { $0 }, +)
            let count = sent.withLock { min($0.count, scale.deliveries) }
            if stall.isOver(at: [kills, fleet.freezes, count]) {
                Issue.record("nothing died for \(scale.patience)\n\(fleet.logs)")
                sent.withLock { $0.isOver = true }
            }
            if told.duration(to: .now) > .seconds(60) {
                told = .now
                ProofReport.tell("\(sent.withLock { $0.count }) deliveries, \(kills) kills")
            }
            try await world.loop.sleep(for: .milliseconds(20))
        }
    }

    /// Publishes new versions all the while; every second attempt dies in its midst.
    private func publish() async throws {
        let kills = publishKills
        let place = folder + "/workflows"
        mkdir(place, 0o755)
        var edition = 0
        while !isOver {
            edition += 1
            let dies = edition % 2 == 1 && !hasPublishedEnough
            for workflow in ProofWorkflows.all(edition: edition) {
                try Process.write(workflow, to: "\(place)/\(workflow["id"]?.string ?? "").json")
            }
            let process = try Process(
                [
                    "publish", place, "--yes", "--reason", "edition \(edition)", "--database",
                    cluster.connectionString,
                ], of: "journey-replay", in: folder, name: "publish",
                environment: dies ? ["PROOF_FAIL_POINT": "publish.written"] : [:])
            try await world.until("publish ends", within: .seconds(180)) { process.code != nil }
            // Otherwise the database was away, which is no kill.
            if process.code == -SIGKILL { kills.withLock { $0 += 1 } }
            if process.code == 2 {
                Issue.record("publish: \(process.errors)")
                return
            }
            let pause = Duration.milliseconds(scale.kills > 5 ? 1_500 : 3_000)
            if !isOver { try await world.loop.sleep(for: pause) }
        }
    }

    private var hasPublishedEnough: Bool { publishKills.withLock { $0 } >= scale.kills }

    private func killDatabase(_ kills: Guarded<Int>) async throws {
        let cluster = cluster
        for number in 1...scale.databaseKills {
            let due = Double(number) / Double(scale.databaseKills + 1)
            while progress < due {
                if isOver { return }
                try await world.loop.sleep(for: .milliseconds(50))
            }
            try await Task.detached {
                cluster.kill()
                try cluster.restart()
            }.value
            kills.withLock { $0 += 1 }
        }
    }

    private var progress: Double {
        let count = sent.withLock { $0.count }
        return min(fleet.share, Double(count) / Double(scale.deliveries))
    }

    // MARK: The providers

    /// What is sent faster than it can be done would be done in peace, at the end.
    private static let mostWaiting = 200

    private func look() async throws {
        while !isOver {
            let count = try? await world.count(
                """
                (select count(*) from journey.inbox)
                + (select count(*) from journey.effect_queue where due_at < now())
                """)
            if let count { backlog.withLock { $0 = count } }
            try await world.loop.sleep(for: .milliseconds(100))
        }
    }

    private func send() async throws {
        while true {
            if isOver { return }
            guard backlog.withLock({ $0 }) < Self.mostWaiting else {
                try await world.loop.sleep(for: .milliseconds(20))
                continue
            }
            // Deliveries and kills keep pace with each other.
            let share = hasPublishedEnough ? fleet.share : min(fleet.share, 0.99)
            let delivery: ProofDelivery? = sent.withLock { sent in
                let ahead = Double(sent.count) / Double(scale.deliveries) - share
                if sent.count >= scale.deliveries, share >= 1 { sent.isOver = true }
                if sent.isOver || (ahead > 0.05 && sent.count > 40) { return nil }
                sent.count += 1
                return sent.deliveries.pop()
            }
            if isOver { return }
            guard let delivery else {
                try await world.loop.sleep(for: .milliseconds(10))
                // While kills are wanted there must be work to die at.
                if share < 1, Int.random(in: 0..<12) == 0, let more = oneMore() {
                    try await deliver(more)
                }
                continue
            }
            try await deliver(delivery)
        }
    }

    private func oneMore() -> ProofDelivery? {
        sent.withLock { sent in
            if sent.isOver { return nil }
            sent.count += 1
            return sent.deliveries.pop()
        }
    }

    /// Sends until it is answered 200, as providers do, only sooner.
    private func deliver(_ delivery: ProofDelivery) async throws {
        let end = ContinuousClock.now + scale.patience
        while ContinuousClock.now < end {
            guard let port = fleet.port() else {
                try await world.loop.sleep(for: .milliseconds(20))
                continue
            }
            sent.withLock { $0.requests += 1 }
            let door = Door(http: world.http, port: port)
            do throws(HTTPClientError) {
                let answer =
                    switch delivery.provider {
                    case .revenueCat: try await door.post(delivery.body)
                    case .superwall: try await door.postSigned(delivery.body, id: delivery.id)
                    }
                if answer.status == 200 {
                    sent.withLock { sent in
                        sent.promised.insert("\(delivery.connector) \(delivery.id)")
                        if delivery.isConflict { sent.conflicts.insert(delivery.id) }
                    }
                    return
                }
                #expect(answer.status == 503, "\(answer.status)")
            } catch {
                // It died with the request; the provider sends again.
            }
            try await world.loop.sleep(for: .milliseconds(30))
        }
        throw World.Failure(
            what: "\(delivery.id) was not taken for \(scale.patience)\n\(fleet.logs)")
    }

    // MARK: The end

    /// Leases of processes that died run out after 31 seconds, and every run ends by itself.
    private func settle() async throws {
        fleet.disarm()
        var stall = Stall(limit: scale.patience)
        while true {
            try fleet.tend()
            var left: [Int] = []
            for part in Self.rest {
                left.append((try? await world.count(part)) ?? Int.max)
            }
            if left.dropLast().allSatisfy({ $0 == 0 }), fleet.port() != nil { return }
            if stall.isOver(at: left) { break }
            try await world.loop.sleep(for: .milliseconds(100))
        }
        Issue.record("it did not come to rest\n\(fleet.logs)")
    }

    /// Nothing is left when all but the last, which only shows that something goes on, are 0.
    private static let rest = [
        "select count(*) from journey.inbox", "select count(*) from journey.effect_queue",
        "select count(*) from journey.runs where ended_at is null",
        "select count(*) from journey.timers where due_at < now() + interval '1 minute'",
        "select count(*) from journey.set_aside", "select count(*) from journey.effect_attempts",
    ]

    private func judge(_ counts: ProofCounts) async throws {
        #expect(fleet.failures.isEmpty, "\(fleet.failures.joined(separator: "\n"))")
        let promised = sent.withLock { $0.promised }
        let stored = Set(
            try await world.texts(
                """
                select i.connector || ' ' || i.provider_event_id as value
                from journey.delivery_ids i
                join journey.deliveries d
                    on d.id = i.delivery and d.received_at = i.received_at
                join journey.delivery_bodies b
                    on b.id = d.id and b.received_at = d.received_at
                        and sha256(b.body) = d.body_sha256
                """))
        let lost = promised.subtracting(stored)
        #expect(lost.isEmpty, "answered 200 and not stored: \(lost.sorted().prefix(5))")
        for finding in try await ProofChecks.run(world) { Issue.record("\(finding)") }
        let requests = receiver.requests
        let controls = try await ProofControls(world: world).run()
        for finding in try await ProofChecks.receiver(requests, world).prefix(10) {
            Issue.record("\(finding)")
        }
        let overtaken =
            try await world.texts(ProofLedger.overtaken).first?.split(separator: " ")
            .compactMap { Int($0) } ?? []
        #expect(overtaken.first == 0, "inputs overtaken although visible: \(overtaken)")
        var oracle = try await ProofOracle(
            pool: world.pool, settings: settings)
        let report = try await oracle.compare()
        for difference in report.differences.prefix(5) { Issue.record("\(difference)") }
        #expect(report.differences.isEmpty, "\(report.differences.count) differ from the re-run")
        let verified = try await ProofVerification(
            world: world, folder: folder, database: cluster.connectionString,
            alterations: scale.alterations, seed: scale.seed
        ).run()
        for (point, kills) in counts.allKills {
            #expect(kills >= scale.kills, "\(point) killed \(kills) times of \(scale.kills)")
        }
        #expect(counts.databaseKills >= scale.databaseKills)
        #expect(counts.freezes >= scale.freezes)
        let customers = try await world.count("select count(*) from journey.customers")
        #expect(customers >= scale.customers)
        for (behaviour, least) in RudeReceiver.leastShares where scale.kills > 5 {
            let count = requests.filter { $0.behaviour == behaviour }.count
            #expect(count * 100 >= requests.count * least, "\(behaviour) only \(count) times")
        }
        let words = try await ProofReport(
            counts: counts, oracle: report, requests: requests,
            sent: sent.withLock { ($0.count, $0.requests, $0.promised.count) },
            laterVisible: overtaken.last ?? 0
        ).text(world)
        print(words)
        print("proof: \(controls) questions are answered otherwise where it was done")
        for sentence in verified { print("proof: \(sentence)") }
    }
}
