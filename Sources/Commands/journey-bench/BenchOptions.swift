internal import CommandLine

/// What the command line asks for.
struct BenchOptions: Sendable {
    enum Measure: String, Sendable, CaseIterable {
        case ingest, turns, features
    }

    var measures: [Measure]
    var isQuick: Bool
    var isJSON: Bool
    /// Of one timed run.
    var duration: Duration
    /// Before the first timed run of each contender.
    var warmUp: Duration
    var runs: Int
    var connections: [Int]
    /// Deliveries of one run of turns, and the customers they are spread over.
    var deliveries: Int
    var customers: Int
    /// The temporary folder is made in it.
    var folder: String
    var commit: String?

    init(_ command: ParsedCommand) throws(UsageError) {
        let verb = command.path.last ?? "all"
        measures = Measure(rawValue: verb).map { [$0] } ?? Measure.allCases
        isQuick = command.flag("quick")
        isJSON = command.option("output") == "json"
        let seconds = try command.integer("seconds", in: 1...600)
        duration = seconds.map { .seconds($0) } ?? (isQuick ? .milliseconds(250) : .seconds(5))
        warmUp = isQuick ? .milliseconds(50) : .seconds(1)
        runs = try command.integer("runs", in: 1...100) ?? (isQuick ? 1 : 5)
        connections = try Self.connections(command) ?? (isQuick ? [4] : [1, 16, 64, 256])
        deliveries = isQuick ? 400 : 20_000
        customers = deliveries / 4
        folder = command.option("data") ?? "/var/tmp"
        commit = command.option("commit")
    }

    private static func connections(_ command: ParsedCommand) throws(UsageError) -> [Int]? {
        guard let text = command.option("connections") else { return nil }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            Int(word).flatMap { (1...1_000).contains($0) ? $0 : nil }
        }
        guard numbers.count <= 20, !numbers.contains(nil) else {
            throw UsageError(
                path: command.path,
                "--connections needs up to 20 numbers from 1 to 1000, split by commas, not "
                    + "\"\(text.prefix(64))\".")
        }
        return numbers.compactMap { $0 }
    }
}
