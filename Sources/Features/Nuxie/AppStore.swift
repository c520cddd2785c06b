#if canImport(StoreKit)
    internal import Foundation
    internal import StoreKit

    /// Apple's store. Compiled on Apple platforms only.
    struct AppStore: PurchaseStore {
        func updates() -> AsyncStream<StoreTransaction> {
            AsyncStream { continuation in
                let task = Task {
                    for await result in Transaction.unfinished {
                        if let transaction = Self.verified(result) {
                            continuation.yield(transaction)
                        }
                    }
                    for await result in Transaction.updates {
                        if let transaction = Self.verified(result) {
                            continuation.yield(transaction)
                        }
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        func current() async -> [StoreTransaction] {
            var found: [StoreTransaction] = []
            for await result in Transaction.currentEntitlements {
                if let transaction = Self.verified(result) { found.append(transaction) }
            }
            return found
        }

        func purchase(_ storeProductId: String) async -> StoreCheckout {
            do {
                guard let product = try await Product.products(for: [storeProductId]).first else {
                    return .failed(
                        NuxieError(
                            .purchaseFailed,
                            "The App Store has no product \(storeProductId); see App Store Connect."
                        ))
                }
                switch try await product.purchase() {
                case .success(let result):
                    guard let transaction = Self.verified(result) else {
                        return .failed(
                            NuxieError(
                                .purchaseFailed, "StoreKit does not verify the transaction."))
                    }
                    return .purchased(transaction)
                case .userCancelled: return .cancelled
                case .pending: return .pending
                @unknown default:
                    return .failed(
                        NuxieError(
                            .purchaseFailed, "StoreKit ended the checkout in an unknown way."))
                }
            } catch {
                return .failed(error)
            }
        }

        func restore() async throws { try await StoreKit.AppStore.sync() }

        func finish(_ transaction: String) async {
            for await result in Transaction.unfinished {
                if case .verified(let found) = result, String(found.id) == transaction {
                    await found.finish()
                }
            }
        }

        /// What StoreKit does not verify is nothing.
        private static func verified(
            _ result: VerificationResult<Transaction>
        ) -> StoreTransaction? {
            guard case .verified(let transaction) = result else { return nil }
            return StoreTransaction(
                id: String(transaction.id), original: String(transaction.originalID),
                product: transaction.productID, signed: result.jwsRepresentation,
                isRevoked: transaction.revocationDate != nil)
        }
    }
#endif
