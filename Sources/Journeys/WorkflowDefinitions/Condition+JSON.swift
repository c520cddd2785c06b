package import JSON
internal import JourneyModel
internal import TimeZones

// Values and conditions in the published form.

extension Value {
    /// The value as it is published.
    package var json: JSONValue {
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
    /// The tree as it is published.
    package var json: JSONValue {
        switch self {
        case .value(let value): value.json
        case .array(let items): .array(items.map(\.json))
        case .object(let members): .object(JSONObject(members.map { ($0.key, $0.tree.json) }))
        }
    }
}

extension Condition {
    /// The condition as it is published. What stands inside envelopes only has a form of its own, which
    /// tells conditions apart and is not read back: an envelope is published as it was written.
    package var json: JSONValue {
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
        case .feature(let test): ["feature": test.json]
        case .segment(let id, .member(let member)):
            ["segment": ["id": .string(id.text), "member": .bool(member)]]
        case .segment(let id, .enteredWithin(let span)):
            ["segment": ["id": .string(id.text), "entered_within": .duration(span)]]
        case .subscription(let part): ["subscription": part.json]
        case .events(let history): ["events": history.json]
        case .envelope(let envelope, _): ["ir": envelope]
        case .constant(let flag): ["constant": .bool(flag)]
        case .truthy(let value): ["truthy": value.json]
        case .undecidable(let what): ["undecidable": .string(what)]
        }
    }
}

extension FeatureTest {
    fileprivate var json: JSONValue {
        var out = Members()
        out["id"] = .string(id)
        out["entity"] = entity?.json
        out["allowed"] = allowed.map { .bool($0) }
        out["unlimited"] = unlimited.map { .bool($0) }
        out["balance"] = balance?.json
        return out.json
    }
}

extension EventHistory {
    fileprivate var json: JSONValue {
        var out = Members()
        match.write(into: &out)
        out["correlate"] = nil
        since.write(into: &out)
        out["until"] = until?.json
        if measure != .count { out["measure"] = measure.json }
        out["count"] = range.json
        return out.json
    }
}

extension EventHistory.Since {
    fileprivate func write(into out: inout JSONObject) {
        switch self {
        case .within(let span): out["within"] = .duration(span)
        case .run: out["since"] = "run"
        case .instant(let value): out["since"] = value.json
        case .ever: break
        case .later(let one, let other):
            one.write(into: &out)
            other.write(into: &out)
        }
    }
}

extension EventHistory.Measure {
    fileprivate var json: JSONValue {
        switch self {
        case .count: "count"
        case .sum(let pointer): ["sum": .string(pointer.description)]
        case .average(let pointer): ["average": .string(pointer.description)]
        case .minimum(let pointer): ["minimum": .string(pointer.description)]
        case .maximum(let pointer): ["maximum": .string(pointer.description)]
        case .distinct(let pointer): ["distinct": .string(pointer.description)]
        case .firstAt: "first_at"
        case .lastAt: "last_at"
        case .lastAge: "last_age"
        }
    }
}
