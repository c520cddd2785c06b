/// How a command prints what it found.
package enum OutputFormat: String, Sendable, Hashable, CaseIterable {
    /// Aligned columns for people.
    case table
    /// One JSON array, indented.
    case json
    /// One compact JSON object a line.
    case jsonl
    /// One id a line, for the next command's `-`.
    case ids

    /// The option every listing command has: `-o, --output FORMAT`.
    package static let option = OptionSpecification(
        "output", short: "o", valueName: "FORMAT", choices: allCases.map(\.rawValue),
        help: "how to print")

    /// What the line asks for; `fallback` when it does not say.
    package static func of(
        _ command: ParsedCommand, default fallback: OutputFormat = .table
    ) -> OutputFormat {
        command.option(option.long).flatMap { OutputFormat(rawValue: $0) } ?? fallback
    }
}
