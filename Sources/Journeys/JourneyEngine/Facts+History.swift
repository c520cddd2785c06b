internal import JSON
internal import JourneyModel
package import TimeZones

extension Facts {
    /// The facts of a decision as far as its history holds them: enough to make it again.
    ///
    /// - Parameters:
    ///   - entries: those of the decision, of one ``Engine/Outcome``.
    ///   - run: the run before the decision, or as it entered.
    ///   - now: the time of the decision's row.
    package init(repeating entries: [HistoryEntry], of run: Run, now: Instant) {
        let recorded = RecordedReads(entries)
        var subscriptions: [SubscriptionID: JSONObject] = [:]
        let state = recorded.object(of: "subscription")
        if let id = run.subscription, !state.isEmpty { subscriptions[id] = state }
        self.init(
            attributes: recorded.object(of: "customer"), subscriptions: subscriptions,
            events: Self.events(of: entries), now: now, recorded: recorded)
        recordedFeatures = recorded.object(of: "features")
    }

    /// What drove the decision and what its waits looked back at, each once, oldest first.
    private static func events(of entries: [HistoryEntry]) -> [LoggedEvent] {
        var known: Set<EventID> = []
        return entries.compactMap(\.event).filter { known.insert($0.event.id).inserted }
            .sorted { $0.ordinal < $1.ordinal }
    }
}

extension HistoryEntry {
    /// The event of an `input` entry; nil for other entries and inputs.
    package var event: LoggedEvent? {
        guard kind == .input, let scope = members["scope"]?.object,
            let meta = scope["meta"]?.object,
            let id = meta["id"]?.string, let name = meta["name"]?.string,
            let connector = meta["connector"]?.string,
            let trust = meta["trust"]?.string.flatMap({ Event.Trust(rawValue: $0) }),
            let occurredAt = meta["occurred_at"]?.string.flatMap({ Instant($0) }),
            let receivedAt = meta["received_at"]?.string.flatMap({ Instant($0) }),
            let ordinal = members["ordinal"]?.integer,
            let recordedAt = members["recorded_at"]?.string.flatMap({ Instant($0) })
        else { return nil }
        var properties = scope
        properties["meta"] = nil
        var event = Event(
            id: EventID(id), connector: connector, providerEventID: "",
            providerType: meta["provider_type"]?.string, name: name, trust: trust,
            person: Event.Person(id: nil), providerApp: meta["app"]?.string,
            occurredAt: occurredAt, receivedAt: receivedAt,
            environment: meta["environment"]?.string ?? "", properties: properties)
        event.depth = Int(members["depth"]?.integer ?? 0)
        event.mappedName = members["mapped"]?.string
        event.isLate = meta["late"]?.bool ?? false
        return LoggedEvent(ordinal: ordinal, recordedAt: recordedAt, event: event)
    }
}
