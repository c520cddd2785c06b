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
        if !partials.isEmpty {
            out["partials"] = .object(
                JSONObject(partials.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        }
        if !experiments.isEmpty {
            out["experiments"] = .object(
                JSONObject(
                    experiments.values.sorted { $0.id < $1.id }.map { ($0.id.text, $0.json) }))
        }
        return out.json
    }
}

extension EventMatch {
    func write(into out: inout JSONObject) {
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
        case .segment(let id, let turn):
            out["trigger"] = ["segment": .string(id.text), "on": .string(turn.rawValue)]
        case .date(let date): out["trigger"] = date.json
        case .schedule(let schedule): out["trigger"] = schedule.json
        case .api: out["trigger"] = ["api": true]
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
        out["once_per"] = oncePer?.json
        out["when_live"] = .string(whenLive.rawValue)
        return out.json
    }
}

extension DateTrigger {
    fileprivate var json: JSONValue {
        var out = Members()
        out["date"] = value.json
        if offset < .zero { out["minus"] = .duration(.zero - offset) }
        if offset > .zero { out["plus"] = .duration(offset) }
        out["at"] = at.map { .string($0.description) }
        out["late"] = .duration(late)
        return out.json
    }
}

extension ScheduleTrigger {
    fileprivate var json: JSONValue {
        [
            "schedule": .string(cron.text), "audience": audience.json, "rate": .integer(rate),
        ]
    }
}

extension Goal {
    fileprivate var json: JSONValue {
        var out = Members()
        switch cause {
        case .event(let match): match.write(into: &out)
        case .milestone(let id): out["milestone"] = .string(id)
        case .segmentEnter(let id): out["segment_enter"] = .string(id.text)
        case .segmentLeave(let id): out["segment_leave"] = .string(id.text)
        case .condition(let condition): out["if"] = condition.json
        }
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

extension ExperimentDefinition {
    var json: JSONValue {
        [
            "dsl": 1, "id": .string(id.text),
            "variants": .array(
                variants.map {
                    [
                        "id": .string($0.id), "weight": .integer($0.weight),
                        "holdout": .bool($0.isHoldout),
                    ]
                }),
        ]
    }
}

extension SegmentDefinition {
    var json: JSONValue {
        var out = Members()
        out["dsl"] = 1
        out["id"] = .string(id.text)
        out["name"] = name.map { .string($0) }
        out["if"] = condition.json
        return out.json
    }
}
