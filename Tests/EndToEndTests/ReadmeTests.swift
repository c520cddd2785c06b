import Glibc
import JSON
import TestMaterial
import TestSupport
import Testing

/// The README is true: its commands run, its workflow is the tested one, its links lead somewhere.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ReadmeTests {
    let lines: [String]

    init() throws {
        let bytes = try #require(Conformance.bytes(of: Webhook.root + "/README.md"))
        lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The lines of fenced blocks, by what stands after the fence.
    private func blocks(_ language: String) -> [[String]] {
        var blocks: [[String]] = []
        var open: (language: String, lines: [String])?
        for line in lines {
            if let block = open {
                if line != "```" {
                    open?.lines.append(line)
                    continue
                }
                if block.language == language { blocks.append(block.lines) }
                open = nil
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            }
        }
        return blocks
    }

    /// Every command line: what begins with `./` or `swift run`, without its comment.
    private var commands: [[String]] {
        blocks("").joined().map { line in
            line.split(separator: "#").first.map(String.init) ?? ""
        }
        .filter { $0.hasPrefix("./") || $0.hasPrefix("swift ") }
        .map { $0.split(separator: " ").map(String.init) }
    }

    @Test func `the workflow shown is the one that is tested`() throws {
        let shown = try #require(blocks("json").first).joined(separator: "\n")
        let path = Webhook.root + "/Tests/Fixtures/workflows/readme-example.json"
        let tested = try #require(Conformance.bytes(of: path))
        #expect(try JSONParser.parse(shown) == JSONParser.parse(tested))
    }

    @Test func `every link leads to something`() {
        for line in lines {
            for part in line.split(separator: "](").dropFirst() {
                let target = part.prefix { $0 != ")" }
                #expect(access(Webhook.root + "/" + target, F_OK) == 0, "\(target)")
            }
        }
    }

    @Test func `the two scripts are there, and the second runs the first`() throws {
        let scripts = commands.filter { $0.first?.hasPrefix("./") == true }.map { $0[0] }
        #expect(scripts == ["./deploy/quickstart", "./deploy/test"])
        for script in scripts { #expect(access(Webhook.root + "/" + script, X_OK) == 0) }
        let test = try #require(Conformance.bytes(of: Webhook.root + "/deploy/test"))
        #expect(String(decoding: test, as: UTF8.self).contains("    ./deploy/quickstart\n"))
    }

    /// `swift run` only builds first; the built programs are run here, against a `dev` of the test's own.
    @Test func `every command ends as a reader would hope`() async throws {
        let programs = commands.filter { $0.starts(with: ["swift", "run"]) }.map {
            Array($0.dropFirst(2))
        }
        #expect(programs.count >= 8)
        #expect(programs.contains(["journey-worker", "dev"]))
        try await World.with { world in
            try await TemporaryFolder.with { folder in
                let data = folder + "/data"
                let dev = try Process(
                    [
                        "dev", "--data", data, "--ingest", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                        "--ready-file", folder + "/ready.json",
                    ], in: folder, home: Webhook.root)
                try await world.until("dev is ready") {
                    dev.code != nil || access(folder + "/ready.json", F_OK) == 0
                }
                try #require(dev.code == nil, "\(dev.errors)")
                try await post(world, folder)
                for (number, words) in programs.enumerated() where words[0] == "journey-replay" {
                    let process = try Process(
                        words.dropFirst() + ["--data", data], of: words[0], in: folder,
                        home: Webhook.root, name: "command-\(number)")
                    try await world.until("\(words) ends") { process.code != nil }
                    #expect(process.code == 0, "\(words): \(process.errors)")
                    #expect(
                        !(process.output + process.errors).isEmpty, "\(words) printed nothing")
                }
                dev.signal(SIGTERM)
                try await world.until("dev ends") { dev.code != nil }
                #expect(dev.code == 0)
            }
        }
    }

    private func post(_ world: World, _ folder: String) async throws {
        let ready = try JSONParser.parse(
            try #require(Conformance.bytes(of: folder + "/ready.json")))
        let url = try #require(ready["webhooks_url"]?.string)
        let port = url.split(separator: ":").last?.split(separator: "/").first
        let door = Door(http: world.http, port: port.flatMap { UInt16($0) } ?? 0)
        let secret = try #require(ready["revenuecat_authorization"]?.string)
        let body = try Webhook.fixture("revenuecat/trial-started").bytes
        #expect(try await door.post(body, authorization: [secret]).word == "accepted")
    }
}
