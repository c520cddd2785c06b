internal import CommandLine
internal import Connectors
internal import HTTPServer
internal import JSON
internal import JourneyStorage
internal import Postgres
internal import Reactor
internal import Settings
internal import TimeZones

/// `connectors`, `providers`, `check-config`: they look and change nothing.
struct ListCommands {
    let context: CommandContext

    func connectors() -> ExitCode {
        guard let settings = context.readSettings() else { return .usage }
        var activities: [ConnectorActivityStore.Activity] = []
        let asks = context.command.flag("deliveries")
        if asks {
            let (answer, problem) = readActivities(settings)
            if let problem {
                context.fail(problem)
                return .failed
            }
            activities = answer
        }
        var table = Table(
            columns: [
                Table.Column("NAME", key: "name"), Table.Column("PROVIDER", key: "provider"),
                Table.Column("PATH", key: "path"),
                Table.Column("UNKNOWN ENVIRONMENT", key: "unknown_environment"),
                Table.Column("MAPPING", key: "mapping_version"),
            ], idKey: "name")
        if asks {
            table.columns += [
                Table.Column("LAST DELIVERY", key: "last_delivery"),
                Table.Column("DELIVERS", key: "delivers"),
            ]
        }
        table.rows = settings.connectors.values.sorted { $0.name < $1.name }.map { connector in
            let activity = activities.first { $0.connector == connector.name }
            var row = JSONObject([
                ("name", .string(connector.name)), ("provider", .string(connector.provider.name)),
                ("path", .string("/v1/webhooks/\(connector.name)")),
                ("unknown_environment", .string(connector.unknownEnvironment)),
                ("app", connector.app.map { .string($0) } ?? .null),
                ("mapping_version", .string(connector.provider.mappingVersion)),
            ])
            if asks {
                row["last_delivery"] = activity.map { .string($0.lastAt.description) } ?? .null
                row["delivers"] =
                    activity.map { $0.isSilent ? "silent" : "yes" } ?? "never did"
            }
            return .object(row)
        }
        return write(table)
    }

    private func readActivities(
        _ settings: WorkerSettings
    ) -> ([ConnectorActivityStore.Activity], problem: String?) {
        let loop = EventLoop()
        return loop.runBlocking {
            let pool = PostgresPool(
                settings: settings.database.postgres(applicationName: "journey-worker connectors"),
                size: 2, loop: loop)
            let answer: ([ConnectorActivityStore.Activity], problem: String?)
            do throws(PostgresError) {
                answer = (try await ConnectorActivityStore(pool: pool).activities(), nil)
            } catch {
                answer = ([], "the database cannot be asked: \(error)")
            }
            await pool.close()
            return answer
        }
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
                + "\(settings.accounts.count) accounts.\n"
                + "Feature access is read from \(settings.features.url == nil ? "the worker's own database" : "features.url"); "
                + "where there is no view features.access, features are unknown.\n")
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
