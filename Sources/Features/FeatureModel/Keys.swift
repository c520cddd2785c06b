/// A name within one kind of thing, so that a product's key is never passed for a feature's.
package struct Key<Kind>: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name itself: 1 to 256 characters, no NUL, no blank at either end.
    package let text: String

    /// The most characters a key holds.
    package static var longest: Int { 256 }

    /// Nil for a text that is no key.
    package init?(_ text: String) {
        guard isKeyText(text) else { return nil }
        self.text = text
    }

    /// For texts that were checked when they were stored.
    package init(checked text: String) { self.text = text }

    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// What a ``Key`` may stand for; never instantiated.
package enum KeyKind {
    /// Of features.
    package enum Feature {}
    /// Of products in the catalogue.
    package enum Product {}
    /// Of customers.
    package enum Customer {}
    /// Of what a customer has, such as a project.
    package enum Entity {}
    /// Of operations.
    package enum Operation {}
    /// Of grants.
    package enum Grant {}
}

/// A feature's key in the catalogue.
package typealias FeatureKey = Key<KeyKind.Feature>
/// A product's key in the catalogue.
package typealias ProductKey = Key<KeyKind.Product>
/// The app's id of a customer.
package typealias CustomerKey = Key<KeyKind.Customer>
/// The app's id of something a customer has, with an allowance of its own.
package typealias EntityKey = Key<KeyKind.Entity>
/// The app's id of one consumption, unique for a customer: 1 to 256 characters without surrounding
/// blanks. The same id with the same command always has the same decision.
package typealias OperationID = Key<KeyKind.Operation>
/// What one grant is known by: `app_store:` with a transaction id, or `operator:` with an id of its own.
package typealias GrantID = Key<KeyKind.Grant>

extension Key where Kind == KeyKind.Grant {
    /// The grant of an App Store transaction.
    package static func appStore(_ transaction: String) -> GrantID {
        GrantID(checked: "app_store:" + transaction)
    }

    /// The grant that an operator gave.
    package static func byOperator(_ id: String) -> GrantID { GrantID(checked: "operator:" + id) }
}

/// Whether a text may be a key: 1 to 256 characters, no NUL (which PostgreSQL cannot hold), and no blank
/// at either end, since such ids are told apart by machines and not by people.
private func isKeyText(_ text: String) -> Bool {
    // A character may be of many bytes; a bound on those keeps rows and indexes small.
    guard !text.isEmpty, text.utf8.count <= 1_024, text.count <= 256 else { return false }
    guard let first = text.first, let last = text.last else { return false }
    return !first.isWhitespace && !last.isWhitespace && !text.utf8.contains(0)
}

/// A whole number of units: 1 to 9,007,199,254,740,991, which every JSON reader keeps exactly.
package struct Quantity: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The units.
    package let units: Int64

    /// 2⁵³ − 1.
    package static let largest: Int64 = 9_007_199_254_740_991

    /// Nil outside 1 to ``largest``.
    package init?(_ units: Int64) {
        guard (1...Self.largest).contains(units) else { return nil }
        self.units = units
    }

    private init(unchecked units: Int64) { self.units = units }

    /// One unit.
    package static let one = Quantity(unchecked: 1)

    /// So many units at this cost each; nil past ``largest``.
    package func times(_ other: Quantity) -> Quantity? {
        let (product, overflowed) = units.multipliedReportingOverflow(by: other.units)
        return overflowed ? nil : Quantity(product)
    }

    package var description: String { String(units) }

    package static func < (left: Quantity, right: Quantity) -> Bool { left.units < right.units }
}
