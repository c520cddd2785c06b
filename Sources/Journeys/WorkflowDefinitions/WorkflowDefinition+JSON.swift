internal import JSON
internal import JourneyModel
internal import TimeZones

// A definition as JSON in the form it is published in: every default written out.
extension WorkflowDefinition {
    var json: JSONValue {
        var out = Members()
        out["dsl"] = 1
        out["id"] = .string(id.text)
        out["kind"] = .string(kind.rawValue)
        out["name"] = name.map { .string($0) }
        out["description"] = description.map { .string($0) }
        out["tags"] = .strings(tags)
        out["environments"] = .strings(environments)
        out["timezone"] = timezone.map { .string($0) }
        out["entry"] = entry.json
        out["goal"] = goal?.json
        out["exit_policy"] = .string(exitPolicy.rawValue)
        out["exits"] = exits.isEmpty ? nil : .array(exits.map(\.json))
        out["limits"] = limits.json
        out["start"] = .string(start.text)
        out["steps"] = .object(
            JSONObject(stepOrder.compactMap { id in steps[id].map { (id.text, $0.json) } }))
        return out.json
    }
}

/// An object under construction; setting nil leaves a member out.
private typealias Members = JSONObject

extension JSONObject {
    fileprivate var json: JSONValue { .object(self) }
}

extension JSONValue {
    fileprivate static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }
    fileprivate static func duration(_ duration: Duration) -> JSONValue {
        .string(duration.iso8601)
    }
}

extension Edge {
    fileprivate var json: JSONValue {
        switch self {
        case .step(let id): .string(id.text)
        case .end: "end"
        }
    }
}

extension EventMatch {
    fileprivate func write(into out: inout JSONObject) {
        out["event"] = .strings(names)
        out["where"] = condition?.json
        out["unless"] = unless?.json
        out["correlate"] = .bool(correlates)
    }
}

extension Entry {
    fileprivate var json: JSONValue {
        var out = Members()
        switch trigger {
        case .event(let names): out["trigger"] = ["event": .strings(names)]
        }
        out["connectors"] = connectors.map { .strings($0) }
        out["where"] = condition?.json
        out["unless"] = unless?.json
        switch key {
        case .subscription: out["key"] = "subscription"
        case .reference(let pointer): out["key"] = ["ref": .string(pointer.description)]
        case nil: break
        }
        switch reentry {
        case .oneTime: out["reentry"] = "one_time"
        case .everyTime: out["reentry"] = "every_time"
        case .oncePerWindow(let window): out["reentry"] = ["once_per_window": .duration(window)]
        }
        out["when_live"] = .string(whenLive.rawValue)
        return out.json
    }
}

extension Goal {
    fileprivate var json: JSONValue {
        var out = Members()
        match.write(into: &out)
        out["within"] = .duration(within)
        switch anchor {
        case .runStart: out["anchor"] = "run_start"
        case .step(let id): out["anchor"] = ["step": .string(id.text)]
        }
        return out.json
    }
}

extension ExitRule {
    fileprivate var json: JSONValue {
        var out = Members()
        switch cause {
        case .event(let match): match.write(into: &out)
        case .condition(let condition): out["if"] = condition.json
        }
        out["reason"] = .string(reason)
        return out.json
    }
}

extension Limits {
    fileprivate var json: JSONValue {
        ["time": .duration(time), "steps": .integer(steps), "visits": .integer(visits)]
    }
}

extension Step {
    fileprivate var json: JSONValue {
        var out = Members()
        out["type"] = .string(type)
        out["name"] = name.map { .string($0) }
        out["note"] = note.map { .string($0) }
        switch action {
        case .delay(let delay): delay.write(into: &out)
        case .waitUntil(let wait): wait.write(into: &out)
        case .branch(let branch): branch.write(into: &out)
        case .action(let action): action.write(into: &out)
        case .exit(let reason): out["reason"] = reason.map { .string($0) }
        }
        return out.json
    }
}

extension Delay {
    fileprivate func write(into out: inout JSONObject) {
        switch length {
        case .duration(let duration): out["for"] = .duration(duration)
        case .until(let value): out["until"] = value.json
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

extension Value {
    var json: JSONValue {
        switch self {
        case .literal(let literal):
            let looksLikeValue =
                DefinitionReader.firstForm(in: literal, at: JSONPointer()) != nil
            return looksLikeValue ? ["literal": literal] : literal
        case .reference(let pointer, let fallback):
            var out: JSONObject = JSONObject([("ref", .string(pointer.description))])
            out["default"] = fallback?.json
            return .object(out)
        case .template(let text): return ["template": .string(text)]
        case .time(let base, let moved):
            let key = moved < .zero ? "minus" : "plus"
            let length = moved < .zero ? .zero - moved : moved
            return .object(JSONObject([("time", base.json), (key, .duration(length))]))
        }
    }
}

extension ValueTree {
    var json: JSONValue {
        switch self {
        case .value(let value): value.json
        case .array(let items): .array(items.map(\.json))
        case .object(let members): .object(JSONObject(members.map { ($0.key, $0.tree.json) }))
        }
    }
}

extension Condition {
    var json: JSONValue {
        switch self {
        case .all(let parts): ["all": .array(parts.map(\.json))]
        case .any(let parts): ["any": .array(parts.map(\.json))]
        case .not(let part): ["not": part.json]
        case .compare(let comparison, let left, let right):
            .object(JSONObject([(comparison.rawValue, .array([left.json, right.json]))]))
        case .between(let value, let low, let high):
            ["between": .array([value.json, low.json, high.json])]
        case .isIn(let value, let choices):
            ["in": .array([value.json, .array(choices.map(\.json))])]
        case .contains(let left, let right): ["contains": .array([left.json, right.json])]
        case .text(let test, let left, let right):
            .object(JSONObject([(test.rawValue, .array([left.json, right.json]))]))
        case .exists(let pointer): ["exists": ["ref": .string(pointer.description)]]
        }
    }
}
