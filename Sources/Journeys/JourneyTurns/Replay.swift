package import JSON
package import JourneyEngine
package import JourneyModel

/// What an operator's replay asks of one stored delivery.
package struct Replay: Sendable, Hashable {
    /// Whether the bytes are mapped again: the same event does nothing, another one is the next revision.
    /// Without it the event is offered as it is stored, to be started by alone.
    package var remaps: Bool
    /// Whether workflows may start that this event has not started.
    package var starts: Bool
    /// Whether live runs that the earlier revision started are cancelled.
    package var cancelsStarted: Bool
    /// Why the runs that it starts send nothing; nil for runs that send.
    package var withholding: Withholding?
    /// The number under which the audit tells who asked.
    package var audit: Int64

    package init(
        remaps: Bool, starts: Bool = false, cancelsStarted: Bool = false,
        withholding: Withholding? = Withholding(reason: "replay", recordsRequests: false),
        audit: Int64
    ) {
        self.remaps = remaps
        self.starts = starts
        self.cancelsStarted = cancelsStarted
        self.withholding = withholding
        self.audit = audit
    }

    /// The stored form: `{"remap", "start", "cancel_started", "withholding"?, "audit"}`.
    package var json: JSONObject {
        var json = JSONObject([
            ("remap", .bool(remaps)), ("start", .bool(starts)),
            ("cancel_started", .bool(cancelsStarted)), ("audit", .integer(audit)),
        ])
        json["withholding"] = withholding?.json
        return json
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "replay", object: json)
        guard let remaps = json["remap"]?.bool else { throw reader.error("remap") }
        var withholding: Withholding?
        if let stored = json["withholding"] {
            withholding = Withholding(json: stored)
            // A form that this program does not know must never mean that everything is sent.
            if withholding == nil { throw reader.error("withholding") }
        }
        self.init(
            remaps: remaps, starts: json["start"]?.bool ?? false,
            cancelsStarted: json["cancel_started"]?.bool ?? false, withholding: withholding,
            audit: try reader.integer("audit"))
    }
}
