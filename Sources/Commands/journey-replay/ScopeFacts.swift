internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones

/// Reads what a scope file says beside the scope itself: the facts that questions are asked of.
struct ScopeFacts {
    let path: String

    private func refusal(_ place: String, _ sentence: String) -> ReplayFailure {
        ReplayFailure(.usage, "\"\(place)\" in the scope file \(path) \(sentence)")
    }

    /// The state of each subscription, the trigger's own among them.
    func subscriptions(
        _ json: JSONValue?, own: JSONObject?
    ) throws -> [SubscriptionID: JSONObject] {
        guard let json else {
            return own.map { [SubscriptionID(connector: "scope", key: "1"): $0] } ?? [:]
        }
        guard let items = json.array else {
            throw refusal("subscriptions", "is \(json.kind); write a list of states.")
        }
        var states: [SubscriptionID: JSONObject] = [:]
        for (index, item) in items.enumerated() {
            guard let state = item.object else {
                throw refusal("subscriptions/\(index)", "is \(item.kind); write an object.")
            }
            states[SubscriptionID(connector: "scope", key: String(index + 1))] = state
        }
        return states
    }

    func features(_ json: JSONObject) throws -> [String: FeatureFacts] {
        var features: [String: FeatureFacts] = [:]
        for (id, answer) in json {
            guard let allowed = answer["allowed"]?.bool else {
                throw refusal("features/\(id)", "has no \"allowed\"; write true or false there.")
            }
            features[id] = FeatureFacts(
                own: FeatureAnswer(
                    allowed: allowed, unlimited: answer["unlimited"]?.bool ?? false,
                    balance: answer["balance"]?.number, type: answer["type"]?.string ?? "boolean"))
        }
        return features
    }

    func segments(_ json: JSONObject) throws -> [String: SegmentFacts] {
        var segments: [String: SegmentFacts] = [:]
        for (id, membership) in json {
            guard let isMember = membership["member"]?.bool else {
                throw refusal("segments/\(id)", "has no \"member\"; write true or false there.")
            }
            segments[id] = SegmentFacts(
                isMember: isMember,
                enteredAt: try membership["entered_at"].map {
                    try instant($0, "segments/\(id)/entered_at")
                })
        }
        return segments
    }

    func events(_ json: JSONValue?) throws -> [LoggedEvent] {
        guard let json else { return [] }
        guard let items = json.array else {
            throw refusal("events", "is \(json.kind); write a list of events.")
        }
        return try items.enumerated().map { index, item in
            guard let name = item["event"]?.string else {
                throw refusal("events/\(index)", "has no \"event\"; name it there.")
            }
            let at = try instant(item["occurred_at"] ?? .null, "events/\(index)/occurred_at")
            let id = "scope-\(index + 1)"
            return LoggedEvent(
                ordinal: Int64(index + 1), recordedAt: at,
                event: Event(
                    id: Event.makeID(connector: "scope", providerEventID: id), connector: "scope",
                    providerEventID: id, providerType: item["provider_type"]?.string, name: name,
                    trust: .provider, person: Event.Person(id: nil), occurredAt: at,
                    receivedAt: at, environment: "production",
                    properties: item["properties"]?.object ?? JSONObject()))
        }
    }

    private func instant(_ json: JSONValue, _ place: String) throws -> Instant {
        guard let instant = json.string.flatMap({ Instant($0) }) else {
            throw refusal(place, "is no time; write one such as \"2026-11-30T10:00:00Z\".")
        }
        return instant
    }
}
