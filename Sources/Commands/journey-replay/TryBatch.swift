internal import CommandLine
internal import Configuration
internal import Connectors
internal import Crypto
internal import JSON
internal import Settings
internal import TimeZones

extension ReplayCall {
    /// `try connector NAME --batch FILE`: one delivery a line in, one result a line out, in order.
    ///
    /// A line is `{"body"` (text) or `"body_base64", "headers"?, "at"?, "secrets"?, "scheme"?, "id"?}`; what
    /// it leaves out comes from the options, and `id` is handed back.
    func tryConnectors(_ name: String, _ path: String) throws {
        let bytes = try BoundedFile.read(path, limit: Self.longestBatch)
        let usual = try instant()
        let headers = try parsed.option("headers").map { try readHeaders($0) }
        let configured = try configuredConnector(name)
        guard let provider = configured?.provider ?? ProviderDefinition.shipped(named: name) else {
            throw ReplayFailure.notFound("There is no connector and no provider \"\(name)\".")
        }
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            func refuse(_ sentence: String) -> ReplayFailure {
                ReplayFailure(.usage, "Line \(index + 1) of \(path): \(sentence)")
            }
            guard let json = try? JSONParser.parse(Array(line), options: .webhook),
                json.object != nil
            else { throw refuse("it is no JSON object; write one delivery a line.") }
            let body =
                json["body"]?.string.map { Array($0.utf8) }
                ?? json["body_base64"]?.string.flatMap { Base64.decode($0) }
            guard let body else { throw refuse("it holds no \"body\" and no \"body_base64\".") }
            let own = try json["headers"].map { try fields($0, in: path) }
            let secrets =
                json["secrets"]?.array?.compactMap(\.string)
                ?? parsed.option("secret").map { [$0] } ?? []
            let at = json["at"]?.string.flatMap { Instant($0) } ?? usual
            let trial: JSONValue
            do throws(ConnectorError) {
                let connector = try connector(
                    name, configured, provider, secrets, scheme: json["scheme"]?.string)
                trial =
                    DeliveryTrial(
                        connector: connector,
                        authenticates: !secrets.isEmpty || (configured != nil && own != nil),
                        headers: own ?? headers ?? [], body: body, at: at
                    ).result
            } catch {
                trial = ["status": nil, "authenticated": false, "reason": .string("\(error)")]
            }
            var answer = trial.object ?? JSONObject()
            answer["id"] = json["id"]
            terminal.output.writeLine(JSONValue.object(answer).text)
        }
    }

    /// Tens of thousands of deliveries.
    private static let longestBatch = 268_435_456

    private func connector(
        _ name: String, _ configured: Connector?, _ provider: ProviderDefinition,
        _ secrets: [String], scheme: String?
    ) throws(ConnectorError) -> Connector {
        if let configured, secrets.isEmpty { return configured }
        let chosen = scheme.flatMap { AuthenticationScheme(rawValue: $0) } ?? provider.usualScheme
        let entry =
            secrets.isEmpty
            ? Authentication(scheme: .none, secrets: [])
            : Authentication(scheme: chosen, secrets: secrets.map { SharedSecret($0) })
        return try Connector(
            name: name, provider: provider, authentication: [entry],
            identity: configured?.identity,
            unknownEnvironment: configured?.unknownEnvironment ?? "sandbox",
            app: configured?.app, transfer: configured?.transfer ?? .move,
            allowsUnauthenticated: true)
    }
}
