internal import Configuration
internal import Connectors

extension WorkerSettings {
    /// The provider definitions that a configuration may name: the shipped ones, and those of its own files.
    ///
    /// A file whose `provider` is a shipped one's takes its place. Paths are relative to the configuration
    /// file's folder.
    static func readProviders(
        _ reader: ConfigurationReader, place: String
    ) -> [ProviderDefinition] {
        var providers = ProviderDefinition.shipped
        var origins: [String: String] = [:]
        for file in reader.stringArray("files", limit: 64) ?? [] {
            let path = resolved(file, beside: place)
            func refuse(_ sentence: String) { reader.problem("files", sentence) }
            let bytes: [UInt8]
            do throws(BoundedFile.Failure) {
                bytes = try BoundedFile.read(path, limit: longestDefinition)
            } catch {
                refuse("\(error.description) Name another, or put it there.")
                continue
            }
            do throws(ProviderDefinitionError) {
                let known = providers
                let definition = try ProviderDefinition(
                    parsing: bytes, extending: { name in known.first { $0.name == name } })
                if let other = origins[definition.name] {
                    refuse(
                        "The files \(other) and \(file) both define the provider "
                            + "\"\(definition.name)\"; keep one.")
                    continue
                }
                origins[definition.name] = file
                providers.removeAll { $0.name == definition.name }
                providers.append(definition)
            } catch {
                for problem in error.problems { refuse("In \(file), \(problem).") }
            }
        }
        return providers
    }

    /// Longer files are no definitions: the longest shipped one has 15 kB.
    private static let longestDefinition = 262_144

    static func resolved(_ file: String, beside place: String) -> String {
        guard !file.hasPrefix("/"), let slash = place.lastIndex(of: "/") else { return file }
        return place[...slash] + file
    }
}
