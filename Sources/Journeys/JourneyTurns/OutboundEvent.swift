package import JSON
internal import JourneyEngine
package import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

/// Something that happened to a run, for the system that `outbound` names.
package struct OutboundEvent: Sendable, Hashable {
    package var kind: OutboundKind
    package var run: RunID
    /// Tells events of one kind and run apart: a run that was repaired may fail again.
    package var number: Int
    /// The event's id, `webhook-id`: the same whenever the turn is decided.
    package var invocation: InvocationID
    /// `/data/run` of what is posted.
    package var document: JSONObject
}

extension CustomerDecision {
    /// What the turn made of its runs, as others are told of it. Effects are sent after the commit, so what
    /// a turn undoes is never told. Of a run that belongs to somebody who was forgotten nothing is.
    mutating func tellOutbound(_ choice: OutboundChoice) {
        if let environments = choice.environments,
            !environments.contains(turn.customer.environment)
        {
            return
        }
        let before = Dictionary(
            turn.runs.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for run in runs where changedRuns.contains(run.id) && run.isTold {
            for kind in Self.kinds(of: run, before: before[run.id])
            where choice.kinds.contains(kind) {
                result.outbound.append(OutboundEvent(kind, run))
            }
        }
    }

    private static func kinds(of run: Run, before: Run?) -> [OutboundKind] {
        var kinds: [OutboundKind] = []
        if before == nil { kinds.append(.entered) }
        if run.convertedAt != nil, before?.convertedAt == nil { kinds.append(.converted) }
        if run.endedAt != nil, before?.endedAt == nil {
            switch run.status {
            case .failed: kinds.append(.failed)
            case .completed, .exited, .cancelled, .superseded: kinds.append(.exited)
            case .waiting: break
            }
        }
        return kinds
    }
}

extension OutboundEvent {
    fileprivate init(_ kind: OutboundKind, _ run: Run) {
        let number =
            switch kind {
            case .entered, .converted: 0
            case .exited, .failed: run.decisions
            }
        // Only steps without a dot in their names have effects of their own.
        let invocation = InvocationID.make(
            run: run.id, step: StepID(kind.rawValue), group: number)
        self.init(
            kind: kind, run: run.id, number: number, invocation: invocation,
            document: JSONObject([
                ("id", .string(run.id.text)), ("workflow", .string(run.workflow.text)),
                ("version", .integer(run.version)), ("key", run.key.map { .string($0) } ?? .null),
                ("cause", .string(run.cause)), ("status", .string(run.status.word)),
                ("reason", run.status.reason.map { .string($0) } ?? .null),
                ("step", run.position.map { .string($0.step.text) } ?? .null),
                ("entered_at", .string(run.enteredAt.description)),
                ("converted_at", run.convertedAt.map { .string($0.description) } ?? .null),
                ("ended_at", run.endedAt.map { .string($0.description) } ?? .null),
            ]))
    }
}

extension Run {
    /// A run that sends nothing tells nobody either.
    fileprivate var isTold: Bool {
        status != .cancelled(reason: "forgotten") && withholding == nil
    }
}
