internal import CommandLine
internal import Glibc
internal import JSON
internal import Reactor

/// The program `journey-bench`: what can be typed, and which measures run.
enum BenchProgram {
    static let version = "0.1.0"

    static let specification = CommandSpecification(
        name: "journey-bench",
        summary: "measures the product against what PostgreSQL can do on the same machine",
        discussion: """
            Starts a durable PostgreSQL of its own in a temporary folder, and runs a floor and the \
            product in turn. The floor is the least durable work that would do, without the \
            product. Without a verb all measures run. \(Report.caution)
            """,
        examples: [
            .init("journey-bench", "all measures, for some minutes"),
            .init("journey-bench ingest --connections 64 --runs 9", "one measure, more closely"),
            .init("journey-bench --quick", "a few seconds: proves that it works, measures nothing"),
        ],
        options: [
            OptionSpecification("quick", help: "a few seconds in all; its numbers mean nothing"),
            OptionSpecification(
                "seconds", valueName: "N", help: "length of a timed run, 1 to 600; default 5"),
            OptionSpecification(
                "runs", valueName: "N", help: "runs of each contender, 1 to 100; default 5"),
            OptionSpecification(
                "connections", valueName: "LIST",
                help: "senders of webhooks, each 1 to 1000; default 1,16,64,256"),
            OptionSpecification(
                "data", valueName: "DIR",
                help: "existing folder, open to all users, that gets the temporary one; "
                    + "default /var/tmp"),
            OptionSpecification(
                "commit", valueName: "ID", help: "what was built, for the report"),
            OptionSpecification(
                "output", short: "o", valueName: "FORMAT", choices: ["table", "json"],
                help: "how to print"),
        ],
        subcommands: [
            CommandSpecification(
                name: "ingest", summary: "signed webhooks, from socket to durable 200",
                discussion: """
                    The floors are durable inserts of the same bodies into a bare table: 100 rows a \
                    statement on two connections, and one row a statement on as many connections \
                    as there are senders, 64 at most. After each run every 200 must be stored \
                    exactly once, else the exit code is 1.
                    """),
            CommandSpecification(
                name: "turns", summary: "how fast a filled inbox is routed and decided",
                discussion: """
                    The floor claims and deletes as many rows of a bare table, 200 at a time on two \
                    connections.
                    """),
            CommandSpecification(
                name: "features",
                summary: "may this customer use this feature, from socket to answer",
                discussion: """
                    POST /entitled of customers whose accounts are warm. The floor reads the same rows \
                    by their key, as many at once as there are senders, on as many connections as the \
                    service has.
                    """),
            CommandSpecification(name: "all", summary: "every measure"),
        ])

    static func run(words: [String]) -> Int32 {
        // Before any thread starts, so that all of them leave these signals to the watch.
        let signals = SignalWatch([SIGTERM, SIGINT])
        let terminal = Terminal.standard(environment: [:])
        let options: BenchOptions
        do throws(UsageError) {
            let command = try specification.parse(completed(words))
            if terminal.answer(command, of: specification, version: version) {
                return ExitCode.ok.rawValue
            }
            options = try BenchOptions(command)
        } catch {
            terminal.error.write("journey-bench: \(error.sentence)\n")
            return error.exitCode.rawValue
        }
        let world: BenchWorld
        do {
            world = try BenchWorld.make(in: options.folder, signals: signals)
        } catch {
            terminal.error.write("journey-bench: \(error)\n")
            return ExitCode.failed.rawValue
        }
        defer { world.end() }
        return world.loop.runBlocking { await measure(options, world, terminal) }.rawValue
    }

    /// A line that names no verb means all measures.
    private static func completed(_ words: [String]) -> [String] {
        let asks = ["--help", "-h", "--version", "help", "manual", "completion"]
        let verbs = specification.subcommands.map(\.name)
        return words.contains { asks.contains($0) || verbs.contains($0) }
            || words.first.map { !$0.hasPrefix("-") } ?? false ? words : ["all"] + words
    }

    private static func measure(
        _ options: BenchOptions, _ world: BenchWorld, _ terminal: Terminal
    ) async -> ExitCode {
        do {
            try await world.prepare()
            let judge = Judge(options: options) { terminal.error.write($0 + "\n") }
            var report = Report(
                options: options, conditions: try await Conditions.read(world))
            if options.measures.contains(.ingest) {
                report.outcomes += try await IngestMeasure(world: world, options: options)
                    .run(judge)
            }
            if options.measures.contains(.turns) {
                report.outcomes += try await TurnsMeasure(world: world, options: options)
                    .run(judge)
            }
            if options.measures.contains(.features) {
                report.outcomes += try await FeaturesMeasure(world: world, options: options)
                    .run(judge)
            }
            terminal.output.write(options.isJSON ? report.json.text + "\n" : report.text)
            return .ok
        } catch {
            terminal.error.write("journey-bench: \(error)\n")
            return .failed
        }
    }
}

/// Why a measure gives no numbers, with the next step.
struct BenchFailure: Error, Sendable, CustomStringConvertible {
    let description: String
}
