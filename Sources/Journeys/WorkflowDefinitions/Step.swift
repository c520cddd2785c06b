package import JourneyModel

/// Where an outlet leads.
package enum Edge: Sendable, Hashable {
    case step(StepID)
    /// `"end"`: the run is completed.
    case end
}

/// A named node of a workflow.
package struct Step: Sendable, Hashable {
    /// What the step does, with what its type needs.
    package enum Action: Sendable, Hashable {
        case delay(Delay)
        case waitUntil(WaitUntil)
        case branch(Branch)
        case action(ActionStep)
        case timeWindow(TimeWindow)
        case experiment(ExperimentStep)
        case sendEvent(SendEvent)
        case updateCustomer(UpdateCustomer)
        case milestone(id: String, next: Edge)
        case startRun(RunCommand)
        case exitRun(RunCommand)
        case exit(reason: String?)
    }

    package var id: StepID
    package var name: String?
    package var note: String?
    package var action: Action

    package init(id: StepID, name: String? = nil, note: String? = nil, action: Action) {
        self.id = id
        self.name = name
        self.note = note
        self.action = action
    }

    /// The `type` word.
    package var type: String {
        switch action {
        case .delay: "delay"
        case .waitUntil: "wait_until"
        case .branch: "branch"
        case .action: "action"
        case .timeWindow: "time_window"
        case .experiment: "experiment"
        case .sendEvent: "send_event"
        case .updateCustomer: "update_customer"
        case .milestone: "milestone"
        case .startRun: "start_run"
        case .exitRun: "exit_run"
        case .exit: "exit"
        }
    }

    /// Every outlet with its name, in the order of the file.
    package var outlets: [(name: String, edge: Edge)] {
        switch action {
        case .delay(let delay):
            [("next", delay.next)] + optional("on_past", delay.onPast)
                + optional("on_invalid", delay.onInvalid)
        case .waitUntil(let wait):
            wait.branches.map { ($0.id, $0.next) } + [("on_timeout", wait.onTimeout)]
        case .branch(let branch):
            branch.branches.map { ($0.id, $0.next) } + [("else", branch.otherwise)]
        case .action(let action):
            [("next", action.next)] + optional("on_failed", action.onFailed)
                + optional("on_timeout", action.onTimeout)
        case .timeWindow(let window):
            [("next", window.next)] + optional("on_skip", window.onSkip)
        case .experiment(let experiment): experiment.variants.map { ($0.id, $0.next) }
        case .sendEvent(let send): [("next", send.next)]
        case .updateCustomer(let update): [("next", update.next)]
        case .milestone(_, let next): [("next", next)]
        case .startRun(let command), .exitRun(let command): [("next", command.next)]
        case .exit: []
        }
    }

    private func optional(_ name: String, _ edge: Edge?) -> [(name: String, edge: Edge)] {
        edge.map { [(name, $0)] } ?? []
    }
}

/// Goes one of several ways at once.
package struct Branch: Sendable, Hashable {
    /// One way, taken when its condition is the first that is *true*.
    package struct Arm: Sendable, Hashable {
        package var id: String
        package var condition: Condition
        package var next: Edge

        package init(id: String, condition: Condition, next: Edge) {
            self.id = id
            self.condition = condition
            self.next = next
        }
    }

    package var branches: [Arm]
    package var otherwise: Edge

    package init(branches: [Arm], otherwise: Edge) {
        self.branches = branches
        self.otherwise = otherwise
    }
}

/// Sends each customer one of several ways by lot (S14).
package struct ExperimentStep: Sendable, Hashable {
    /// Where one variant leads.
    package struct Variant: Sendable, Hashable {
        package var id: String
        package var next: Edge

        package init(id: String, next: Edge) {
            self.id = id
            self.next = next
        }
    }

    /// Found in ``WorkflowDefinition/experiments``.
    package var experiment: ExperimentID
    /// One for each variant of the experiment, in the experiment's order.
    package var variants: [Variant]

    package init(experiment: ExperimentID, variants: [Variant]) {
        self.experiment = experiment
        self.variants = variants
    }
}
