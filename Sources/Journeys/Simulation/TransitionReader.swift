internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import WorkflowDefinitions

/// Reads from a turn's history which visits of steps are over.
struct TransitionReader {
    /// Where a run stands, as its history tells.
    private struct Standing {
        var step: StepID?
        /// The end of the step's effect; `withdrawn` as long as there is none.
        var effect: String?
    }

    private let definitions: [WorkflowID: WorkflowDefinition]
    private var standings: [RunID: Standing] = [:]

    init(definitions: [WorkflowID: WorkflowDefinition]) { self.definitions = definitions }

    mutating func read(_ decision: Decision, of run: Run) -> [SimulationReport.Transition] {
        guard let definition = definitions[run.workflow] else { return [] }
        var standing = standings[run.id] ?? Standing()
        var found: [SimulationReport.Transition] = []
        func leave(by outlet: String?) {
            guard let step = standing.step else { return }
            found.append(
                SimulationReport.Transition(
                    at: decision.at, run: run.id, workflow: run.workflow, step: step,
                    type: definition.steps[step]?.type ?? "", outlet: outlet,
                    effect: standing.effect))
            standing = Standing()
        }
        for entry in decision.entries {
            switch entry.kind {
            case .entered: standing.step = definition.start
            case .requested: standing.effect = "withdrawn"
            case .input:
                guard let outcome = entry.members["outcome"]?["outcome"]?.string else { continue }
                standing.effect = outcome
            case .moved:
                leave(by: entry.members["outlet"]?.string)
                let next = entry.members["to"]?.string.map { StepID($0) }
                standing.step = next.flatMap { definition.steps[$0] == nil ? nil : $0 }
            case .ended: leave(by: nil)
            case .read, .waiting, .attempted, .result, .milestone, .exposed, .converted,
                .suppressed, .stale, .migrated, .reset, .skipped, .paused, .forgotten,
                .merged:
                continue
            }
        }
        standings[run.id] = standing
        return found
    }
}
