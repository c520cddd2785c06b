internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// What an event says of the customer, before any run or workflow sees it (S2, S5).
extension CustomerDecision {
    /// Takes in what the event says of attributes and of its subscription.
    ///
    /// - Returns: the event with what the subscription makes of it.
    mutating func learn(_ event: Event) -> Event {
        learnAttributes(event)
        guard let id = SubscriptionID(of: event) else { return event }
        var event = event
        var state = subscriptions[id] ?? SubscriptionState(id: id)
        if state.recovers(by: event) {
            event.mappedName = event.name
            event.name = "subscription.recovered"
        }
        let before = state
        event.isLate = state.take(event)
        subscriptions[id] = state
        facts.subscriptions[id] = state.scope
        if state != before { changedSubscriptions.insert(id) }
        if let until = turn.customer.givenUntil, event.occurredAt <= until {
            result.givesAgain = true
        }
        return event
    }

    /// Per attribute the newest wins: by the attribute's own time where the event carries one.
    private mutating func learnAttributes(_ event: Event) {
        guard
            event.trust == .provider || event.name == "customer.updated" && event.trust == .source,
            let attributes = event.properties["attributes"]?.object
        else { return }
        let times = event.properties["attribute_times"]
        for (name, value) in attributes {
            let at = times?[name]?.string.flatMap { Instant($0) } ?? event.occurredAt
            result.customer.setAttribute(
                name, to: value.isNull ? Optional.none : value,
                by: Setter(occurredAt: at, rank: 0, event: event.id))
        }
        facts.attributes = result.customer.attributes
    }

    /// Segments and dates that an event may have changed.
    mutating func reviewState(after event: LoggedEvent) {
        let changesSubscription = SubscriptionID(of: event.event) != nil
        let changesAttributes = event.event.properties["attributes"] != nil
        reviewSegments(depth: min(event.event.depth, Self.deepest)) { segment in
            changesSubscription
                && (segment.needs.readsSubscriptions || segment.needs.readsSubscription)
                || changesAttributes && !segment.needs.attributes.isEmpty
                || segment.needs.histories.contains { history in
                    history.names.contains { event.event.answers(to: $0) }
                }
        }
        if changesSubscription || changesAttributes { reviewDates(knownAt: event.recordedAt) }
    }

    /// An import changed what is known and is no news: nobody enters a segment by it, dates that are past
    /// start nobody, those to come wait. Conditions of live runs see it at the turn's end (S3).
    mutating func settleImport() {
        settleSegments { $0.needs.readsSubscriptions || $0.needs.readsSubscription }
        settleMergedDates()
        count(Count(.imported))
    }

    /// A workflow wrote attributes: whatever reads them is looked at anew.
    mutating func attributesChanged(depth: Int, knownAt: Instant) {
        facts.attributes = result.customer.attributes
        reviewSegments(depth: depth) { !$0.needs.attributes.isEmpty }
        reviewDates(knownAt: knownAt)
    }
}
