extension ProviderDefinition {
    /// The definitions that come with the product, by name.
    package static let shipped: [ProviderDefinition] = [
        shipped(PackageResources.revenuecat_json), shipped(PackageResources.superwall_json),
    ]

    /// The shipped definition of this name, such as `revenuecat`.
    package static func shipped(named name: String) -> ProviderDefinition? {
        shipped.first { $0.name == name }
    }

    /// Tests read every resource, so a wrong one never reaches a build that is used.
    private static func shipped(_ text: [UInt8]) -> ProviderDefinition {
        do throws(ProviderDefinitionError) {
            return try ProviderDefinition(parsing: text)
        } catch {
            preconditionFailure(error.description)
        }
    }
}
