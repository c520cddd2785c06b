internal import JourneyEngine
internal import TimeZones
internal import WorkflowDefinitions

/// How far back a live run's present and later waits may look into its customer's log (S3).
struct LookBack: Sendable, Hashable {
    /// Events with a greater ordinal.
    var mark: Int64
    /// None of them was recorded before this; it only spares partitions.
    var recordedAfter: Instant

    /// Inputs take their ordinals in the order of turns, which may differ a little from that of
    /// recording.
    private static let slack = Duration.seconds(2 * 86_400)

    /// Nil for a run that looks back to nothing. Without its definition, the run's whole time counts.
    init?(run: Run, definition: WorkflowDefinition?) {
        guard run.status.isLive else { return nil }
        guard let definition else {
            self.init(mark: run.entryOrdinal, of: run)
            return
        }
        var marks: [Int64] = []
        switch run.position?.waiting {
        case .events(let mark, due: _): marks.append(mark)
        case .effect(_, let ordinal): marks.append(ordinal)
        case .delay, .window, nil: break
        }
        for step in definition.steps.values {
            guard case .waitUntil(let wait) = step.action else { continue }
            switch wait.since {
            case .step: break
            case .run: marks.append(run.entryOrdinal)
            // A step that was passed by counts from the trigger, as in the engine.
            case .entryInto(let other):
                marks.append(run.entries[other]?.ordinal ?? run.entryOrdinal)
            }
        }
        guard let earliest = marks.min() else { return nil }
        self.init(mark: earliest, of: run)
    }

    private init(mark: Int64, of run: Run) {
        self.mark = mark
        recordedAfter = run.triggerRecordedAt - Self.slack
    }
}
