internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import TimeZones

extension CustomerView {
    /// What `GET /v1/customers/{id}` answers.
    var document: JSONValue {
        [
            "environment": .string(environment), "app": app.map { .string($0) } ?? .null,
            "created_at": .string(createdAt.description), "attributes": .object(attributes),
            "ids": .array(
                ids.map { ["id": .string($0.id), "is_own": .bool($0.isOwn)] }),
            "runs": .array(runs.map(\.document)),
        ]
    }
}

extension RunSummary {
    fileprivate var document: JSONValue {
        [
            "id": .string(id.text), "workflow": .string(workflow.text),
            "version": .integer(version), "key": key.map { .string($0) } ?? .null,
            "status": .string(status), "reason": reason.map { .string($0) } ?? .null,
            "step": step.map { .string($0) } ?? .null,
            "entered_at": .string(enteredAt.description),
            "ended_at": endedAt.map { .string($0.description) } ?? .null,
        ]
    }
}
