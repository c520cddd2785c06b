internal import CommandLine
internal import Connectors
internal import HTTPServer
internal import JSON
internal import Reactor
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
        var known = ProviderDefinition.shipped
        // Those of a configuration are listed too, where one is named.
        if context.command.option("config") != nil {
            guard let settings = context.readSettings() else { return .usage }
            known = settings.providers
        }
        if let name = context.command.option("print") {
            guard let provider = known.first(where: { $0.name == name }) else {
                let known = known.map(\.name)
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
        table.rows = known.map { provider in
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
        if let problem = tlsProblem(settings.listen) {
            context.fail(problem)
            return .usage
        }
        context.terminal.output.write(
            "The configuration is usable: \(settings.connectors.count) connectors, "
                + "\(settings.accounts.count) accounts.\n")
        return .ok
    }

    /// Why the certificate and its key cannot be used; nil where they can, or none are named. Ports are not
    /// tried: a worker that runs beside this command holds them.
    private func tlsProblem(_ listen: ListenSettings) -> String? {
        guard let certificate = listen.certificateFile, let key = listen.keyFile else { return nil }
        let listener = HTTPListener(
            loop: EventLoop(), address: listen.ingest,
            tls: HTTPTLS(certificateFile: certificate, keyFile: key)
        ) { _ in HTTPResponse.text(503, "") }
        do throws(HTTPServerError) {
            try listener.reloadTLS()
            return nil
        } catch {
            return "listen.tls: \(error)"
        }
    }

    private func write(_ table: Table) -> ExitCode {
        context.terminal.output.write(table.text(.of(context.command)))
        return .ok
    }
}
