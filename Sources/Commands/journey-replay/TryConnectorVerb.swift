internal import CommandLine
internal import Configuration
internal import Connectors
internal import JSON
internal import JourneyModel
internal import Settings
internal import TimeZones

extension ReplayCall {
    func tryConnector() throws {
        guard let name = parsed.argument("NAME") else { return }
        if let batch = parsed.option("batch") { return try tryConnectors(name, batch) }
        let body = try BoundedFile.read(try required("body"), limit: Self.longestBody)
        let headers = try parsed.option("headers").map { try readHeaders($0) }
        let (connector, authenticates) = try connectorToTry(name, hasHeaders: headers != nil)
        let trial = DeliveryTrial(
            connector: connector, authenticates: authenticates, headers: headers ?? [],
            body: body, at: try instant())
        terminal.output.writeLine(trial.result.pretty)
    }

    /// What a request may hold at most by default; a longer one would be answered 413.
    private static let longestBody = 1_048_576

    /// The connector that the words name, and whether there is anything to authenticate with.
    private func connectorToTry(
        _ name: String, hasHeaders: Bool
    ) throws -> (Connector, authenticates: Bool) {
        let secret = parsed.option("secret")
        let configured = try configuredConnector(name)
        if let configured, secret == nil { return (configured, hasHeaders) }
        guard let provider = configured?.provider ?? ProviderDefinition.shipped(named: name) else {
            let known = ProviderDefinition.shipped.map(\.name)
            throw ReplayFailure.notFound(
                "There is no connector and no provider \"\(name)\""
                    + Spelling.ending(for: name, among: known)
                    + " The providers are \(known.joined(separator: ", ")).")
        }
        let scheme = try schemeToTry(of: provider)
        do {
            let connector = try Connector(
                name: name, provider: provider,
                authentication: [
                    secret.map {
                        Authentication(
                            scheme: scheme, secrets: [SharedSecret($0, origin: "--secret")])
                    } ?? Authentication(scheme: .none, secrets: [])
                ],
                identity: configured?.identity,
                unknownEnvironment: configured?.unknownEnvironment ?? "sandbox",
                app: configured?.app, transfer: configured?.transfer ?? .move,
                allowsUnauthenticated: true)
            return (connector, secret != nil)
        } catch {
            throw ReplayFailure(.usage, "\(error).")
        }
    }

    func configuredConnector(_ name: String) throws -> Connector? {
        guard let file = parsed.option("config") else { return nil }
        return try WorkerSettings.read(.file(file, environment: environment)).connectors[name]
    }

    private func schemeToTry(of provider: ProviderDefinition) throws -> AuthenticationScheme {
        guard let word = parsed.option("scheme") else { return provider.usualScheme }
        guard let scheme = AuthenticationScheme(rawValue: word), scheme != .none else {
            let known = provider.schemes.map(\.rawValue)
            throw UsageError(
                path: parsed.path,
                "There is no scheme \"\(word.prefix(64))\""
                    + Spelling.ending(for: word, among: known)
                    + " \(provider.title) sends \(known.joined(separator: ", ")).")
        }
        return scheme
    }

    /// A JSON object of texts, or of lists of texts for a header that stands more than once.
    func readHeaders(_ path: String) throws -> [(name: String, value: String)] {
        try fields(try ScopeFile.value(path), in: path)
    }

    func fields(
        _ value: JSONValue, in path: String
    ) throws -> [(name: String, value: String)] {
        guard let object = value.object else {
            throw ReplayFailure(
                .usage, "The headers file \(path) holds \(value.kind); write an object of texts.")
        }
        return try object.flatMap { member in
            try (member.value.array ?? [member.value]).map { item in
                guard let text = item.string else {
                    throw ReplayFailure(
                        .usage,
                        "The header \"\(member.key)\" in \(path) is \(item.kind); write a text.")
                }
                return (name: member.key, value: text)
            }
        }
    }
}

/// What the webhook endpoint would answer, and the event that a turn would see.
struct DeliveryTrial {
    let connector: Connector
    let authenticates: Bool
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    let at: Instant

    /// `{"status", "authenticated", "reason"?, "event"?}`; the sender is asked before the body is
    /// read, as the endpoint does.
    var result: JSONValue {
        if authenticates,
            case .refused(let refusal) = connector.authenticate(
                headers: headers, body: body, now: at)
        {
            return answer(401, authenticated: false, reason: "\(refusal)")
        }
        let envelope: Envelope?
        switch DeliveredBody(body) {
        case .refused(let sentence):
            return answer(400, authenticated: authenticates ? true : nil, reason: sentence)
        case .tooDeep: envelope = nil
        case .object(let object, _): envelope = connector.envelope(of: object)
        }
        let event = connector.event(
            body: body, receivedAt: at,
            providerEventID: Connector.deduplicationID(envelope, body: body))
        var json = event.json
        if !event.raw.isNull {
            var properties = event.properties
            properties["raw"] = event.raw
            json["properties"] = .object(properties)
        }
        return answer(200, authenticated: authenticates ? true : nil, event: json)
    }

    private func answer(
        _ status: Int, authenticated: Bool?, reason: String? = nil, event: JSONObject? = nil
    ) -> JSONValue {
        var object = JSONObject([
            ("status", .integer(status)),
            ("authenticated", authenticated.map { .bool($0) } ?? .null),
        ])
        object["reason"] = reason.map { .string($0) }
        object["event"] = event.map { .object($0) }
        return .object(object)
    }
}
