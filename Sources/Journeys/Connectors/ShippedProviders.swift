extension ProviderDefinition {
    /// The definitions that come with the product, by name.
    package static let shipped: [ProviderDefinition] = [
        shipped(PackageResources.revenuecat_json), shipped(PackageResources.superwall_json),
        shipped(PackageResources.stripe_json), shipped(PackageResources.apple_json),
        shipped(PackageResources.google_json), shipped(PackageResources.adapty_json),
        shipped(PackageResources.paddle_json), shipped(PackageResources.lemonsqueezy_json),
        shipped(PackageResources.chargebee_json), shipped(PackageResources.qonversion_json),
        shipped(PackageResources.purchasely_json),
        shipped(PackageResources.standard_webhooks_json), shipped(PackageResources.json_json),
    ]

    /// The shipped definition of this name, such as `revenuecat`.
    package static func shipped(named name: String) -> ProviderDefinition? {
        shipped.first { $0.name == name }
    }

    /// Tests read every resource, so a wrong one never reaches a build that is used.
    private static func shipped(_ text: [UInt8]) -> ProviderDefinition {
        do throws(ProviderDefinitionError) {
            return try ProviderDefinition(parsing: text, extending: { _ in nil })
        } catch {
            preconditionFailure(error.description)
        }
    }
}
