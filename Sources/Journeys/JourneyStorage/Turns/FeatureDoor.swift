package import JourneyEngine
package import JourneyModel

/// Whom the feature house is asked about.
package struct FeatureQuestion: Sendable, Hashable {
    package var customer: CustomerID
    /// The ids that the customer is known by, the person's own first; at most 50.
    package var ids: [String]
    package var environment: String

    package init(customer: CustomerID, ids: [String], environment: String) {
        self.customer = customer
        self.ids = ids
        self.environment = environment
    }
}

/// The one door to the feature house, handed in from outside: this room knows nothing behind it. What it
/// leaves out is unknown to every condition.
package typealias FeatureDoor =
    @Sendable (_ questions: [FeatureQuestion], _ features: Set<String>)
    async throws -> [CustomerID: [String: FeatureFacts]]
