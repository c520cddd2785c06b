import Glibc
import HTTPClient
import JSON
import JourneyStorage
import Postgres
import TestMaterial
import TestModel
import TestSupport
import Testing

/// The schema moves on while workers serve, and migrations that die half way.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UpgradeTests {
    /// What a program one or two releases newer brings.
    private static func newer(_ steps: Int) -> Migrator {
        let next = JourneySchema.migrations.last?.version ?? 0
        let all = [
            Migration(
                version: next + 1, name: "tomorrow",
                sql: """
                    alter table journey.deliveries add column tomorrow text;
                    alter table journey.customers add column tomorrow text not null default 'x';
                    alter table journey.effect_queue add column tomorrow integer;
                    create table journey.tomorrow (id bigint primary key);
                    """),
            Migration(
                version: next + 2, name: "the_day_after", sql: "drop table journey.tomorrow"),
        ]
        return Migrator(migrations: JourneySchema.migrations + all.prefix(steps))
    }

    private static func serve(
        _ world: World, in folder: String, _ name: String, accounts: JSONValue
    ) async throws -> Process {
        let path = "\(folder)/\(name).json"
        try Process.write(world.configuration(accounts: accounts), to: path)
        return try Process(["serve", "--config", path], in: folder, name: name)
    }

    private static func ready(_ process: Process, _ world: World) async throws -> (
        door: Door, admin: String
    ) {
        try await world.until("it is ready") {
            if let code = process.code {
                throw World.Failure(what: "ended with \(code): \(process.errors)")
            }
            return process.port("ingest_port") != nil
        }
        return (
            Door(http: world.http, port: process.port("ingest_port") ?? 0),
            "http://127.0.0.1:\(process.port("admin_port") ?? 0)"
        )
    }

    @Test func `a newer program's migration runs while older workers serve, and they go on`()
        async throws
    {
        try await World.with(workflows: [Definitions.tell()]) { world in
            try await TemporaryFolder.with { folder in
                let receiver = try Receiver(loop: world.loop)
                let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
                let processes = [
                    try await Self.serve(world, in: folder, "first", accounts: accounts),
                    try await Self.serve(world, in: folder, "second", accounts: accounts),
                ]
                let first = try await Self.ready(processes[0], world)
                let second = try await Self.ready(processes[1], world)
                let total = 240
                let accepted = TestSignal<Void>()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<8 {
                        group.addTask {
                            for number in stride(from: lane, to: total, by: 8) {
                                let door = number % 2 == 0 ? first.door : second.door
                                let body = try Webhook.revenueCat(
                                    "trial-started", id: "u\(number)",
                                    person: "person-\(number % 30)")
                                #expect(try await door.post(body).status == 200)
                                accepted.send(())
                            }
                        }
                    }
                    group.addTask {
                        _ = await accepted.wait(for: total / 4)
                        let settings = PostgresSettings(connectionString: world.conninfo)
                        try await Self.newer(1).up(settings, on: world.loop)
                    }
                    try await group.waitForAll()
                }
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: total)
                try await world.untilQuiet()
                #expect(try await world.count("select count(*) from journey.set_aside") == 0)
                #expect(Set(receiver.arrivals.values.map(\.key)).count == total)
                for admin in [first.admin, second.admin] {
                    #expect(try await world.get(admin + "/readyz").status == 200)
                }
                // One step behind may also be started; two steps behind may not, and says so.
                let third = try await Self.serve(world, in: folder, "third", accounts: accounts)
                _ = try await Self.ready(third, world)
                try await Self.newer(2).up(
                    PostgresSettings(connectionString: world.conninfo), on: world.loop)
                try await world.until("the old workers say that they are too old") {
                    try await world.get(first.admin + "/readyz").status == 503
                }
                let fourth = try await Self.serve(world, in: folder, "fourth", accounts: accounts)
                try await world.until("it refuses") { fourth.code != nil }
                #expect(fourth.code == 1)
                #expect(fourth.errors.contains("run the newer program"))
                for process in processes + [third] {
                    process.signal(SIGTERM)
                    try await world.until("it drains") { process.code != nil }
                    #expect(process.code == 0)
                }
                await receiver.stop()
            }
        }
    }

    @Test func `a migration killed in its midst leaves the step before, and goes on from there`()
        async throws
    {
        let scale = ProofScale.current
        try await World.with { world in
            try await TemporaryFolder.with { folder in
                let shape = """
                    select table_name || ' ' || column_name || ' ' || data_type as value
                    from information_schema.columns where table_schema = 'journey'
                    union all
                    select indexdef from pg_indexes where schemaname = 'journey'
                    union all
                    select oid::regprocedure::text from pg_proc
                    where pronamespace = 'journey'::regnamespace
                    order by 1
                    """
                let whole = try await world.texts(shape)
                let path = folder + "/config.json"
                try Process.write(world.configuration(), to: path)
                func migrate(dyingAt nth: Int?) async throws -> Process {
                    let process = try Process(
                        ["migrate", "up", "--config", path], in: folder,
                        environment: nth.map { ["PROOF_FAIL_POINT": "migrate.changed:\($0)"] }
                            ?? [:])
                    try await world.until("migrate ends", within: .seconds(60)) {
                        process.code != nil
                    }
                    return process
                }
                var kills = 0
                var generator = SeededGenerator(seed: scale.seed)
                while kills < scale.migrationKills {
                    try await world.change("drop schema journey cascade")
                    var applied = 0
                    while applied < JourneySchema.migrations.count, kills < scale.migrationKills {
                        let nth = Int.random(in: 1...3, using: &generator)
                        let process = try await migrate(dyingAt: nth)
                        guard process.code == -SIGKILL else { break }
                        kills += 1
                        // The schema itself is there from the first step on.
                        let now = try await world.count(
                            "(select count(*) from journey.migrations)")
                        #expect(now == applied + nth - 1)
                        applied = now
                    }
                    #expect(try await migrate(dyingAt: nil).code == 0)
                    #expect(try await world.texts(shape) == whole)
                }
                print("proof: SIGKILLs: migrate.changed \(kills)")
            }
        }
    }
}
