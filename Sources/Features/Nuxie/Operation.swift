internal import JSON

/// What is kept on disk until the server has taken it.
enum Operation: Sendable, Hashable {
    /// A consumption.
    case use(UsageCommand)
    /// Something that happened, for the worker.
    case event(EventItem)
    /// A purchase to be submitted: its transaction's id.
    case submit(transaction: String)
}

/// A consumption as it was asked for; it never changes, whatever happens to the customer or the app.
struct UsageCommand: Sendable, Hashable {
    /// Who asked, which tells who may take an operation over.
    enum Caller: String, Sendable, Hashable {
        /// `useFeature`: nobody waits.
        case nobody
        /// `useFeatureAndWait`: the operation id is the SDK's.
        case waiting
        /// `consumeFeature`: the operation id is the app's.
        case app
    }

    let customer: String
    let feature: String
    let operation: String
    let quantity: Int
    let entity: String?
    let isTotal: Bool
    let metadata: JSONObject?
    let caller: Caller
    /// The purchase that is submitted with it.
    let transaction: String?

    /// Whether two commands ask for the same under one id; metadata and purchase are no part of it.
    func asksTheSame(as other: UsageCommand) -> Bool {
        customer == other.customer && feature == other.feature && quantity == other.quantity
            && entity == other.entity && isTotal == other.isTotal
    }
}

/// An event in the form in which the worker takes it.
struct EventItem: Sendable, Hashable {
    let name: String
    let customer: String
    /// The same on every attempt.
    let id: String
    /// Milliseconds since 1970.
    let occurredAt: Int64
    let properties: JSONObject
}

/// A purchase that the device has verified and the server may not know yet.
struct Evidence: Sendable, Hashable {
    let transaction: String
    let original: String
    /// The store's id of the product.
    let storeProduct: String
    /// As the store signed it.
    var signed: String
    /// Who was signed in when it was made.
    let customer: String
    /// What the product grants, as the profile told it; empty while no profile did.
    var grants: [Grant]
    var isRevoked: Bool
    /// Whether it is finished once the server has it; in observer mode the app does that.
    let isFinishedHere: Bool

    /// What a product grants of one feature.
    struct Grant: Sendable, Hashable {
        let feature: String
        let type: String
        let isUnlimited: Bool
        let allowance: Int
    }
}
