package import JSON
package import JourneyEngine
package import JourneyModel
package import TimeZones

// Inputs that are no events: what the engine, an operator or a calendar asks of one customer.

/// A run that is to start: asked for by `start_run`, an operator or the app.
package struct StartInput: Sendable, Hashable {
    package var request: StartRequest
    /// Whether a live run in its place is ended for it.
    package var supersedes: Bool
    /// `/subscription` of the run, and its key where the workflow's runs are told apart by it.
    package var subscription: SubscriptionID?

    package init(
        _ request: StartRequest, supersedes: Bool = false, subscription: SubscriptionID? = nil
    ) {
        self.request = request
        self.supersedes = supersedes
        self.subscription = subscription
    }

    /// The stored form: `{"workflow", "key", "cause", "depth", "supersedes", "subscription"?,
    /// "withholding"?}`.
    package var json: JSONObject {
        var json = JSONObject([
            ("workflow", .string(request.workflow.text)),
            ("key", request.key.map { .string($0) } ?? .null), ("cause", .string(request.cause)),
            ("depth", .integer(request.depth)), ("supersedes", .bool(supersedes)),
        ])
        json["withholding"] = request.withholding?.json
        json["subscription"] = subscription.map {
            ["connector": .string($0.connector), "key": .string($0.key)]
        }
        return json
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "start", object: json)
        var subscription: SubscriptionID?
        if let stored = json["subscription"]?.object {
            let member = StoredObject(subject: "start", object: stored)
            subscription = SubscriptionID(
                connector: try member.string("connector"), key: try member.string("key"))
        }
        self.init(
            StartRequest(
                workflow: WorkflowID(try reader.string("workflow")), key: json["key"]?.string,
                cause: try reader.string("cause"), depth: Int(try reader.integer("depth")),
                withholding: json["withholding"].flatMap { Withholding(json: $0) }),
            supersedes: json["supersedes"]?.bool ?? false, subscription: subscription)
    }
}

/// Whose turn it is in the firing of a schedule.
package struct ScheduleInput: Sendable, Hashable {
    package var workflow: WorkflowID
    /// The instant that the calendar names.
    package var plannedAt: Instant

    package init(workflow: WorkflowID, plannedAt: Instant) {
        self.workflow = workflow
        self.plannedAt = plannedAt
    }

    /// What a run that it starts is known by.
    package var cause: String { "schedule:\(plannedAt)" }

    /// The stored form: `{"workflow", "planned_at"}`.
    package var json: JSONObject {
        JSONObject([
            ("workflow", .string(workflow.text)), ("planned_at", .string(plannedAt.description)),
        ])
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "schedule", object: json)
        self.init(
            workflow: WorkflowID(try reader.string("workflow")),
            plannedAt: try reader.instant("planned_at"))
    }
}

/// What a turn puts in for the customer's next turn (S2).
package enum EngineInput: Sendable, Hashable {
    case event(Event)
    case start(StartInput)
    case exit(ExitRequest)

    /// The stored form of what is asked.
    package var json: JSONObject {
        switch self {
        case .event(let event): event.json
        case .start(let start): start.json
        case .exit(let exit): exit.json
        }
    }
}

extension ExitRequest {
    /// The stored form: `{"workflow", "key", "by", "depth"}`.
    package var json: JSONObject {
        JSONObject([
            ("workflow", .string(workflow.text)), ("key", key.map { .string($0) } ?? .null),
            ("by", .string(by.text)), ("depth", .integer(depth)),
        ])
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "exit", object: json)
        self.init(
            workflow: WorkflowID(try reader.string("workflow")), key: json["key"]?.string,
            by: RunID(try reader.string("by")), depth: Int(try reader.integer("depth")))
    }
}

/// What a run that a segment starts is known by.
extension Event {
    /// `segment:<id>:<on>:<entered_at or left_at>`; nil for what is no change of a segment.
    package var segmentCause: String? {
        guard trust == .engine, let segment = properties["segment"]?.string else { return nil }
        switch name {
        case Event.segmentEntered: return "segment:\(segment):enter:\(occurredAt)"
        case Event.segmentLeft: return "segment:\(segment):leave:\(occurredAt)"
        default: return nil
        }
    }
}
