internal import JSON
internal import JourneyModel
internal import TimeZones

// Steps in the published form.

extension Step {
    var json: JSONValue {
        var out = Members()
        out["type"] = .string(type)
        out["name"] = name.map { .string($0) }
        out["note"] = note.map { .string($0) }
        switch action {
        case .delay(let delay): delay.write(into: &out)
        case .waitUntil(let wait): wait.write(into: &out)
        case .branch(let branch): branch.write(into: &out)
        case .action(let action): action.write(into: &out)
        case .timeWindow(let window): window.write(into: &out)
        case .experiment(let experiment):
            out["experiment"] = .string(experiment.experiment.text)
            out["variants"] = .object(
                JSONObject(experiment.variants.map { ($0.id, $0.next.json) }))
        case .sendEvent(let send):
            out["event"] = .string(send.event)
            out["properties"] = send.properties.json
            out["next"] = send.next.json
        case .updateCustomer(let update):
            if !update.attributes.isEmpty { out["set"] = ValueTree.object(update.attributes).json }
            if !update.removed.isEmpty { out["unset"] = .strings(update.removed) }
            out["next"] = update.next.json
        case .milestone(let id, let next):
            out["milestone"] = .string(id)
            out["next"] = next.json
        case .startRun(let command), .exitRun(let command):
            out["workflow"] = .string(command.workflow.text)
            out["key"] = command.key?.json
            out["next"] = command.next.json
        case .exit(let reason): out["reason"] = reason.map { .string($0) }
        }
        return out.json
    }
}

extension Delay {
    fileprivate func write(into out: inout JSONObject) {
        switch length {
        case .duration(let duration): out["for"] = .duration(duration)
        case .until(let value):
            out["until"] = value.json
            out["at"] = at.map { .string($0.description) }
            out["follow"] = .bool(follows)
        }
        out["next"] = next.json
        out["on_past"] = onPast?.json
        out["on_invalid"] = onInvalid?.json
    }
}

extension WaitUntil {
    fileprivate func write(into out: inout JSONObject) {
        out["branches"] = .array(
            branches.map { branch in
                var out = Members()
                out["id"] = .string(branch.id)
                switch branch.cause {
                case .event(let match): match.write(into: &out)
                case .condition(let condition): out["if"] = condition.json
                }
                out["next"] = branch.next.json
                return out.json
            })
        switch since {
        case .step: out["since"] = "step"
        case .entryInto(let id): out["since"] = ["step": .string(id.text)]
        case .run: out["since"] = "run"
        }
        switch timeout {
        case .duration(let duration): out["timeout"] = .duration(duration)
        case .until(let value): out["timeout"] = value.json
        }
        out["on_timeout"] = onTimeout.json
    }
}

extension Branch {
    fileprivate func write(into out: inout JSONObject) {
        out["branches"] = .array(
            branches.map {
                ["id": .string($0.id), "if": $0.condition.json, "next": $0.next.json]
            })
        out["else"] = otherwise.json
    }
}

extension ActionStep {
    fileprivate func write(into out: inout JSONObject) {
        out["tool"] = .string(tool.rawValue)
        out["account"] = account.map { .string($0) }
        out["with"] = parameters.json
        out["attempt_timeout"] = .duration(attemptTimeout)
        out["window"] = window.map {
            var out = Members()
            $0.window.write(into: &out, timezone: $0.timezone)
            return out.json
        }
        out["gap"] = gap.map { .duration($0) }
        out["deadline"] = .duration(deadline)
        out["retry"] = [
            "attempts": .integer(retry.attempts),
            "backoff": .duration(retry.backoff),
            "factor": .number(retry.factor),
            "max": .duration(retry.longest),
            "jitter": .bool(retry.jitter),
            "on": .strings(retry.causes.map(\.rawValue)),
        ]
        out["next"] = next.json
        out["on_failed"] = onFailed?.json
        out["on_timeout"] = onTimeout?.json
    }
}

extension TimeWindow {
    fileprivate func write(into out: inout JSONObject) {
        window.write(into: &out, timezone: timezone)
        out["on_outside"] = onSkip == nil ? "wait" : "skip"
        out["on_skip"] = onSkip?.json
        out["next"] = next.json
    }
}
