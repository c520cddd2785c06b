package import JSON

/// What a signed App Store transaction says, once its signature was verified.
package struct AppStoreTransaction: Sendable, Hashable {
    /// Where a purchase was made.
    package enum Environment: String, Sendable, Hashable {
        case production = "Production"
        case sandbox = "Sandbox"
    }

    /// One for each purchase and each renewal; grants once.
    package let id: String
    /// The same for all renewals and upgrades of a subscription.
    package let originalID: String
    /// The app's.
    package let bundleID: String
    /// The App Store's id of the product.
    package let productID: String
    /// Where it was made.
    package let environment: Environment
    /// When it was made; for a renewal the start of its period, which may lie ahead.
    package let purchasedAt: Moment
    /// The end of the period; nil for what has none.
    package let expiresAt: Moment?
    /// When it was refunded or taken back; nil if it was not.
    package let revokedAt: Moment?
    /// Whether a purchase of a higher tier took its place.
    package let isUpgraded: Bool
    /// How many were bought at once, from 1.
    package let quantity: Quantity
    /// Whether a family member bought it.
    package let isFamilyShared: Bool
    /// When the App Store said all this; what it said later counts.
    package let signedAt: Moment

    /// Reads a verified payload.
    ///
    /// - Throws: a refusal that names the member.
    package init(payload: JSONValue) throws(PurchaseRefusal) {
        func text(_ name: String) throws(PurchaseRefusal) -> String {
            guard let value = payload[name]?.string, !value.isEmpty, value.utf8.count <= 255,
                !value.utf8.contains(0)
            else { throw .incomplete(member: name) }
            return value
        }
        func moment(_ name: String) throws(PurchaseRefusal) -> Moment? {
            guard let value = payload[name], !value.isNull else { return nil }
            guard let number = value.integer, (0...Moment.latest.milliseconds).contains(number)
            else { throw .incomplete(member: name) }
            return Moment(milliseconds: number)
        }
        func required(_ name: String) throws(PurchaseRefusal) -> Moment {
            guard let found = try moment(name) else { throw .incomplete(member: name) }
            return found
        }
        id = try text("transactionId")
        originalID = try text("originalTransactionId")
        bundleID = try text("bundleId")
        productID = try text("productId")
        let place = try text("environment")
        guard let environment = Environment(rawValue: place) else {
            throw .otherEnvironment(String(place.prefix(32)))
        }
        self.environment = environment
        purchasedAt = try required("purchaseDate")
        expiresAt = try moment("expiresDate")
        revokedAt = try moment("revocationDate")
        isUpgraded = payload["isUpgraded"]?.bool ?? false
        let count = payload["quantity"].map { $0.integer ?? 0 } ?? 1
        guard let quantity = Quantity(count), count <= 1_000 else {
            throw .incomplete(member: "quantity")
        }
        self.quantity = quantity
        isFamilyShared = payload["inAppOwnershipType"]?.string == "FAMILY_SHARED"
        signedAt = try required("signedDate")
    }
}

/// Why a purchase grants nothing. Nothing is written then.
package enum PurchaseRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The signature or its certificates; the sentence says which rule is broken.
    case unverified(String)
    /// A member is missing or of another kind.
    case incomplete(member: String)
    /// For another app.
    case otherBundle
    /// Made in the sandbox and shown to production, or the other way round.
    case otherEnvironment(String)
    /// No product of the catalogue names this App Store product.
    case unknownProduct(String)
    /// Another customer showed it first.
    case otherCustomer
    /// The product is not for family members.
    case familySharing
    /// The customer holds as much as one can hold.
    case tooManyHoldings

    /// For machines.
    package var code: String {
        switch self {
        case .unverified, .incomplete: "purchase_unverified"
        case .otherBundle: "purchase_of_other_app"
        case .otherEnvironment: "purchase_of_other_environment"
        case .unknownProduct: "product_not_found"
        case .otherCustomer: "purchase_of_other_customer"
        case .familySharing: "purchase_not_shareable"
        case .tooManyHoldings: "too_many_grants"
        }
    }

    package var description: String {
        switch self {
        case .unverified(let reason):
            "The transaction is not believed: \(reason); send the JWS that StoreKit gave, unchanged."
        case .incomplete(let member):
            "The transaction's member \(member) is missing or is not what it must be; send a "
                + "signed transaction, not a notification or a receipt."
        case .otherBundle:
            "The transaction is of another app; add its bundle id to app_store.bundle_ids if it is yours."
        case .otherEnvironment(let place):
            "The transaction is from the environment \(place), and the API key is not for it; "
                + "use the key of that environment."
        case .unknownProduct(let id):
            "No product of the catalogue has the App Store id \(id); add it to a product's "
                + "app_store and publish."
        case .otherCustomer:
            "The transaction was granted to another customer; ask the operator to move it."
        case .familySharing:
            "The product is not granted to family members; set family_sharing to true if it is meant to be."
        case .tooManyHoldings:
            "The customer holds \(CustomerAccount.mostHoldings) allowances already; "
                + "revoke some of them."
        }
    }
}
