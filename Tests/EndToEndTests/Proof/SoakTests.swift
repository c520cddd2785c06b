import Glibc
import HTTPClient
import JSON
import Locks
import Postgres
import PrivateCluster
import Reactor
import TestMaterial
import TestModel
import TestSupport
import Testing
import TimeZones

/// Whether memory and dead rows stay where they are under full load: `SOAK=PT15M` says for how long. The
/// catalog's page `Proof` tells its conditions and numbers.
@Suite(.serialized) struct SoakTests {
    static let length = getenv("SOAK").flatMap { try? ISODuration.parse(String(cString: $0)) }

    @Test(
        .enabled(if: length != nil, "SOAK says for how long, such as PT15M"),
        .timeLimit(.minutes(300)))
    func `memory is flat and dead rows are bounded, however long it works`() async throws {
        let length = try #require(Self.length)
        try await TemporaryFolder.with { folder in
            let cluster = try PrivateCluster.start(
                home: folder + "/cluster", settings: ["fsync": "off", "max_connections": "80"])
            defer { cluster.stop() }
            try await withEventLoop { loop in
                try await World.with(
                    cluster.connectionString, on: loop,
                    workflows: ProofWorkflows.all(edition: 0)
                ) { world in
                    try await Soak(world: world, folder: folder, length: length).run()
                }
            }
        }
    }

    @Test(arguments: [
        (0.0, 0.0, true), (0.0, 6.0, true), (0.02, 2.0, true), (0.4, 0.0, false),
        (0.4, 6.0, false),
    ])
    func `what grows by more than a tenth and the slack is not flat`(
        growth: Double, noise: Double, isFlat: Bool
    ) {
        var generator = SeededGenerator(seed: 7)
        var series = SoakSeries(slack: 8)
        for place in 0..<180 {
            let chance = Double.random(in: -noise...noise, using: &generator)
            series.append(60 + growth * Double(place) + chance)
        }
        #expect(series.isFlat == isFlat)
        #expect(abs(series.slope - growth) < 0.05)
    }
}

/// One soak under way.
private struct Soak {
    let world: World
    let folder: String
    let length: Duration
    private let receiver: RudeReceiver
    private let sent: Guarded<Sent>
    private let backlog = Guarded(0)
    private let end: ContinuousClock.Instant

    private struct Sent {
        var deliveries: ProofDeliveries
        var count = 0
    }

    private static let senders = 32
    /// More deliveries wait until these are taken.
    private static let mostWaiting = 1_000
    private static let pause = Duration.seconds(5)
    private static let roles = ["ingest,worker,dispatch", "ingest,worker", "worker,dispatch"]

    init(world: World, folder: String, length: Duration) throws {
        self.world = world
        self.folder = folder
        self.length = length
        receiver = try RudeReceiver(seed: 1)
        sent = Guarded(
            Sent(
                deliveries: try ProofDeliveries(
                    interval: 10, seed: 1, start: systemClock().milliseconds - 2 * 86_400_000)))
        end = .now + length
    }

    func run() async throws {
        let configuration = world.configuration(
            accounts: [
                "sure": World.account(port: receiver.port),
                "once": World.account(port: receiver.port, idempotent: false),
            ], changes: JSONObject([("log", ["level": "info"])]))
        let processes = try Self.roles.map { roles in
            let path = "\(folder)/\(roles).json"
            try Process.write(configuration, to: path)
            return try Process(
                ["serve", "--config", path, "--role", roles], in: folder, name: roles)
        }
        let ports = try await ready(processes.prefix(2))
        var readings = SoakReadings(names: Self.roles)
        try await withThrowingTaskGroup(of: SoakReadings?.self) { group in
            for number in 0..<Self.senders {
                group.addTask {
                    try await send(to: ports[number % ports.count])
                    return nil
                }
            }
            group.addTask { try await read(processes) }
            for try await one in group { if let one { readings = one } }
        }
        try await rest()
        for process in processes { process.signal(SIGTERM) }
        try await world.until("the workers drain", within: .seconds(180)) {
            processes.allSatisfy { $0.code != nil }
        }
        #expect(processes.allSatisfy { $0.code == 0 })
        receiver.stop()
        let deliveries = sent.withLock { $0.count }
        readings.judge(pause: Self.pause)
        for line in readings.lines(pause: Self.pause) { print("soak: \(line)") }
        print(
            "soak: \(deliveries) deliveries, \(receiver.requests.count) requests to the receiver, "
                + "\(try await world.count("select count(*) from journey.runs")) runs in \(length)")
    }

    private func ready(_ processes: ArraySlice<Process>) async throws -> [UInt16] {
        var ports: [UInt16] = []
        for process in processes {
            try await world.until("it is ready", within: .seconds(60)) {
                if let code = process.code {
                    throw World.Failure(what: "ended with \(code): \(process.errors)")
                }
                return process.port("ingest_port") != nil
            }
            ports.append(process.port("ingest_port") ?? 0)
        }
        return ports
    }

    private func send(to port: UInt16) async throws {
        let door = Door(http: world.http, port: port)
        while ContinuousClock.now < end {
            guard backlog.withLock({ $0 }) < Self.mostWaiting else {
                try await world.loop.sleep(for: .milliseconds(20))
                continue
            }
            let delivery = sent.withLock { sent in
                sent.count += 1
                return sent.deliveries.pop()
            }
            let answer =
                switch delivery.provider {
                case .revenueCat: try await door.post(delivery.body)
                case .superwall: try await door.postSigned(delivery.body, id: delivery.id)
                }
            #expect(answer.status == 200, "\(answer.status)")
        }
    }

    private func read(_ processes: [Process]) async throws -> SoakReadings {
        var readings = SoakReadings(names: Self.roles)
        var next = ContinuousClock.now + Self.pause
        while ContinuousClock.now < end {
            let waiting = try await world.count(
                """
                (select count(*) from journey.inbox)
                + (select count(*) from journey.effect_queue where due_at < now())
                """)
            backlog.withLock { $0 = waiting }
            if ContinuousClock.now >= next {
                next += Self.pause
                for (process, roles) in zip(processes, Self.roles) {
                    guard let memory = process.memory else {
                        throw World.Failure(what: "\(roles) ended: \(process.errors)")
                    }
                    readings.take(memory: memory, of: roles)
                }
                for row in try await world.pool.query(SoakReadings.tables) {
                    readings.take(
                        table: try row.string("relname"), dead: Int(try row.int64("dead")),
                        live: Int(try row.int64("live")), churn: Int(try row.int64("churn")),
                        size: Int(try row.int64("size")))
                }
                ProofReport.tell("soak: \(readings.last), \(waiting) waiting")
            }
            try await world.loop.sleep(for: .milliseconds(100))
        }
        return readings
    }

    private func rest() async throws {
        var stall = Stall(limit: .seconds(180))
        while true {
            let left = try await world.count(
                """
                (select count(*) from journey.inbox) + (select count(*) from journey.effect_queue)
                + (select count(*) from journey.runs where ended_at is null)
                """)
            if left == 0 { return }
            if stall.isOver(at: [left]) {
                Issue.record("\(left) are left")
                return
            }
            try await world.loop.sleep(for: .milliseconds(200))
        }
    }
}
