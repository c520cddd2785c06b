/// What the customer wants to buy.
public struct StoreProduct: Sendable, Hashable {
    /// The product's id in the store.
    public let storeProductId: String
    /// The product's id in Nuxie's catalogue, where it is known.
    public let productId: String?

    /// A product as given.
    public init(storeProductId: String, productId: String? = nil) {
        self.storeProductId = storeProductId
        self.productId = productId
    }
}

/// How a checkout ended.
public enum PurchaseResult: Sendable {
    /// It was paid.
    case purchased
    /// The customer left it.
    case cancelled
    /// The store decides later, such as for Ask to Buy.
    case pending
    /// It failed.
    case failed(any Error)
}

/// How restoring purchases ended.
public enum RestoreResult: Sendable {
    /// Something was restored.
    case restored
    /// There was nothing to restore.
    case noPurchases
    /// It failed.
    case failed(any Error)
}

/// Buys through RevenueCat, Superwall or a billing system of the app's own.
///
/// Nuxie receives only how a checkout ended. That can complete a Journey; it changes no Feature and no
/// balance. Keep using the billing system's own access checks.
public protocol NuxiePurchaseDelegate: AnyObject, Sendable {
    /// Buys a product and says how it ended.
    func purchase(product: StoreProduct) async -> PurchaseResult

    /// Restores purchases and says how it ended.
    func restorePurchases() async -> RestoreResult
}
