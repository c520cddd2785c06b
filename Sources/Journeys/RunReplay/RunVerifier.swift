internal import JSON
package import JourneyEngine
internal import JourneyModel
package import WorkflowDefinitions

/// Makes a run's decisions again from its history alone, and finds the first place where something
/// else comes of it. Nothing is sent and nothing is written: it is a pure function.
package struct RunVerifier: Sendable {
    private let engine: Engine
    /// The definition that the run followed, where ``engine`` has another.
    private let followed: WorkflowDefinition?

    /// - Parameter definition: the version that the runs followed.
    package init(_ definition: WorkflowDefinition) {
        engine = Engine(definition)
        followed = nil
    }

    /// Asks what another definition would have made of the same inputs.
    ///
    /// - Parameter followed: the version that the runs followed.
    package init(changed definition: WorkflowDefinition, followed: WorkflowDefinition) {
        engine = Engine(definition)
        self.followed = followed
    }

    /// Whether the history is what the engine makes of it, and the run's row what follows from the
    /// history; nil when both hold.
    ///
    /// - Parameter log: the customer's events, for a changed definition: an input that changed nothing
    ///   left no row, and might have changed something under it.
    package func verify(_ recorded: RecordedRun, log: [LoggedEvent] = []) -> Divergence? {
        guard !recorded.decisions.isEmpty else {
            return Divergence(
                kind: .unreadable, run: recorded.id,
                step: recorded.row?.run.position?.step ?? engine.definition.start,
                actual: "the run has no history")
        }
        var repetition = Repetition(engine: engine, followed: followed, id: recorded.id)
        var unrowed = log[...]
        for decision in recorded.decisions {
            let input = repetition.input(of: decision)
            if let before = input?.ordinal,
                let found = repetition.take(&unrowed, before: before)
            {
                return found
            }
            if let found = repetition.take(decision, input) { return found }
            if let last = input?.ordinal { unrowed = unrowed.drop { $0.ordinal <= last } }
        }
        if let found = repetition.take(&unrowed, before: .max) { return found }
        return recorded.row.flatMap { repetition.compare(with: $0) }
    }
}
