internal import JSON
internal import JourneyModel
internal import WorkflowDefinitions

// Commands: decided where everything else is, so that nothing but a turn writes runs (S1).
extension RunMachine {
    mutating func take(_ command: OperatorCommand, at position: Position) {
        switch command.action {
        case .cancel(let reason): end(.cancelled(reason: reason))
        case .exit(let reason): end(.exited(reason: reason))
        case .skip(let step, let outlet): skip(step, by: outlet, at: position, command)
        case .retry(let invocation): retry(invocation)
        }
    }

    private mutating func skip(
        _ step: StepID, by outlet: String, at position: Position, _ command: OperatorCommand
    ) {
        let edge = definition.steps[step]?.outlets.first { $0.name == outlet }?.edge
        guard position.step == step, let edge else {
            record(
                .stale,
                JSONObject([
                    ("command", .string(command.action.word)), ("step", .string(step.text)),
                    ("outlet", .string(outlet)),
                ]))
            return
        }
        record(
            .skipped,
            JSONObject([("step", .string(step.text)), ("audit", .integer(command.audit))]))
        if case .effect(let invocation, _) = position.waiting {
            withdraw(invocation, because: "skipped")
        }
        move(from: step, outlet: outlet, to: edge)
    }
}
