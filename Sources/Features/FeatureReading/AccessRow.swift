package import FeatureModel
package import TimeZones

/// Which world an answer is of. They never meet.
package enum AccessEnvironment: String, Sendable, Hashable, CaseIterable {
    case production, sandbox
}

/// What a customer, or an entity of theirs, may use of one feature.
package struct AccessRow: Sendable, Hashable {
    /// Where.
    package let environment: AccessEnvironment
    /// The app's id.
    package let customer: String
    /// A key of the catalogue.
    package let feature: String
    /// Whose allowance; nil for the customer's own.
    package let entity: String?
    /// For one unit.
    package let access: FeatureAccess
    /// When the answer last became what it is: by a write, or because a reset, a start or an end came.
    package let changedAt: Instant
    /// When it becomes another one if nothing is written; nil for never. Set a timer to it.
    package let changesAt: Instant?

    /// A row as read, or made by hand for the tests of readers.
    package init(
        environment: AccessEnvironment, customer: String, feature: String, entity: String?,
        access: FeatureAccess, changedAt: Instant, changesAt: Instant?
    ) {
        self.environment = environment
        self.customer = customer
        self.feature = feature
        self.entity = entity
        self.access = access
        self.changedAt = changedAt
        self.changesAt = changesAt
    }
}

/// Where a page of changes ended.
package struct AccessCursor: Sendable, Hashable {
    let changedAt: Instant
    let customer: String
    let feature: String
    let entity: String

    /// After this row.
    package init(_ row: AccessRow) {
        changedAt = row.changedAt
        customer = row.customer
        feature = row.feature
        entity = row.entity ?? ""
    }
}

/// Some of the changes, oldest first.
package struct AccessPage: Sendable, Hashable {
    /// In order.
    package let rows: [AccessRow]
    /// Where to go on; nil when these are all for now.
    package let next: AccessCursor?

    /// A page as read, or made by hand for the tests of readers.
    package init(rows: [AccessRow], next: AccessCursor?) {
        self.rows = rows
        self.next = next
    }
}
