public import FeatureModel

extension NuxieSDK {
    /// Whether the customer may use a feature. Uses fresh cached access, and asks the server when necessary;
    /// nothing is deducted or reserved.
    ///
    /// - Parameters:
    ///   - requiredBalance: units that must be there, from 1.
    ///   - entityId: whose allowance is meant, such as a project's; nil for the customer's own.
    /// - Throws: ``NuxieError`` when there is no answer; a denial is an answer.
    public func hasFeature(
        _ featureId: String, requiredBalance: Int = 1, entityId: String? = nil,
        policy: FeatureCheckPolicy = .cacheFirst
    ) async throws -> FeatureAccess {
        try await core().hasFeature(
            featureId, required: requiredBalance, entity: entityId, policy: policy)
    }

    /// Uses units and waits for the server's decision. Proceed only when `success` is true.
    ///
    /// The use is written to disk before it is sent and repeated under one operation id. A call that throws
    /// may have been taken; making the same call again takes the use over rather than charging anew, as
    /// long as it is still on its way.
    ///
    /// - Parameters:
    ///   - amount: units, or with `setUsage` the cumulative total; 1 to 9,007,199,254,740,991.
    ///   - entityId: whose allowance is charged.
    ///   - setUsage: reports a total and charges only its increase; a lower total refunds nothing.
    ///   - metadata: recorded with the use; at most 16 KiB as JSON.
    /// - Throws: ``NuxieError``, which is no denial.
    public func useFeatureAndWait(
        _ featureId: String, amount: Int = 1, entityId: String? = nil, setUsage: Bool = false,
        metadata: [String: any Sendable]? = nil
    ) async throws -> FeatureUsageResult {
        try await core().use(
            featureId, amount: amount, entity: entityId, isTotal: setUsage, metadata: metadata)
    }

    /// Uses units under an operation id that the app keeps with its action. The same call again gives the
    /// saved decision and deducts nothing more.
    ///
    /// - Parameters:
    ///   - quantity: units, 1 to 9,007,199,254,740,991.
    ///   - operationId: 1 to 256 characters without blanks at its ends, unique for the customer.
    /// - Throws: ``NuxieError``, which is no denial; repeat the call with the same operation id.
    public func consumeFeature(
        _ featureId: String, quantity: Int = 1, operationId: String, entityId: String? = nil
    ) async throws -> FeatureConsumptionResult {
        try await core().consume(
            featureId, quantity: quantity, operation: operationId, entity: entityId)
    }

    /// Uses units without waiting. Written to disk before this returns; errors are logged.
    public func useFeature(
        _ featureId: String, amount: Int = 1, entityId: String? = nil,
        metadata: [String: any Sendable]? = nil
    ) {
        guard let core = try? core() else {
            writeToStandardError(.error, "useFeature: \(NuxieError.notConfigured)")
            return
        }
        core.report(featureId, amount: amount, entity: entityId, metadata: metadata)
    }
}

extension NuxieSDK {
    /// Buys a product: through the purchase delegate where there is one, else in the App Store.
    ///
    /// With a delegate only the outcome is taken and told to the worker, where it can complete a Journey.
    /// In the App Store the verified transaction is submitted, too, which is what grants features.
    ///
    /// - Throws: ``NuxieError`` when the SDK is not set up.
    @discardableResult
    public func purchase(_ storeProductId: String) async throws -> PurchaseResult {
        try await core().purchase(storeProductId)
    }

    /// Restores purchases, as ``purchase(_:)`` buys.
    @discardableResult
    public func restorePurchases() async throws -> RestoreResult {
        try await core().restore()
    }

    /// Sets the billing system that later checkouts go through; nil buys in the App Store.
    public func setPurchaseDelegate(_ delegate: (any NuxiePurchaseDelegate)?) throws(NuxieError) {
        try core().purchases.withLock { $0.delegate = .some(delegate) }
    }

    /// Sets who finishes transactions that come from now on.
    public func setPurchaseHandlingMode(
        _ mode: NuxieConfiguration.PurchaseHandlingMode
    ) throws(NuxieError) {
        try core().purchases.withLock { $0.mode = mode }
    }
}
