package import JSON
package import JourneyEngine
package import JourneyModel

extension SubscriptionID {
    /// The subscription that an event is about; nil when it touches none.
    package init?(of event: Event) {
        guard event.trust == .provider, Vocabulary.rank(of: event.name) > 0,
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
            let member = JSONObject([("value", field.value), ("set_by", field.setter.json)])
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
            fields[name] = Field(value: value, setter: setter)
        }
    }
}
