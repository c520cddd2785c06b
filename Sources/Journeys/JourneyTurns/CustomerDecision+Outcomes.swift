internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// What came of an input for a run: kept for the rows, told to what follows in the turn, and counted.
extension CustomerDecision {
    func engine(of run: Run) -> Engine? {
        definitions.version(run.version, of: run.workflow).map { Engine($0.definition) }
    }

    mutating func apply(_ outcome: Engine.Outcome) {
        let run = outcome.run
        var endsNow = !run.status.isLive
        if let place = runs.firstIndex(where: { $0.id == run.id }) {
            endsNow = endsNow && runs[place].status.isLive
            runs[place] = run
        } else {
            runs.append(run)
        }
        changedRuns.insert(run.id)
        if !outcome.entries.isEmpty {
            result.decisions.append(
                Decision(
                    run: run.id, number: run.decisions, at: turn.now, entries: outcome.entries))
        }
        result.requests += outcome.requests
        result.renewals += outcome.renewals
        for withdrawal in outcome.withdrawals {
            result.withdrawals.append(
                Withdrawal(invocation: withdrawal.invocation, reason: withdrawal.reason))
        }
        result.emitted += outcome.emitted.map { .event($0) }
        result.emitted += outcome.starts.map { .start(StartInput($0)) }
        result.emitted += outcome.exits.map { .exit($0) }
        countOutcome(outcome, endsNow: endsNow)
        for assignment in outcome.assignments {
            facts.assignments[assignment.experiment] = assignment.variant
            result.assignments.append(assignment)
        }
        write(outcome.attributeChanges, of: run)
    }

    private mutating func countOutcome(_ outcome: Engine.Outcome, endsNow: Bool) {
        let workflow = outcome.run.workflow
        if outcome.converted { count(Count(.converted, workflow: workflow)) }
        if endsNow { count(Count(.ended, workflow: workflow, cause: outcome.run.status.word)) }
        for exposure in outcome.exposures {
            count(
                Count(
                    .exposed, workflow: workflow,
                    cause: "\(exposure.experiment):\(exposure.variant)"))
        }
        // A conversion counts for every variant that the run was exposed to.
        if outcome.converted {
            for experiment in outcome.run.exposed {
                guard let variant = facts.assignments[experiment] else { continue }
                count(
                    Count(
                        .convertedVariant, workflow: workflow, cause: "\(experiment):\(variant)"))
            }
        }
        // What an attempt was withheld for is counted where that was found.
        if let withholding = outcome.run.withholding {
            for entry in outcome.entries where entry.kind == .suppressed {
                guard entry.members["reason"]?.string == withholding.reason else { continue }
                count(Count(.suppressed, workflow: workflow, cause: withholding.reason))
            }
        }
        for milestone in outcome.milestones {
            count(Count(.milestone, workflow: workflow, cause: milestone))
        }
        for name in outcome.invalidZones {
            count(Count(.invalidZone, workflow: workflow, cause: String(name.prefix(64))))
        }
    }

    /// A workflow's own writes count from the turn's time; later inputs of the turn see them.
    private mutating func write(_ changes: [AttributeChange], of run: Run) {
        if changes.isEmpty { return }
        for change in changes {
            result.customer.setAttribute(
                change.name, to: change.value,
                by: Setter(occurredAt: turn.now, rank: 0, event: EventID("run_\(run.id)")))
        }
        attributesChanged(depth: run.depth, knownAt: turn.now)
    }

    mutating func count(_ count: Count) { result.counts[count, default: 0] += 1 }

    mutating func count(_ mark: DeliveryMark, _ event: Event) {
        switch mark.state {
        case .processed: break
        case .duplicate: count(Count(.duplicate, cause: event.connector))
        case .conflict: count(Count(.conflict, cause: event.connector))
        case .unreadable: count(Count(.unreadable, cause: event.connector))
        }
    }
}
