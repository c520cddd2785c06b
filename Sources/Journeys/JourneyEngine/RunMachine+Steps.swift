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
        case .timeWindow(let window): enter(window, id: id, visit: visit)
        case .branch(let branch): enter(branch, id: id)
        case .experiment(let experiment): enter(experiment, id: id)
        case .action(let action): enter(action, id: id, visit: visit)
        case .sendEvent(let send): enter(send, id: id, visit: visit)
        case .updateCustomer(let update): enter(update, id: id)
        case .milestone(let milestone, let next): pass(milestone, id: id, next: next)
        case .startRun(let command): start(command, id: id, visit: visit)
        case .exitRun(let command): exit(command, id: id)
        case .exit(let reason): end(.exited(reason: reason ?? "exit"))
        }
    }

    // MARK: Waiting

    /// Stops at a step until its due time, an event or a result.
    mutating func wait(
        at step: StepID, visit: Int, for waiting: Position.Waiting, zone: WaitZone? = nil
    ) {
        let position = Position(
            step: step, visit: visit, enteredAt: run.entries[step]?.at ?? now, waiting: waiting,
            zone: zone)
        run.position = position
        recordWaiting(position)
    }

    /// Says what a run waits for: enough to rebuild where it stands.
    mutating func recordWaiting(_ position: Position) {
        var members = JSONObject([
            ("step", .string(position.step.text)), ("visit", .integer(position.visit)),
            ("entered_at", .string(position.enteredAt.description)),
        ])
        switch position.waiting {
        case .delay(let due): members["due"] = .string(due.description)
        case .window(let opens):
            members["due"] = .string(opens.description)
            members["opens"] = true
        case .events(let mark, let due):
            members["due"] = .string(due.description)
            members["after"] = .integer(mark)
            members["events"] = .array(
                definition.eventNames(of: position.step).map { .string($0) })
        case .effect(let invocation, _): members["invocation"] = .string(invocation.text)
        }
        if let zone = position.zone {
            members["zone"] = .string(zone.name)
            members["tz"] = .string(zone.version)
        }
        members["reconsider_at"] = position.reconsiderAt.map { .string($0.description) }
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

    // MARK: milestone

    private mutating func pass(_ milestone: String, id: StepID, next: Edge) {
        if !run.milestones.contains(milestone) { run.milestones.append(milestone) }
        tell { $0.milestones.append(milestone) }
        record(
            .milestone,
            JSONObject([("step", .string(id.text)), ("milestone", .string(milestone))]))
        if reachGoal(byMilestone: milestone) { return }
        move(from: id, outlet: "next", to: next)
    }

    // MARK: Other runs

    private mutating func start(_ command: RunCommand, id: StepID, visit: Int) {
        guard let key = key(of: command) else { return failForMissingKey() }
        let request = StartRequest(
            workflow: command.workflow, key: key.text, cause: "run:\(run.id):\(id):\(visit)",
            depth: depth + 1, withholding: run.withholding)
        tell { $0.starts.append(request) }
        move(from: id, outlet: "next", to: command.next, with: key.members(command.workflow))
    }

    private mutating func exit(_ command: RunCommand, id: StepID) {
        guard let key = key(of: command) else { return failForMissingKey() }
        let request = ExitRequest(
            workflow: command.workflow, key: key.text, by: run.id, depth: depth + 1)
        tell { $0.exits.append(request) }
        move(from: id, outlet: "next", to: command.next, with: key.members(command.workflow))
    }

    /// A command's key as text; there may be none to have.
    private struct CommandKey {
        var text: String?

        func members(_ workflow: WorkflowID) -> JSONObject {
            JSONObject([
                ("workflow", .string(workflow.text)), ("key", text.map { .string($0) } ?? .null),
            ])
        }
    }

    /// Nil when a key is named and has no value.
    private mutating func key(of command: RunCommand) -> CommandKey? {
        guard let value = command.key else { return CommandKey(text: nil) }
        guard let json = evaluate({ $0.resolve(value) }), let text = Engine.keyText(json) else {
            return nil
        }
        return CommandKey(text: text)
    }

    private mutating func failForMissingKey() {
        end(.failed(error: "missing"), because: ["detail": "the key has no value"])
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
