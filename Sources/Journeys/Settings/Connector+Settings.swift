internal import Configuration
internal import Connectors
internal import JSON

extension Connector {
    /// Reads one entry of `connectors`; problems are noted on the reader, and nil stands in.
    init?(_ reader: ConfigurationReader, name: String, listensOnLoopback: Bool) {
        let providerName = reader.requiredString("provider")
        let entries = reader.objectArray("authenticate", limit: 4)
        let authentication = entries.compactMap { Authentication($0) }
        let identity = reader.string("identity").flatMap { text -> JSONPointer? in
            let pointer = JSONPointer(text)
            if pointer == nil {
                reader.problem(
                    "identity", "It must be a JSON Pointer such as \"/data/userId\"; write one.")
            }
            return pointer
        }
        let unknownEnvironment = reader.string("unknown_environment", default: "sandbox")
        let app = reader.string("app")
        let transfer = reader.choice("transfer", default: Transfer.move)
        let isInsecure = reader.bool("insecure", default: false)
        guard let provider = ProviderDefinition.shipped(named: providerName) else {
            if !providerName.isEmpty {
                let known = ProviderDefinition.shipped.map(\.name).joined(separator: ", ")
                reader.problem(
                    "provider",
                    "There is no provider \"\(providerName)\"; this version ships \(known).")
            }
            return nil
        }
        // What is wrong with an entry was said where it stands.
        guard authentication.count == entries.count else { return nil }
        do throws(ConnectorError) {
            try self.init(
                name: name, provider: provider, authentication: authentication,
                identity: identity, unknownEnvironment: unknownEnvironment, app: app,
                transfer: transfer, allowsUnauthenticated: listensOnLoopback || isInsecure)
        } catch {
            reader.problem("authenticate", "\(error)")
            return nil
        }
    }
}

extension Authentication {
    /// Nil when a secret is given that cannot be had; that was then noted on the reader.
    fileprivate init?(_ reader: ConfigurationReader) {
        let scheme = reader.choice("scheme", default: AuthenticationScheme.authorization)
        let tolerance = reader.duration(
            "tolerance", in: .seconds(1) ... .seconds(86_400),
            default: Authentication.usualTolerance)
        var secrets: [SharedSecret] = []
        var isUsable = true
        for key in ["secret", "next_secret"] {
            if let secret = reader.secret(key) {
                secrets.append(
                    SharedSecret(
                        secret.revealed, origin: "\(reader.pointer.appending(key))"))
            } else if reader.has(key) {
                isUsable = false
            }
        }
        guard isUsable else { return nil }
        self.init(scheme: scheme, secrets: secrets, tolerance: tolerance)
    }
}
