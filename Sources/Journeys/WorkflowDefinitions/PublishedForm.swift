internal import JSON
internal import JourneyModel
internal import TimeZones

// What the writers of the published form share.

/// An object under construction; setting nil leaves a member out.
typealias Members = JSONObject

extension JSONObject {
    var json: JSONValue { .object(self) }
}

extension JSONValue {
    static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }
    static func duration(_ duration: Duration) -> JSONValue {
        .string(duration.iso8601)
    }
}

extension Edge {
    var json: JSONValue {
        switch self {
        case .step(let id): .string(id.text)
        case .end: "end"
        }
    }
}

extension DailyWindow {
    func write(into out: inout JSONObject, timezone: String?) {
        out["start"] = .string(start.description)
        out["end"] = .string(end.description)
        out["days"] = .strings(Weekday.allCases.filter { days.contains($0) }.map(\.rawValue))
        out["timezone"] = timezone.map { .string($0) }
    }
}

extension NumberRange {
    var json: JSONValue {
        var out = Members()
        out["gte"] = atLeast.map { .number($0) }
        out["lte"] = atMost.map { .number($0) }
        return out.json
    }
}
