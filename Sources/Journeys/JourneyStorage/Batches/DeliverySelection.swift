package import JSON
package import JourneyModel
package import TimeZones

/// Which stored deliveries are meant; what is nil or empty does not narrow.
package struct DeliverySelection: Sendable, Hashable {
    /// Numbers of deliveries, at most ``idLimit``.
    package var ids: [Int64] = []
    package var connector: String?
    /// A state's word, `unread`, or `unassigned`.
    package var state: String?
    package var environment: String?
    /// The name of the event that it became.
    package var event: String?
    /// Whose the event is.
    package var customer: CustomerID?
    package var since: Instant?
    package var until: Instant?

    /// Numbers that one selection may name.
    package static let idLimit = 10_000

    package init() {}

    /// The stored form: its members, without those that do not narrow.
    package var json: JSONObject {
        var json = JSONObject()
        if !ids.isEmpty { json["ids"] = .array(ids.map { .integer($0) }) }
        json["connector"] = connector.map { .string($0) }
        json["state"] = state.map { .string($0) }
        json["environment"] = environment.map { .string($0) }
        json["event"] = event.map { .string($0) }
        json["customer"] = customer.map { .integer($0.number) }
        json["since"] = since.map { .string($0.description) }
        json["until"] = until.map { .string($0.description) }
        return json
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "selection", object: json)
        ids = (json["ids"]?.array ?? []).compactMap(\.integer)
        connector = json["connector"]?.string
        state = json["state"]?.string
        environment = json["environment"]?.string
        event = json["event"]?.string
        customer = json["customer"]?.integer.map { CustomerID($0) }
        since = try reader.instantIfPresent("since")
        until = try reader.instantIfPresent("until")
    }
}
