internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// What was asked of the customer by name: starts, exits, and the firings of schedules.
extension CustomerDecision {
    mutating func take(_ start: StartInput, recordedAt: Instant) {
        let request = start.request
        depth = max(depth, min(request.depth, Self.deepest))
        guard request.depth <= Self.deepest else {
            count(Count(.loop, workflow: request.workflow, cause: "start_run"))
            return
        }
        guard let version = definitions.live(request.workflow) else {
            count(Count(.notEntered, workflow: request.workflow, cause: "no_workflow"))
            return
        }
        enter(
            version,
            by: EntryTrigger(
                cause: request.cause, ordinal: ordinal, recordedAt: recordedAt,
                depth: request.depth, subscription: start.subscription, key: request.key,
                supersedes: start.supersedes, withholding: request.withholding))
    }

    mutating func take(_ schedule: ScheduleInput, recordedAt: Instant) {
        guard let version = definitions.live(schedule.workflow),
            case .schedule(let trigger) = version.definition.entry.trigger
        else {
            count(Count(.notEntered, workflow: schedule.workflow, cause: "no_workflow"))
            return
        }
        enter(
            version,
            by: EntryTrigger(
                cause: schedule.cause, ordinal: ordinal, recordedAt: recordedAt,
                audience: trigger.audience))
    }

    mutating func take(_ exit: ExitRequest) {
        depth = max(depth, min(exit.depth, Self.deepest))
        guard exit.depth <= Self.deepest else {
            count(Count(.loop, workflow: exit.workflow, cause: "exit_run"))
            return
        }
        for run in runs
        where run.status.isLive && run.workflow == exit.workflow && run.id != exit.by
            && (exit.key == nil || isSameKey(run.key, exit.key))
        {
            guard
                let outcome = engine(of: run)?.advance(
                    run, by: .command(OperatorCommand(.exit(reason: "exit_run"), audit: 0)),
                    ordinal: ordinal, facts: facts)
            else { continue }
            apply(outcome)
        }
    }
}
