internal import JSON
internal import JourneyEngine
package import JourneyModel
internal import TimeZones

/// One step on the way of a transfer that a provider told (S10).
///
/// It is told in the receiver's turn, which learns nothing else by it; routing finds whoever gives; then it
/// is carried out over both records at once, and only then do both have their event.
package enum TransferStep: Sendable, Hashable {
    /// The receiver's turn read it.
    case told(Event, from: [String], moves: Bool)
    /// The giver is known: the turn's customer.
    case given(EventID)

    /// How the event that looks for the giver names itself; nobody's runs see it.
    package static let seeking = "giver"

    /// The step that an event is; nil for every other event, and for those that both sides are to have.
    init?(_ event: Event, keeping: Set<String>) {
        guard event.name == "customer.transferred" else { return nil }
        switch (event.trust, event.properties["role"]?.string) {
        case (.provider, nil):
            let ids = (event.properties["transferred_from"]?.array ?? []).compactMap(\.string)
                .filter { !$0.isEmpty && $0.utf8.count <= 1_024 }
            guard !ids.isEmpty else { return nil }
            self = .told(event, from: ids, moves: !keeping.contains(event.connector))
        case (.engine, Self.seeking):
            guard let id = event.properties["transfer"]?.string else { return nil }
            self = .given(EventID(id))
        case (.provider, _), (.source, _), (.client, _), (.engine, _): return nil
        }
    }
}

extension Event {
    /// The event that is routed to whoever gives. Its ids are as a provider's own: they find a person's
    /// record and never make one.
    package func seekingGiver(_ ids: [String]) -> Event {
        var event = asGiver(ids)
        event.id = Event.makeID(
            connector: connector, providerEventID: providerEventID + "/giver")
        event.trust = .engine
        event.properties["role"] = .string(TransferStep.seeking)
        event.properties["transfer"] = .string(id.text)
        return event
    }

    /// The event as one of the owners has it: `/event/role` is `from` or `to`.
    package var forReceiver: Event {
        var event = self
        event.properties["role"] = "to"
        return event
    }

    /// As ``forReceiver``, under an id of its own.
    package var forGiver: Event {
        let ids = (properties["transferred_from"]?.array ?? []).compactMap(\.string)
        var event = asGiver(ids)
        event.providerEventID = providerEventID + "/from"
        event.id = Event.makeID(connector: connector, providerEventID: event.providerEventID)
        event.properties["role"] = "from"
        return event
    }

    private func asGiver(_ ids: [String]) -> Event {
        var event = self
        event.person = Person(
            id: ids.first, aliases: Array(ids.dropFirst().prefix(50)), isAnonymous: true)
        event.raw = nil
        return event
    }
}

/// A transfer with everything a turn of either owner would read, without inputs.
package struct RecordTransfer: Sendable {
    package var giver: CustomerTurn
    package var receiver: CustomerTurn
    /// As the provider told it.
    package var event: Event

    package init(giver: CustomerTurn, receiver: CustomerTurn, event: Event) {
        self.giver = giver
        self.receiver = receiver
        self.event = event
    }
}

extension CustomerDecision {
    /// Gives the connector's subscriptions as they were by the event's time, and ends live runs keyed to them
    /// that began before it.
    mutating func give(by event: Event) -> (result: TurnResult, given: [SubscriptionState]) {
        var given: [SubscriptionState] = []
        for id in subscriptions.keys.sorted() where id.connector == event.connector {
            guard var state = subscriptions[id] else { continue }
            let part = state.give(by: Setter(event))
            if part.isEmpty { continue }
            given.append(part)
            subscriptions[id] = state
            facts.subscriptions[id] = state.isEmpty ? nil : state.scope
            changedSubscriptions.insert(id)
            endRuns(keyedTo: id, begunBy: event.occurredAt)
        }
        if !given.isEmpty { reviewDates(knownAt: turn.now) }
        return (finish(), given)
    }

    private mutating func endRuns(keyedTo id: SubscriptionID, begunBy instant: Instant) {
        for run in runs
        where run.status.isLive && run.subscription == id && isSameKey(run.key, id.key) {
            let occurred = run.trigger["meta"]?["occurred_at"]?.string.flatMap { Instant($0) }
            guard occurred ?? run.enteredAt <= instant, let engine = engine(of: run) else {
                continue
            }
            apply(
                engine.end(
                    run, as: .exited(reason: "transferred"), ordinal: ordinal, facts: facts))
        }
    }

    /// Takes what was given; of each field what was set last stays.
    mutating func receive(_ given: [SubscriptionState]) -> TurnResult {
        for state in given {
            subscriptions[state.id, default: SubscriptionState(id: state.id)].merge(state)
            facts.subscriptions[state.id] = subscriptions[state.id]?.scope
            changedSubscriptions.insert(state.id)
        }
        if !given.isEmpty { reviewDates(knownAt: turn.now) }
        return finish()
    }
}

extension TurnDecider {
    /// What a transfer moves: the giver's rows and the receiver's. No input is taken.
    ///
    /// - Throws: ``Unserved`` when a run follows a version that this process cannot read.
    package func decide(
        _ transfer: RecordTransfer
    ) throws(Unserved) -> (giver: TurnResult, receiver: TurnResult, moved: Int) {
        func decision(_ turn: CustomerTurn) throws(Unserved) -> CustomerDecision {
            if let lack = lacks(for: turn) { throw lack }
            return CustomerDecision(
                turn: turn, definitions: definitions, inputs: [], zones: zones,
                defaultZone: defaultZone, outbound: outbound)
        }
        var giving = try decision(transfer.giver)
        var receiving = try decision(transfer.receiver)
        let (result, given) = giving.give(by: transfer.event)
        return (result, receiving.receive(given), given.count)
    }
}
