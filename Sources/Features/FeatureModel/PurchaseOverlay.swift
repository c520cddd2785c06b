/// What verified purchases on a device are likely to add before the server has taken them in.
///
/// Presentation only: the server's answer replaces it, and nothing is charged against it.
package struct PurchaseOverlay: Sendable, Hashable {
    /// A purchase that the device has verified.
    package struct Evidence: Sendable, Hashable {
        /// Of the store.
        package let transaction: String
        /// Who was signed in when it was made.
        package let customer: String
        /// Whether the server has confirmed it: from then on only the server counts.
        package let isSynced: Bool
        /// Whether the store took it back.
        package let isRevoked: Bool

        /// Evidence as it is kept.
        package init(transaction: String, customer: String, isSynced: Bool, isRevoked: Bool) {
            self.transaction = transaction
            self.customer = customer
            self.isSynced = isSynced
            self.isRevoked = isRevoked
        }
    }

    /// What a purchase is said to grant of one feature.
    package struct Descriptor: Sendable, Hashable {
        /// Which.
        package let feature: String
        /// How it is measured.
        package let type: FeatureType
        /// Whether it is not counted.
        package let isUnlimited: Bool
        /// Units; 0 where none are counted.
        package let allowance: Int

        /// A descriptor as the catalogue gives it.
        package init(
            feature: String, type: FeatureType, isUnlimited: Bool = false, allowance: Int = 0
        ) {
            self.feature = feature
            self.type = type
            self.isUnlimited = isUnlimited
            self.allowance = allowance
        }
    }

    /// What is added to one feature.
    package struct Addition: Sendable, Hashable {
        /// How it is measured.
        package var type: FeatureType
        /// Whether it is not counted.
        package var isUnlimited: Bool
        /// Units; nil for a boolean feature and for unlimited use.
        package var allowance: Int?
    }

    /// By feature; empty when there is nothing to add.
    package private(set) var additions: [String: Addition] = [:]

    /// What a customer's unconfirmed purchases add; others' purchases add nothing.
    ///
    /// - Parameter descriptors: by transaction; one without adds nothing.
    package init(
        customer: String, evidence: [Evidence], descriptors: [String: [Descriptor]]
    ) {
        for purchase in evidence
        where purchase.customer == customer && !purchase.isSynced && !purchase.isRevoked {
            for descriptor in descriptors[purchase.transaction] ?? [] { add(descriptor) }
        }
    }

    private mutating func add(_ descriptor: Descriptor) {
        let isCounted = descriptor.type != .boolean && !descriptor.isUnlimited
        let fresh = Addition(
            type: descriptor.type, isUnlimited: descriptor.isUnlimited,
            allowance: isCounted ? descriptor.allowance : nil)
        guard var present = additions[descriptor.feature] else {
            additions[descriptor.feature] = fresh
            return
        }
        if present.isUnlimited || fresh.isUnlimited {
            present.isUnlimited = true
            present.allowance = nil
        } else if let sum = present.allowance {
            let (total, overflowed) = sum.addingReportingOverflow(fresh.allowance ?? 0)
            present.allowance = overflowed ? Int(Quantity.largest) : total
        }
        additions[descriptor.feature] = present
    }

    /// What the device shows: the server's answers, widened and never narrowed.
    package func widening(_ authoritative: [String: FeatureAccess]) -> [String: FeatureAccess] {
        authoritative.merging(
            additions.map { feature, addition in
                (feature, addition.widening(authoritative[feature]))
            }, uniquingKeysWith: { _, widened in widened })
    }
}

extension PurchaseOverlay.Addition {
    fileprivate func widening(_ access: FeatureAccess?) -> FeatureAccess {
        if type == .boolean {
            return FeatureAccess(allowed: true, unlimited: false, balance: nil, type: .boolean)
        }
        if isUnlimited || access?.unlimited == true {
            return FeatureAccess(allowed: true, unlimited: true, balance: nil, type: type)
        }
        let (sum, overflowed) = (access?.balance ?? 0).addingReportingOverflow(allowance ?? 0)
        let balance = overflowed ? Int(Quantity.largest) : sum
        return FeatureAccess(
            allowed: balance > 0 || access?.allowed == true, unlimited: false, balance: balance,
            type: type)
    }
}
