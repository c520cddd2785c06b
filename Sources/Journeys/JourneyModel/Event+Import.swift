package import JSON
package import TimeZones

// What a provider's export says of a subscription, put in by hand.
extension Event {
    /// The name of such an input. It lies in the vocabulary's namespace and is no outcome of it, so no
    /// workflow can name it: an import starts nothing and takes no event's outlet.
    package static let subscriptionImported = "subscription.imported"

    /// Whether it is a row of an import: state, and no news.
    package var isImport: Bool { trust == .engine && name == Self.subscriptionImported }

    /// One row of an export.
    ///
    /// - Parameters:
    ///   - row: tells rows of one connector apart: the same row makes the same event.
    ///   - occurredAt: as of when the export is; with the lowest rank, so what a provider tells of the same
    ///     instant wins (S5).
    ///   - fields: of `/subscription`, by name, besides `subscription_key`.
    package static func imported(
        connector: String, row: String, person: Person, environment: String, subscription: String,
        fields: JSONObject, occurredAt: Instant, now: Instant
    ) -> Event {
        let id = "import:" + row
        var properties = fields
        properties["subscription_key"] = .string(subscription)
        return Event(
            id: makeID(connector: connector, providerEventID: id), connector: connector,
            providerEventID: id, providerType: nil, name: subscriptionImported, trust: .engine,
            person: person, occurredAt: occurredAt, receivedAt: now, environment: environment,
            properties: properties)
    }

    /// Fields of `/subscription` that an import may set.
    package static let importedFields = [
        "status", "product_id", "pending_product_id", "period_type", "store", "price", "will_renew",
        "expires_at", "grace_period_expires_at", "pauses_at", "refunded_at",
    ]
}
