internal import Configuration
internal import Connectors
internal import JSON

extension Connector {
    /// Reads one entry of `connectors`; problems are noted on the reader, and nil stands in.
    ///
    /// - Parameters:
    ///   - providers: the definitions that may be named.
    ///   - place: the configuration file, beside which other files lie.
    init?(
        _ reader: ConfigurationReader, name: String, providers: [ProviderDefinition],
        place: String, listensOnLoopback: Bool
    ) {
        let providerName = reader.requiredString("provider")
        let entries = reader.objectArray("authenticate", limit: 4)
        let authentication = entries.compactMap { Authentication($0, place: place) }
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
        guard let provider = providers.first(where: { $0.name == providerName }) else {
            if !providerName.isEmpty {
                let known = providers.map(\.name)
                reader.problem(
                    "provider",
                    "There is no provider \"\(providerName.prefix(64))\""
                        + Spelling.ending(for: providerName, among: known)
                        + " There are \(known.joined(separator: ", ")); add another as a file of "
                        + "\"providers\".")
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
