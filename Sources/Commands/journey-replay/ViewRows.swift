internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import TimeZones

// What the storage shows, as rows: members in the order people read them.

extension RunSummary {
    var json: JSONValue {
        var row = JSONObject([
            ("id", .string(id.text)), ("workflow", .string(workflow.text)),
            ("version", .integer(version)), ("status", .string(status)),
        ])
        row["reason"] = reason.map { .string($0) }
        row["step"] = step.map { .string($0) }
        row["customer"] = .integer(customer.number)
        row["key"] = key.map { .string($0) }
        row["environment"] = .string(environment)
        row["entered_at"] = .string(enteredAt.description)
        row["ended_at"] = endedAt.map { .string($0.description) }
        row["wake_at"] = nextWake.map { .string($0.description) }
        return .object(row)
    }

    static func table(_ runs: [RunSummary]) -> Table {
        Table(
            columns: [
                Table.Column("RUN", key: "id"), Table.Column("WORKFLOW", key: "workflow"),
                Table.Column("V", key: "version", alignment: .right),
                Table.Column("STATUS", key: "status"), Table.Column("REASON", key: "reason"),
                Table.Column("STEP", key: "step"), Table.Column("ENTERED", key: "entered_at"),
                Table.Column("ENDED", key: "ended_at"), Table.Column("NEXT WAKE", key: "wake_at"),
            ], rows: runs.map(\.json))
    }
}

extension EffectView {
    var json: JSONValue {
        var row = JSONObject([
            ("id", .string(invocation.text)), ("run", .string(run.text)),
            ("step", .string(step.text)), ("attempt_group", .integer(attemptGroup)),
            ("tool", .string(tool)),
        ])
        row["account"] = account.map { .string($0) }
        row["status"] = .string(status)
        row["reason"] = reason.map { .string($0) }
        row["attempts"] = .integer(attempts)
        row["customer"] = .integer(customer.number)
        row["requested_at"] = .string(requestedAt.description)
        row["deadline"] = .string(deadline.description)
        row["ended_at"] = endedAt.map { .string($0.description) }
        row["due_at"] = dueAt.map { .string($0.description) }
        row["lease_until"] = leaseUntil.map { .string($0.description) }
        row["result"] = result
        return .object(row)
    }

    static func table(_ effects: [EffectView]) -> Table {
        Table(
            columns: [
                Table.Column("REQUESTED", key: "requested_at"), Table.Column("STEP", key: "step"),
                Table.Column("TOOL", key: "tool"), Table.Column("ACCOUNT", key: "account"),
                Table.Column("STATUS", key: "status"), Table.Column("REASON", key: "reason"),
                Table.Column("ATTEMPTS", key: "attempts", alignment: .right),
                Table.Column("ENDED", key: "ended_at"), Table.Column("RUN", key: "run"),
            ], rows: effects.map(\.json))
    }
}

extension DeliveryView {
    var json: JSONValue {
        var row = JSONObject([
            ("id", .integer(id)), ("received_at", .string(receivedAt.description)),
            ("connector", .string(connector)), ("state", .string(state ?? "unread")),
        ])
        row["reason"] = reason.map { .string($0) }
        row["event"] = event.map { .string($0.text) }
        row["provider_event_id"] = .string(providerEventID)
        row["environment"] = .string(environment)
        row["app"] = app.map { .string($0) }
        row["body_bytes"] = .integer(bodyBytes)
        return .object(row)
    }

    static func table(_ deliveries: [DeliveryView]) -> Table {
        Table(
            columns: [
                Table.Column("DELIVERY", key: "id", alignment: .right),
                Table.Column("RECEIVED", key: "received_at"),
                Table.Column("CONNECTOR", key: "connector"), Table.Column("STATE", key: "state"),
                Table.Column("REASON", key: "reason"),
                Table.Column("ENVIRONMENT", key: "environment"),
                Table.Column("BYTES", key: "body_bytes", alignment: .right),
                Table.Column("PROVIDER'S ID", key: "provider_event_id"),
                Table.Column("EVENT", key: "event"),
            ], rows: deliveries.map(\.json))
    }
}

extension EventView {
    /// The event's stored form, with whose it is and when it was recorded; the person's ids stay
    /// under `customer`.
    var json: JSONValue {
        var row = logged.event.json
        row["record"] = .integer(customer.number)
        row["recorded_at"] = .string(logged.recordedAt.description)
        return .object(row)
    }

    static func table(_ events: [EventView]) -> Table {
        Table(
            columns: [
                Table.Column("RECORDED", key: "recorded_at"), Table.Column("EVENT", key: "event"),
                Table.Column("CONNECTOR", key: "connector"),
                Table.Column("CUSTOMER", at: JSONPointer(tokens: ["customer", "id"])),
                Table.Column("OCCURRED", key: "occurred_at"),
                Table.Column("ENVIRONMENT", key: "environment"), Table.Column("ID", key: "id"),
            ], rows: events.map(\.json))
    }
}

extension HistoryRow {
    /// The decision's entries.
    var entries: JSONValue { json["entries"] ?? .array([]) }

    /// `{"decision", "at", "entries"}` and whatever else is kept.
    var row: JSONValue {
        .object(
            JSONObject(
                [("decision", .integer(number)), ("at", .string(at.description))]
                    + json.members))
    }
}
