package import JSON
package import TimeZones

/// A stored value that is not in the form this version writes; it names the member.
package struct StoredFormError: Error, Sendable, Hashable, CustomStringConvertible {
    package let subject: String
    package let member: String

    package init(subject: String, member: String) {
        self.subject = subject
        self.member = member
    }

    package var description: String {
        "the stored \(subject) has no readable \"\(member)\"; was it written by a newer version?"
    }
}

extension Event {
    /// The stored form, as in the connectors' contract; `raw` is left to the delivery's bytes.
    package var json: JSONObject {
        var json = told
        if isLate { json["late"] = .bool(true) }
        json["mapped_event"] = mappedName.map { .string($0) }
        return json
    }

    private var told: JSONObject {
        JSONObject([
            ("id", .string(id.text)), ("connector", .string(connector)),
            ("provider_event_id", .string(providerEventID)),
            ("provider_type", providerType.map { .string($0) } ?? .null),
            ("event", .string(name)), ("trust", .string(trust.rawValue)),
            (
                "customer",
                .object(
                    JSONObject([
                        ("id", person.id.map { .string($0) } ?? .null),
                        ("aliases", .array(person.aliases.map { .string($0) })),
                        ("anonymous", .bool(person.isAnonymous)),
                    ]))
            ),
            ("app", providerApp.map { .string($0) } ?? .null),
            ("occurred_at", .string(occurredAt.description)), ("clamped", .bool(isClamped)),
            ("received_at", .string(receivedAt.description)),
            ("environment", .string(environment)), ("properties", .object(properties)),
            ("notes", .array(notes.map { .string($0) })), ("depth", .integer(depth)),
            ("mapping_version", .string(mappingVersion)),
        ])
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "event", object: json)
        let customer = try reader.object("customer")
        let trustWord = try reader.string("trust")
        guard let trust = Trust(rawValue: trustWord) else { throw reader.error("trust") }
        self.init(
            id: EventID(try reader.string("id")), connector: try reader.string("connector"),
            providerEventID: try reader.string("provider_event_id"),
            providerType: json["provider_type"]?.string, name: try reader.string("event"),
            trust: trust,
            person: Person(
                id: customer["id"]?.string,
                aliases: (customer["aliases"]?.array ?? []).compactMap(\.string),
                isAnonymous: customer["anonymous"]?.bool ?? false),
            providerApp: json["app"]?.string, occurredAt: try reader.instant("occurred_at"),
            isClamped: json["clamped"]?.bool ?? false,
            receivedAt: try reader.instant("received_at"),
            environment: try reader.string("environment"),
            properties: try reader.object("properties"),
            notes: (json["notes"]?.array ?? []).compactMap(\.string),
            depth: Int(json["depth"]?.integer ?? 0),
            mappingVersion: json["mapping_version"]?.string ?? "",
            isLate: json["late"]?.bool ?? false, mappedName: json["mapped_event"]?.string)
    }
}

/// Reads members of a stored object, each with an error that names it.
package struct StoredObject {
    package let subject: String
    package let object: JSONObject

    package init(subject: String, object: JSONObject) {
        self.subject = subject
        self.object = object
    }

    /// The error that names a member of this object.
    package func error(_ member: String) -> StoredFormError {
        StoredFormError(subject: subject, member: member)
    }

    /// The text of a member that must be there.
    package func string(_ member: String) throws(StoredFormError) -> String {
        guard let text = object[member]?.string else { throw error(member) }
        return text
    }

    /// The whole number of a member that must be there.
    package func integer(_ member: String) throws(StoredFormError) -> Int64 {
        guard let number = object[member]?.integer else { throw error(member) }
        return number
    }

    /// The instant of a member that must be there, written as RFC 3339.
    package func instant(_ member: String) throws(StoredFormError) -> Instant {
        guard let instant = Instant(try string(member)) else { throw error(member) }
        return instant
    }

    /// Nil when absent or null; an error when it is something else.
    package func instantIfPresent(_ member: String) throws(StoredFormError) -> Instant? {
        guard let value = object[member], !value.isNull else { return nil }
        return try instant(member)
    }

    /// The object of a member that must be there.
    package func object(_ member: String) throws(StoredFormError) -> JSONObject {
        guard let value = object[member]?.object else { throw error(member) }
        return value
    }
}
