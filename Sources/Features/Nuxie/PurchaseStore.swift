/// The store that purchases are made in, as far as the SDK needs it. Whatever it hands out it has verified.
protocol PurchaseStore: Sendable {
    /// Transactions as they come: renewals, purchases elsewhere, refunds, what was pending.
    func updates() -> AsyncStream<StoreTransaction>

    /// What the customer holds now.
    func current() async -> [StoreTransaction]

    func purchase(_ storeProductId: String) async -> StoreCheckout

    /// Asks the store for what was bought elsewhere.
    func restore() async throws

    /// Tells the store that the purchase was delivered.
    func finish(_ transaction: String) async
}

/// A transaction that the store has verified.
struct StoreTransaction: Sendable, Hashable {
    let id: String
    let original: String
    let product: String
    /// As the store signed it.
    let signed: String
    let isRevoked: Bool
}

/// How a checkout in the store ended.
enum StoreCheckout: Sendable {
    case purchased(StoreTransaction)
    case cancelled
    case pending
    case failed(any Error)
}

/// Where there is no store.
struct NoStore: PurchaseStore {
    func updates() -> AsyncStream<StoreTransaction> { AsyncStream { $0.finish() } }
    func current() async -> [StoreTransaction] { [] }
    func purchase(_ storeProductId: String) async -> StoreCheckout { .failed(Self.absent) }
    func restore() async throws { throw Self.absent }
    func finish(_ transaction: String) async {}

    private static let absent = NuxieError(
        .purchaseFailed, "There is no store on this platform; set a purchaseDelegate.")
}
