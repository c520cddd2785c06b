package import JSON
package import JourneyModel

/// What a definition reads beyond the event at hand: loaded before the engine runs, and what wakes it.
package struct Needs: Sendable, Hashable {
    /// One question about stored events, with how far it reaches back.
    package struct History: Sendable, Hashable {
        package var names: Set<String>
        package var since: EventHistory.Since

        package init(names: Set<String>, since: EventHistory.Since) {
            self.names = names
            self.since = since
        }
    }

    /// Names of events that start, convert, end or wake a run, as they stand in the definition.
    package var events: Set<String> = []
    package var features: Set<String> = []
    package var segments: Set<SegmentID> = []
    package var experiments: Set<ExperimentID> = []
    /// Pointers under `/customer`, as far as they are read.
    package var attributes: Set<JSONPointer> = []
    /// Whether `/subscription` is read: the subscription of the trigger.
    package var readsSubscription = false
    /// Whether a `subscription` condition asks all of the customer's subscriptions.
    package var readsSubscriptions = false
    /// Questions of `events` conditions.
    package var histories: Set<History> = []

    package init() {}

    /// Everything that either of the two needs.
    package mutating func formUnion(_ other: Needs) {
        events.formUnion(other.events)
        features.formUnion(other.features)
        segments.formUnion(other.segments)
        experiments.formUnion(other.experiments)
        attributes.formUnion(other.attributes)
        readsSubscription = readsSubscription || other.readsSubscription
        readsSubscriptions = readsSubscriptions || other.readsSubscriptions
        histories.formUnion(other.histories)
    }
}

extension WorkflowDefinition {
    /// What this version reads, anywhere in it. Walks the whole definition: ask once and keep it.
    package var needs: Needs {
        var reader = NeedsReader(partials: partials)
        reader.read(self)
        return reader.needs
    }
}

extension SegmentDefinition {
    /// What decides the membership.
    package var needs: Needs { condition.needs }
}

extension Condition {
    /// What this condition reads.
    package var needs: Needs {
        var reader = NeedsReader(partials: [:])
        reader.read(self)
        return reader.needs
    }
}
