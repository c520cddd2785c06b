import CommandLine
import PrivateCluster
import TestMaterial
import TestSupport
import Testing

@testable import journey_replay

@Suite struct BuiltCommandTests {
    @Test func `the built command shows its version and its help`() {
        TemporaryFolder.with { folder in
            let version = BuiltCommand.run(["--version"], in: folder)
            #expect(version.code == 0)
            #expect(version.output == "journey-replay \(ReplayCommand.version)\n")
            let help = BuiltCommand.run(["try", "connector", "--help"], in: folder)
            #expect(help.code == 0)
            #expect(help.output.contains("Examples:"))
        }
    }

    @Test func `the built command tells errors by its status, on standard error only`() {
        TemporaryFolder.with { folder in
            let file = write("{}", to: "a.json", in: folder)
            for (words, code) in [
                ([], 2), (["frobnicate"], 2), (["validate", file], 1), (["list"], 2),
                (["try", "connector", "nobody", "--body", file], 4),
                (["--database", "host=/nowhere", "list"], 1),
            ] as [([String], Int32)] {
                let answer = BuiltCommand.run(words, in: folder)
                #expect(answer.code == code, "\(words): \(answer.error)")
                #expect(!answer.error.isEmpty)
                if code != 1 || words.first != "validate" { #expect(answer.output.isEmpty) }
            }
        }
    }

    @Test func `no password is shown when the database is out of reach`() {
        TemporaryFolder.with { folder in
            let answer = BuiltCommand.run(
                ["list"], in: folder,
                environment: ["DATABASE_URL": "postgresql://me:secret@localhost:1/live"])
            #expect(answer.code == 1)
            #expect(answer.error.contains("database: \"live\" at localhost:1 as me"))
            #expect(!answer.error.contains("secret"))
        }
    }

    @Test func `a change is refused while a cluster runs and DATABASE_URL is set`() throws {
        try TemporaryFolder.with { folder in
            let cluster = try PrivateCluster.start(
                home: folder + "/.journeys", settings: TestCluster.fastSettings)
            defer { cluster.stop() }
            let environment = ["DATABASE_URL": "postgresql://me:secret@localhost:1/live"]
            let words = ["publish", PackageFiles.path("Workflows"), "--yes", "--reason", "a test"]
            let refused = BuiltCommand.run(words, in: folder, environment: environment)
            #expect(refused.code == 6)
            #expect(refused.error.contains("name the one to change"))
            // A look is no change: the cluster is taken, and so it is when it is named.
            for words in [["list"], words + ["--data", ".journeys"]] {
                let answer = BuiltCommand.run(words, in: folder, environment: environment)
                #expect(answer.code == 1)
                #expect(answer.error.contains("from the private cluster under .journeys"))
                #expect(answer.error.contains("\"journeys\" does not exist"), "\(answer.error)")
            }
        }
    }
}
