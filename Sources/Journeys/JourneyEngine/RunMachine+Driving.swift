internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// What stands first in a row: how the run entered, or the one input that drove the decision. From it and
// from what was read the same decision is made again.
extension RunMachine {
    mutating func noteEntered(_ admission: Reads) {
        keep(admission)
        let zone = findZone(nil)
        var members = JSONObject([
            ("run", .string(run.id.text)), ("workflow", .string(run.workflow.text)),
            ("version", .integer(run.version)), ("digest", .string(run.digest)),
            ("customer", .integer(run.customer.number)),
            ("key", run.key.map { .string($0) } ?? .null), ("slot", .integer(run.slot)),
            ("cause", .string(run.cause)), ("rerun", .integer(run.rerun)),
            ("environment", .string(run.environment)), ("ordinal", .integer(ordinal)),
            ("entry_ordinal", .integer(run.entryOrdinal)),
            ("at", .string(now.description)),
            ("trigger_recorded_at", .string(run.triggerRecordedAt.description)),
            ("trigger", .object(run.trigger)),
            ("engine", .integer(Engine.version)), ("zone", .string(zone.name)),
            ("tz", .string(zone.version)), ("depth", .integer(depth)),
        ])
        members["subscription"] = run.subscription.map {
            ["connector": .string($0.connector), "key": .string($0.key)]
        }
        members["withholding"] = run.withholding?.json
        record(.entered, members)
    }

    mutating func drive(by input: Engine.Input) {
        switch input {
        case .event(let event): drive(as: event.historyMembers)
        case .result(let result):
            var members = JSONObject([
                ("result", .string(result.invocation.text)),
                ("step", .string(result.step.text)), ("ordinal", .integer(ordinal)),
                ("at", .string(now.description)), ("outcome", .object(result.outcome.json)),
            ])
            members["message"] = result.isMessage.map { .bool($0) }
            drive(as: members)
        case .command(let command):
            var members = command.historyMembers
            members["ordinal"] = .integer(ordinal)
            members["at"] = .string(now.description)
            drive(as: members)
        case .timer:
            drive(
                as: JSONObject([
                    ("timer", .string(now.description)), ("ordinal", .integer(ordinal)),
                    ("at", .string(now.description)),
                ]))
        case .look:
            drive(
                as: JSONObject([
                    ("look", .string(now.description)), ("ordinal", .integer(ordinal)),
                    ("at", .string(now.description)), ("depth", .integer(depth)),
                ]))
        }
    }

    /// What drives an end from outside the run's steps.
    mutating func driveFromOutside(_ status: RunStatus) {
        var members = JSONObject([
            ("outside", .string(status.word)), ("ordinal", .integer(ordinal)),
            ("at", .string(now.description)),
        ])
        members["reason"] = status.reason.map { .string($0) }
        drive(as: members)
    }

    /// The due time that a timer came for.
    mutating func noteDue(_ due: Instant) {
        if isDrivenByTimer { noteDriver("timer", .string(due.description)) }
    }

    /// Records an event of the log that a wait looked back at, and took if it bears the step.
    mutating func noteLookBack(_ event: LoggedEvent, boundBy step: StepID? = nil) {
        guard drivingEvent != event.event.id.text else { return }
        var members = event.historyMembers
        members["look_back"] = true
        members["bound_by"] = step.map { .string($0.text) }
        recordOnce(.input, members, as: "event")
    }
}

extension LoggedEvent {
    fileprivate var historyMembers: JSONObject {
        var members = JSONObject([
            ("event", .string(event.id.text)), ("name", .string(event.name)),
            ("ordinal", .integer(ordinal)), ("recorded_at", .string(recordedAt.description)),
        ])
        if event.depth > 0 { members["depth"] = .integer(event.depth) }
        members["mapped"] = event.mappedName.map { .string($0) }
        members["scope"] = .object(event.scope)
        return members
    }
}

extension OperatorCommand {
    fileprivate var historyMembers: JSONObject {
        var members = JSONObject([
            ("command", .string(action.word)), ("audit", .integer(audit)),
        ])
        switch action {
        case .cancel(let reason), .exit(let reason): members["reason"] = .string(reason)
        case .skip(let step, let outlet):
            members["step"] = .string(step.text)
            members["outlet"] = .string(outlet)
        case .retry(let invocation): members["invocation"] = .string(invocation.text)
        }
        return members
    }
}
