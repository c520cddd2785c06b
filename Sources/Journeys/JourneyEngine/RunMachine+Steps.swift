internal import Crypto
internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Entering steps: each does what it can at once and stops where the run has to wait.
extension RunMachine {
    mutating func enter(_ id: StepID) {
        guard let step = definition.steps[id] else {
            end(.failed(error: "step_missing"))
            return
        }
        run.stepsEntered += 1
        let visit = run.visits[id] ?? 0
        run.visits[id] = visit + 1
        run.entries[id] = StepEntry(
            at: now, ordinal: ordinal, firstAt: run.entries[id]?.firstAt)
        if run.stepsEntered > definition.limits.steps {
            end(.failed(error: "loop"))
            return
        }
        switch step.action {
        case .delay(let delay): enter(delay, id: id, visit: visit)
        case .waitUntil(let wait): enter(wait, id: id, visit: visit)
        case .branch(let branch): enter(branch, id: id)
        case .action(let action): enter(action, id: id, visit: visit)
        case .exit(let reason): end(.exited(reason: reason ?? "exit"))
        }
    }

    // MARK: delay

    private mutating func enter(_ delay: Delay, id: StepID, visit: Int) {
        switch delay.length {
        case .duration(let length):
            wait(at: id, visit: visit, for: .delay(due: now + length))
        case .until(let value):
            guard let due = evaluate({ $0.instant(value) }) else {
                guard let edge = delay.onInvalid else {
                    end(.failed(error: "invalid_instant"))
                    return
                }
                move(from: id, outlet: "on_invalid", to: edge)
                return
            }
            if due <= now {
                move(
                    from: id, outlet: delay.onPast == nil ? "next" : "on_past",
                    to: delay.onPast ?? delay.next, because: ["due": .string(due.description)])
            } else {
                wait(at: id, visit: visit, for: .delay(due: due))
            }
        }
    }

    /// Stops at a step until its due time, an event or a result.
    mutating func wait(at step: StepID, visit: Int, for waiting: Position.Waiting) {
        let position = Position(step: step, visit: visit, enteredAt: now, waiting: waiting)
        run.position = position
        var members = JSONObject([
            ("step", .string(step.text)), ("visit", .integer(visit)),
            ("entered_at", .string(now.description)),
        ])
        switch waiting {
        case .delay(let due): members["due"] = .string(due.description)
        case .events(let mark, let due):
            members["due"] = .string(due.description)
            members["after"] = .integer(mark)
            members["events"] = .array(definition.eventNames(of: step).map { .string($0) })
        case .effect(let invocation, _): members["invocation"] = .string(invocation.text)
        }
        record(.waiting, members)
    }

    // MARK: branch

    private mutating func enter(_ branch: Branch, id: StepID) {
        for arm in branch.branches {
            let verdict = decide(arm.condition)
            if verdict.truth == .true {
                move(from: id, outlet: arm.id, to: arm.next, because: verdict.json)
                return
            }
        }
        move(from: id, outlet: "else", to: branch.otherwise)
    }

    // MARK: action

    private mutating func enter(_ action: ActionStep, id: StepID, visit: Int) {
        if visit >= definition.limits.visits {
            end(.failed(error: "loop"))
            return
        }
        // What the steps before it read may have made an exit true (S12).
        if takeConditionExit() { return }
        let built: Result<JSONObject, MissingValue> = evaluate { evaluator in
            do throws(MissingValue) {
                return .success(try evaluator.buildParameters(action.parameters))
            } catch {
                return .failure(error)
            }
        }
        switch built {
        case .failure(let missing):
            let problem: JSONValue = ["error": "missing", "detail": .string(missing.description)]
            run.results[id] = problem
            leave(action, id: id, by: .failed, because: problem)
        case .success(let request):
            let effect = EffectRequest(
                invocation: Self.makeInvocation(run: run.id, step: id, group: visit), run: run.id,
                step: id, attemptGroup: visit, tool: action.tool, account: action.account,
                request: request, requestedAt: now,
                deadline: now + action.deadline, attemptTimeout: action.attemptTimeout,
                retry: action.retry)
            self.request(effect)
            record(.requested, effect.historyMembers)
            wait(at: id, visit: visit, for: .effect(effect.invocation, requestedOrdinal: ordinal))
        }
    }

    /// SHA-256 of `runId:stepId:attemptGroup`, as the public vectors form it (S13).
    static func makeInvocation(run: RunID, step: StepID, group: Int) -> InvocationID {
        InvocationID(SHA256.hex(Array("\(run):\(step):\(group)".utf8)))
    }

    enum ActionEnd {
        case next, failed, timedOut
    }

    /// Takes the outlet for an action's end; without one the run fails, and says with what.
    mutating func leave(
        _ action: ActionStep, id: StepID, by end: ActionEnd, because: JSONValue
    ) {
        switch end {
        case .next: move(from: id, outlet: "next", to: action.next)
        case .timedOut:
            if let edge = action.onTimeout {
                move(from: id, outlet: "on_timeout", to: edge, because: because)
            } else {
                leave(action, id: id, by: .failed, because: because)
            }
        case .failed:
            if let edge = action.onFailed {
                move(from: id, outlet: "on_failed", to: edge, because: because)
            } else {
                self.end(.failed(error: because["error"]?.string ?? "failed"), because: because)
            }
        }
    }
}

extension Edge {
    var json: JSONValue {
        switch self {
        case .end: "end"
        case .step(let id): .string(id.text)
        }
    }
}

extension Verdict {
    /// The deciding leaves, for a history's `because`.
    var json: JSONValue { .array(because.map(\.json)) }
}

extension EffectRequest {
    var historyMembers: JSONObject {
        JSONObject([
            ("step", .string(step.text)), ("invocation", .string(invocation.text)),
            ("attempt_group", .integer(attemptGroup)), ("tool", .string(tool.rawValue)),
            ("account", account.map { .string($0) } ?? .null), ("request", .object(request)),
            ("deadline", .string(deadline.description)),
        ])
    }
}

extension WorkflowDefinition {
    /// The event names a wait step listens to, for people.
    func eventNames(of step: StepID) -> [String] {
        guard case .waitUntil(let wait)? = steps[step]?.action else { return [] }
        return wait.branches.flatMap { branch in
            switch branch.cause {
            case .event(let match): match.names
            case .condition: [String]()
            }
        }
    }
}
