internal import JSON
internal import JourneyEngine
internal import JourneyModel

// Stored deliveries that an operator has offered again. What the mapping tells now takes the place of what
// it told before: the same event in its next revision, never a second event.
extension CustomerDecision {
    /// Takes the next revision of an event: facts, then runs, then entries where that is asked for.
    ///
    /// - Parameter earlier: the revision that stood so far; nil where none was ever read.
    mutating func take(_ arrived: LoggedEvent, revising earlier: Event?, by replay: Replay) {
        var event = arrived
        if let earlier {
            forget(earlier, replacedBy: event.event)
            result.revised.append(event.event.id)
        }
        event.event = learn(event.event)
        facts.events.append(event)
        result.events.append(event)
        if event.event.isClamped { count(Count(.clamped, cause: event.event.connector)) }
        count(Count(.revised, cause: event.event.connector))
        reviewState(after: event)
        if replay.cancelsStarted { cancelRuns(startedBy: event.event.id, replay) }
        guard event.event.name != "connector.test" else {
            count(Count(.ignored, cause: "test"))
            return
        }
        offer(event)
        start(by: event, replay)
    }

    /// Lets an event start what it has not started, where the replay may.
    mutating func start(by event: LoggedEvent, _ replay: Replay) {
        if replay.starts {
            enterWorkflows(by: event, withholding: replay.withholding)
        } else {
            countUnstarted(by: event, cause: "replay")
        }
    }

    private mutating func cancelRuns(startedBy event: EventID, _ replay: Replay) {
        for run in runs where run.status.isLive && run.cause.hasSameBytes(as: event.text) {
            guard
                let outcome = engine(of: run)?.advance(
                    run,
                    by: .command(
                        OperatorCommand(.cancel(reason: "replay"), audit: replay.audit)),
                    ordinal: ordinal, facts: facts)
            else { continue }
            apply(outcome)
        }
    }

    // MARK: What the earlier revision had set

    /// Takes back what the earlier revision set: in subscriptions by reading their kept events again, which
    /// in any order end the same (S5). An attribute keeps its value until the new revision, or a later
    /// event, tells another: what stood before it is not kept.
    private mutating func forget(_ earlier: Event, replacedBy event: Event) {
        for id in Set([earlier, event].compactMap { SubscriptionID(of: $0) }).sorted() {
            rebuild(id, without: event.id)
        }
        result.customer.setters = result.customer.setters.filter { $0.value.event != event.id }
    }

    private mutating func rebuild(_ id: SubscriptionID, without revised: EventID) {
        guard let standing = subscriptions[id] else { return }
        var newest: [EventID: Event] = [:]
        for logged in log where logged.event.id != revised {
            guard SubscriptionID(of: logged.event) == id else { continue }
            newest[logged.event.id] = logged.event
        }
        var state = SubscriptionState(id: id)
        // What events that are no longer kept have set stays as it is.
        state.adopt(standing) { $0 != revised && newest[$0] == nil }
        for event in newest.values.sorted(by: { $0.comesBefore($1) }) { _ = state.take(event) }
        guard state != standing else { return }
        subscriptions[id] = state
        facts.subscriptions[id] = state.scope
        changedSubscriptions.insert(id)
    }
}

extension SubscriptionState {
    /// Takes over the fields of another state whose setters are among these events.
    mutating func adopt(_ other: SubscriptionState, where isKept: (EventID) -> Bool) {
        for (name, field) in other.fields where isKept(field.setter.event) { set(name, to: field) }
    }
}
