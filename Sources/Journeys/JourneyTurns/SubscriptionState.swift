package import JSON
package import JourneyEngine
package import JourneyModel
internal import TimeZones

extension SubscriptionID {
    /// The subscription that an event is about; nil when it touches none.
    package init?(of event: Event) {
        guard event.trust == .provider && Vocabulary.rank(of: event.name) > 0 || event.isImport,
            let key = event.properties["subscription_key"]?.string, !key.isEmpty
        else { return nil }
        self.init(connector: event.connector, key: key)
    }
}

/// What providers said about one subscription. Each field remembers its setter and changes only by a
/// greater one, so that every order of arrival ends the same (S5).
package struct SubscriptionState: Sendable, Hashable {
    /// One field's value, which may be null, with what set it.
    package struct Field: Sendable, Hashable {
        package var value: JSONValue
        package var setter: Setter
        /// Transfers that brought it here, the last one last.
        package var movedBy: [Setter] = []
    }

    package let id: SubscriptionID
    /// By the names that pointers under `/subscription` use.
    package private(set) var fields: [String: Field]

    package init(id: SubscriptionID) {
        self.id = id
        fields = [:]
    }

    /// `/subscription`: the fields that were ever set.
    package var scope: JSONObject {
        JSONObject(fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value.value) })
    }

    package var status: String? { fields["status"]?.value.string }

    /// Takes in what an event says of the subscription.
    ///
    /// - Returns: whether a greater setter stood in a field already: the event is late.
    package mutating func take(_ event: Event) -> Bool {
        let setter = Setter(event)
        var isLate = false
        for (name, value) in SubscriptionRules.fields(setBy: event) {
            if let standing = fields[name]?.setter, standing >= setter {
                isLate = isLate || standing > setter
                continue
            }
            fields[name] = Field(value: value, setter: setter)
        }
        return isLate
    }

    /// Puts a field as it was once set.
    mutating func set(_ name: String, to field: Field) { fields[name] = field }

    /// Gives away what a transfer takes along: what was set, and had come here, by its time. None goes the
    /// same way twice.
    package mutating func give(by transfer: Setter) -> SubscriptionState {
        var given = SubscriptionState(id: id)
        for (name, field) in fields {
            let since = max(field.setter.occurredAt, field.movedBy.last?.occurredAt ?? .earliest)
            guard since <= transfer.occurredAt, !field.movedBy.contains(transfer),
                field.movedBy.count < Self.mostMoves
            else { continue }
            var moved = field
            moved.movedBy.append(transfer)
            given.fields[name] = moved
            fields[name] = nil
        }
        return given
    }

    /// Whether nothing is known of it here any more.
    package var isEmpty: Bool { fields.isEmpty }

    private static let mostMoves = 32

    /// Takes in what another record knew of the same subscription: of each field what was set last.
    package mutating func merge(_ other: SubscriptionState) {
        for (name, field) in other.fields {
            if let standing = fields[name], standing.setter >= field.setter { continue }
            fields[name] = field
        }
    }

    /// Whether a renewal told by `event` ends a failure to charge: it is then a recovery. One that
    /// happened before the failure is none.
    package func recovers(by event: Event) -> Bool {
        guard event.name == "subscription.renewed", let field = fields["status"],
            field.setter < Setter(event)
        else { return false }
        return ["billing_issue", "grace_period", "on_hold"].contains(field.value.string)
    }

    /// The stored form: `{"format": 1, "fields": {name: {"value", "set_by"}}}`.
    package var json: JSONObject {
        let members = fields.sorted { $0.key < $1.key }.map { name, field in
            var member = JSONObject([("value", field.value), ("set_by", field.setter.json)])
            if !field.movedBy.isEmpty { member["moved_by"] = .array(field.movedBy.map(\.json)) }
            return (name, JSONValue.object(member))
        }
        return JSONObject([("format", 1), ("fields", .object(JSONObject(members)))])
    }

    /// Reads what ``json`` wrote.
    package init(id: SubscriptionID, json: JSONObject) throws(StoredFormError) {
        self.init(id: id)
        let reader = StoredObject(subject: "subscription", object: json)
        guard json["format"]?.integer == 1 else { throw reader.error("format") }
        for (name, member) in try reader.object("fields") {
            guard let value = member["value"], let setter = member["set_by"].flatMap(Setter.init)
            else { throw reader.error(name) }
            fields[name] = Field(
                value: value, setter: setter,
                movedBy: (member["moved_by"]?.array ?? []).compactMap(Setter.init))
        }
    }
}
