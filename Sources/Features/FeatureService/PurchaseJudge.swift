internal import Crypto
package import FeatureLedger
package import FeatureModel
internal import JSON

/// Decides whether a signed transaction is to be believed: signature and certificates, app, environment.
package struct PurchaseJudge: Sendable {
    private let bundleIDs: Set<String>
    private let signatures: AppleSignatures

    /// - Parameters:
    ///   - bundleIDs: apps whose purchases are taken in.
    ///   - roots: trusted root certificates in DER; nil trusts Apple's.
    package init(bundleIDs: [String], roots: [[UInt8]]? = nil) {
        self.bundleIDs = Set(bundleIDs)
        signatures = roots.map { AppleSignatures(roots: $0) } ?? .appStore
    }

    /// Takes a transaction apart and believes it, or says why not.
    ///
    /// - Parameter nowMilliseconds: since 1970; for a text that does not say when it was signed.
    package func judge(
        _ signed: String, for environment: LedgerEnvironment, nowMilliseconds: Int64
    ) throws(PurchaseRefusal) -> VerifiedPurchase {
        let payload: JSONValue
        switch signatures.verdict(on: signed, nowMilliseconds: nowMilliseconds) {
        case .verified(let value): payload = value
        case .refused(let refusal): throw .unverified(refusal.description)
        }
        let transaction = try AppStoreTransaction(payload: payload)
        guard bundleIDs.contains(transaction.bundleID) else { throw .otherBundle }
        let isSandbox = transaction.environment == .sandbox
        guard isSandbox == (environment == .sandbox) else {
            throw .otherEnvironment(transaction.environment.rawValue)
        }
        return VerifiedPurchase(transaction: transaction, payload: payload)
    }
}
