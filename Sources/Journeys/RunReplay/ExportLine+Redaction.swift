package import JSON
internal import JourneyEngine
internal import JourneyModel

// What is left of an export that may go to strangers: how the runs went, and nobody's data.
extension ExportLine {
    /// The line with everything that a person, a provider or a receiver said replaced by
    /// ``JSON/JSONValue/redactedMark``. Members that are not known to be harmless go too.
    package var redacted: JSONObject {
        switch self {
        case .export(let program, let at, isRedacted: _):
            ExportLine.export(program: program, at: at, isRedacted: true).json
        case .definition, .end: json
        case .run(var row):
            Self.redact(&row)
        case .decision:
            JSONObject(
                json.filter { $0.key != "seal" }.map { member in
                    guard member.key == "entries" else { return member }
                    return (
                        member.key,
                        .array((member.value.array ?? []).map(Self.redacted(entry:)))
                    )
                })
        case .attempted:
            JSONObject(
                json.map { member in
                    Self.harmless.contains(member.key) || Self.attempt.contains(member.key)
                        ? member : (member.key, .redactedMark)
                })
        case .event(let logged): Self.redacted(logged)
        }
    }

    /// Members of entries that say how a run went.
    private static let harmless: Set<String> = [
        "kind", "run", "workflow", "version", "digest", "customer", "slot", "rerun",
        "environment", "ordinal", "at", "engine", "event", "name", "recorded_at",
        "trigger_recorded_at", "bound_by", "timer", "look", "command", "audit", "converts",
        "result", "from", "to", "outlet", "step", "visit", "entered_at", "due", "zone", "tz",
        "after", "events", "reconsider_at", "invocation", "attempt_group", "tool", "account",
        "deadline", "not_before", "status", "reason", "occurred_at", "experiment", "variant",
        "bucket", "milestone", "holdout", "merge", "into", "shift", "hides", "look_back",
        "entry_ordinal", "depth", "opens", "outside",
    ]
    private static let attempt: Set<String> = [
        "fence", "number", "started_at", "ended_at", "ambiguous", "outcome",
    ]

    private static func redacted(entry: JSONValue) -> JSONValue {
        guard let members = entry.object else { return .redactedMark }
        return .object(
            JSONObject(
                members.map { member in
                    if member.value.isNull { return member }
                    if harmless.contains(member.key) { return member }
                    switch member.key {
                    case "cause":
                        return (member.key, .string(redacted(cause: member.value.string ?? "")))
                    case "outcome":
                        return (member.key, ["outcome": member.value["outcome"] ?? .null])
                    case "scope", "trigger":
                        return (member.key, redacted(scope: member.value))
                    case "values":
                        let values = member.value.object ?? JSONObject()
                        return (
                            member.key,
                            .object(JSONObject(values.map { ($0.key, .redactedMark) }))
                        )
                    case _: return (member.key, .redactedMark)
                    }
                }))
    }

    /// Events, schedules and segments name nobody; a date's cause names a subscription, and a caller's own
    /// key may name anything.
    private static func redacted(cause: String) -> String {
        ["evt_", "schedule:", "segment:"].contains { cause.hasPrefix($0) } ? cause : "redacted"
    }

    /// Of an event's scope its `meta` stays, without the provider's app.
    private static func redacted(scope: JSONValue) -> JSONValue {
        var kept = JSONObject([("redacted", .redactedMark)])
        kept["meta"] = scope["meta"]
        return .object(kept)
    }

    private static func redacted(_ logged: LoggedEvent) -> JSONObject {
        var event = logged.event
        event.person = Event.Person(id: nil)
        event.providerEventID = ""
        event.properties = JSONObject([("redacted", .redactedMark)])
        event.notes = []
        return ExportLine.event(
            LoggedEvent(ordinal: logged.ordinal, recordedAt: logged.recordedAt, event: event)
        ).json
    }

    private static func redact(_ row: inout RunRow) -> JSONObject {
        let trigger = redacted(scope: .object(row.run.trigger)).object ?? JSONObject()
        row.run.trigger = trigger
        row.run.cause = redacted(cause: row.run.cause)
        row.run.bound = trigger
        row.run.results = row.run.results.mapValues { _ in .redactedMark }
        if row.run.key != nil { row.run.key = "redacted" }
        row.run.subscription?.key = "redacted"
        return ExportLine.run(row).json
    }
}
