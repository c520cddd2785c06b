import JSON
import Postgres
import TestMaterial
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct PublishTests {
    private let folder = PackageFiles.path("Workflows")

    @Test func `a dry run prints what would change and changes nothing`() async throws {
        try await StoryWorld.with { world in
            let answer = try await world.run("publish", folder, "--dry-run", "-o", "jsonl")
            #expect(answer.code == 0)
            #expect(answer.error.contains("Nothing was published"))
            let rows = try answer.output.split(separator: "\n").map {
                try JSONParser.parse(String($0))
            }
            #expect(rows.map { $0["change"]?.string } == Array(repeating: "new", count: 14))
            let again = try await world.run("publish", folder, "--dry-run")
            #expect(again.output.contains("new"))
        }
    }

    @Test func `nobody to ask means no, a person may agree, a script says yes`() async throws {
        try await StoryWorld.with { world in
            let refused = try await world.run("publish", folder, "--reason", "a test")
            #expect(refused.code == 6)
            #expect(refused.error.contains("--yes"))
            var person = ReplayWorld()
            person.isInteractive = true
            person.answer = "n"
            #expect(
                try await world.run("publish", folder, "--reason", "a test", in: person).code == 6)
            person.answer = "y"
            let agreed = try await world.run("publish", folder, "--reason", "a test", in: person)
            #expect(agreed.code == 0)
            #expect(agreed.error.contains("Publish 14 workflows? [y/N]"))
            #expect(agreed.output.contains("trial-onboarding"))
        }
    }

    @Test func `the same definitions again change nothing and ask nothing`() async throws {
        try await StoryWorld.with { world in
            try await world.publishShipped()
            let again = try await world.run("publish", folder, "--reason", "a test")
            #expect(again.code == 0)
            #expect(again.error.contains("Nothing changes"))
            #expect(again.output.contains("unchanged"))
        }
    }

    @Test func `who and why are kept with the version`() async throws {
        try await StoryWorld.with { world in
            let answer = try await world.run(
                "publish", folder, "--yes", "--reason", "because",
                in: ReplayWorld(environment: ["USER": "ada"]))
            #expect(answer.code == 0)
            let rows = try await world.pool.query(
                SQLStatement("audit", "select who, verb, reason from journey.audit"))
            #expect(try rows.map { try $0.string("who") } == ["ada"])
            #expect(try rows.map { try $0.string("reason") } == ["because"])
        }
    }

    @Test func `a file with an error publishes none of them`() async throws {
        try await StoryWorld.with { world in
            try await TemporaryFolder.with { place in
                let wrong = write(#"{"dsl": 1, "id": "wrong"}"#, to: "wrong.json", in: place)
                let answer = try await world.run(
                    "publish", folder + "/trial-onboarding.json", wrong, "--yes",
                    "--reason", "a test")
                #expect(answer.code == 1)
                #expect(answer.error.contains("wrong.json:1:"))
                #expect(answer.output.isEmpty)
                let dry = try await world.run("publish", folder, "--dry-run")
                #expect(!dry.output.contains("unchanged"))
            }
        }
    }

    @Test func `an account that the configuration lacks is refused`() async throws {
        try await TemporaryFolder.with { place in
            let configuration = write(
                #"{"database": {"url": {"env": "DB"}}, "accounts": {"ops-hock": {"tool": "log"}}}"#,
                to: "config.json", in: place)
            let answer = try await ReplayWorld(environment: ["DB": "host=/nowhere"]).run(
                "--config", configuration, "publish", folder + "/new-subscriber-alert.json",
                "--yes",
                "--reason", "a test")
            #expect(answer.code == 1)
            #expect(answer.error.contains("the account \"ops-hook\""), "\(answer.error)")
        }
    }

    @Test func `an account of another tool is refused`() async throws {
        try await TemporaryFolder.with { place in
            let configuration = write(
                #"{"database": {"url": {"env": "DB"}}, "accounts": {"ops-hook": {"tool": "log"}}}"#,
                to: "config.json", in: place)
            let answer = try await ReplayWorld(environment: ["DB": "host=/nowhere"]).run(
                "--config", configuration, "publish", folder + "/new-subscriber-alert.json",
                "--yes",
                "--reason", "a test")
            #expect(answer.code == 1)
            #expect(answer.error.contains("is one of the tool log, not http"), "\(answer.error)")
        }
    }

    @Test func `a database without tables says how to make them`() async throws {
        try await TestDatabase.withDatabase { conninfo in
            for words in [["publish", folder, "--dry-run"], ["list"], ["customer", "x"]] {
                let answer = try await ReplayWorld().run(["--database", conninfo] + words)
                #expect(answer.code == 1)
                #expect(answer.error.contains("migrate up"), "\(answer.error)")
            }
        }
    }

    @Test(arguments: [[], ["--reason", "  "], ["--reason="]])
    func `nothing is published without a reason`(options: [String]) async throws {
        let answer = try await ReplayWorld().run(["publish", folder, "--yes"] + options)
        #expect(answer.code == 2)
        #expect(answer.error.contains("--reason TEXT"), "\(answer.error)")
    }
}
