internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Operators' commands: inputs like any other, decided in the customer's turn, so that nothing but a turn
// writes runs (S1).
extension CustomerDecision {
    mutating func take(_ asked: CustomerCommand) {
        let refusal = refusal(of: asked) ?? obey(asked)
        if refusal != nil { count(Count(.stale, cause: "command")) }
        result.commands.append(
            CommandOutcome(audit: asked.command.audit, run: asked.run, refusal: refusal))
    }

    /// Why the run may not be given the command, in a sentence for who asked.
    private func refusal(of asked: CustomerCommand) -> String? {
        guard let run = runs.first(where: { $0.id == asked.run }) else {
            return "this customer has no such run any more"
        }
        switch asked.command.action {
        case .cancel, .exit, .skip:
            return run.status.isLive ? nil : "it has ended: \(run.status.sentence)"
        case .retry: return refusalToRetry(run)
        }
    }

    /// A run lives again only as it lived: where none took its place, and within its time.
    private func refusalToRetry(_ run: Run) -> String? {
        switch run.status {
        case .failed: break
        case .waiting: return "it lives; only a run that failed is repaired by attempting again"
        case .completed, .exited, .cancelled, .superseded:
            return "it has ended: \(run.status.sentence)"
        }
        let rival = runs.first {
            $0.status.isLive && $0.workflow == run.workflow && $0.slot == run.slot
                && ($0.key ?? "").hasSameBytes(as: run.key ?? "")
        }
        if let rival {
            return "its place was taken meanwhile by the run \(rival.id); cancel that one first"
        }
        if let limit = engine(of: run)?.definition.limits.time, run.enteredAt + limit <= turn.now {
            return "the time limit of its workflow has passed since it entered"
        }
        return nil
    }

    /// Gives the run the command; nil when it did what was asked.
    private mutating func obey(_ asked: CustomerCommand) -> String? {
        guard let run = runs.first(where: { $0.id == asked.run }), let engine = engine(of: run)
        else { return "its definition cannot be read here" }
        guard
            let outcome = engine.advance(
                run, by: .command(asked.command), ordinal: ordinal, facts: facts)
        else { return "it changes nothing in this run" }
        let isStale = outcome.entries.contains { $0.kind == .stale }
        apply(outcome)
        return isStale ? "the run does not stand where the command is for" : nil
    }
}

extension RunStatus {
    fileprivate var sentence: String { word + (reason.map { " (\($0))" } ?? "") }
}
