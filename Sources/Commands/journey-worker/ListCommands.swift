internal import CommandLine
internal import Connectors
internal import JSON
internal import Settings

/// `connectors`, `providers`, `check-config`: they look and change nothing.
struct ListCommands {
    let context: CommandContext

    func connectors() -> ExitCode {
        guard let settings = context.readSettings() else { return .usage }
        var table = Table(
            columns: [
                Table.Column("NAME", key: "name"), Table.Column("PROVIDER", key: "provider"),
                Table.Column("PATH", key: "path"),
                Table.Column("UNKNOWN ENVIRONMENT", key: "unknown_environment"),
                Table.Column("MAPPING", key: "mapping_version"),
            ], idKey: "name")
        table.rows = settings.connectors.values.sorted { $0.name < $1.name }.map { connector in
            [
                "name": .string(connector.name), "provider": .string(connector.provider.name),
                "path": .string("/v1/webhooks/\(connector.name)"),
                "unknown_environment": .string(connector.unknownEnvironment),
                "app": connector.app.map { .string($0) } ?? .null,
                "mapping_version": .string(connector.provider.mappingVersion),
            ]
        }
        return write(table)
    }

    func providers() -> ExitCode {
        if let name = context.command.option("print") {
            guard let provider = ProviderDefinition.shipped(named: name) else {
                let known = ProviderDefinition.shipped.map(\.name)
                let near = Spelling.nearestWord(to: name, among: known)
                context.fail(
                    "there is no provider \"\(name)\""
                        + (near.map { "; did you mean \"\($0)\"?" }
                            ?? "; journey-worker providers lists them"))
                return .notFound
            }
            context.terminal.output.write(provider.source.pretty + "\n")
            return .ok
        }
        var table = Table(
            columns: [
                Table.Column("NAME", key: "name"), Table.Column("TITLE", key: "title"),
                Table.Column("SCHEMES", key: "schemes"),
                Table.Column("MAPPING", key: "mapping_version"),
            ], idKey: "name")
        table.rows = ProviderDefinition.shipped.map { provider in
            [
                "name": .string(provider.name), "title": .string(provider.title),
                "schemes": .string(provider.schemes.map(\.rawValue).joined(separator: ", ")),
                "mapping_version": .string(provider.mappingVersion),
            ]
        }
        return write(table)
    }

    func checkConfig() -> ExitCode {
        guard let settings = context.readSettings() else { return .usage }
        context.terminal.output.write(
            "The configuration is usable: \(settings.connectors.count) connectors, "
                + "\(settings.accounts.count) accounts.\n")
        return .ok
    }

    private func write(_ table: Table) -> ExitCode {
        context.terminal.output.write(table.text(.of(context.command)))
        return .ok
    }
}
