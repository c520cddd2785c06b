internal import JSON
package import JourneyModel
package import TimeZones
internal import WorkflowDefinitions

/// An effect that is to be attempted again under its old name.
package struct EffectRenewal: Sendable, Hashable {
    package var invocation: InvocationID
    package var notBefore: Instant
    package var deadline: Instant

    package init(invocation: InvocationID, notBefore: Instant, deadline: Instant) {
        self.invocation = invocation
        self.notBefore = notBefore
        self.deadline = deadline
    }
}

// A failed run stays repairable (S13): it waits again for the very effect it failed with.
extension RunMachine {
    mutating func retry(_ invocation: InvocationID) {
        guard case .failed = run.status, run.position == nil,
            let (id, visit, action) = lastEffect(invocation),
            run.enteredAt + definition.limits.time > now, let times = findTimes(of: action),
            let entry = run.entries[id]
        else {
            record(.stale, JSONObject([("invocation", .string(invocation.text))]))
            return
        }
        run.status = .waiting
        run.endedAt = nil
        run.results[id] = nil
        let deadline = times.notBefore + action.deadline
        tell {
            $0.renewals.append(
                EffectRenewal(
                    invocation: invocation, notBefore: times.notBefore, deadline: deadline))
        }
        // It is the same visit: what its waits count from does not move.
        resume(
            Position(
                step: id, visit: visit, enteredAt: entry.at,
                waiting: .effect(invocation, requestedOrdinal: entry.ordinal)),
            deadline: deadline)
    }

    /// The action that asked for the effect, if the run entered no step after it.
    private func lastEffect(
        _ invocation: InvocationID
    ) -> (id: StepID, visit: Int, action: ActionStep)? {
        let last = run.entries.values.map(\.ordinal).max()
        for (id, entry) in run.entries where entry.ordinal == last {
            let visit = (run.visits[id] ?? 0) - 1
            guard case .action(let action)? = definition.steps[id]?.action, visit >= 0,
                Self.makeInvocation(run: run.id, step: id, group: visit) == invocation
            else { continue }
            return (id, visit, action)
        }
        return nil
    }

    private mutating func resume(_ position: Position, deadline: Instant) {
        run.position = position
        var members = JSONObject([
            ("step", .string(position.step.text)), ("visit", .integer(position.visit)),
            ("entered_at", .string(position.enteredAt.description)),
        ])
        if case .effect(let invocation, _) = position.waiting {
            members["invocation"] = .string(invocation.text)
        }
        members["deadline"] = .string(deadline.description)
        record(.waiting, members)
    }
}
