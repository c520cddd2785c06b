import JourneyEngine
import JourneyModel
import JourneyTurns
import RunReplay
import Testing
import WorkflowDefinitions

extension World {
    /// `verify` agrees with the worker: every run that a turn wrote is what its history makes of it.
    func verifyAgrees(with result: TurnResult) {
        for run in result.newRuns + result.changedRuns {
            guard let version = definitions.version(run.version, of: run.workflow) else { continue }
            let recorded = RecordedRun(run, decisions: decisions)
            let found = RunVerifier(version.definition).verify(recorded)
            #expect(found == nil, "\(found?.description ?? "")")
        }
    }
}
