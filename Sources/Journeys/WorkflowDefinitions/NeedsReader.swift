internal import JSON
internal import JourneyModel
internal import Templates

/// Walks a definition and gathers what it reads.
struct NeedsReader {
    let partials: [String: String]
    private(set) var needs = Needs()
    /// Inside a `subscription` condition, `/subscription` is each of the customer's.
    private var asksEverySubscription = false

    init(partials: [String: String]) { self.partials = partials }

    mutating func read(_ definition: WorkflowDefinition) {
        read(definition.entry)
        if let goal = definition.goal {
            switch goal.cause {
            case .event(let match): read(match)
            case .milestone: break
            case .segmentEnter(let id), .segmentLeave(let id): needs.segments.insert(id)
            case .condition(let condition): read(condition)
            }
        }
        for exit in definition.exits {
            switch exit.cause {
            case .event(let match): read(match)
            case .condition(let condition): read(condition)
            }
        }
        for id in definition.stepOrder {
            if let step = definition.steps[id] { read(step.action) }
        }
        for source in definition.partials.values { read(template: source) }
    }

    private mutating func read(_ entry: Entry) {
        switch entry.trigger {
        case .event(let names): needs.events.formUnion(names)
        case .segment(let id, _): needs.segments.insert(id)
        case .date(let date): read(date.value)
        case .schedule(let schedule): read(schedule.audience)
        case .api: break
        }
        if let condition = entry.condition { read(condition) }
        if let unless = entry.unless { read(unless) }
        if let key = entry.key { read(key.pointer) }
        if let value = entry.oncePer { read(value) }
    }

    private mutating func read(_ match: EventMatch) {
        needs.events.formUnion(match.names)
        if let condition = match.condition { read(condition) }
        if let unless = match.unless { read(unless) }
    }

    private mutating func read(_ action: Step.Action) {
        switch action {
        case .delay(let delay):
            if case .until(let value) = delay.length { read(value) }
        case .waitUntil(let wait):
            for branch in wait.branches {
                switch branch.cause {
                case .event(let match): read(match)
                case .condition(let condition): read(condition)
                }
            }
            if case .until(let value) = wait.timeout { read(value) }
        case .branch(let branch):
            for arm in branch.branches { read(arm.condition) }
        case .action(let action): read(action.parameters)
        case .experiment(let experiment): needs.experiments.insert(experiment.experiment)
        case .sendEvent(let send): read(send.properties)
        case .updateCustomer(let update): read(.object(update.attributes))
        case .startRun(let command), .exitRun(let command):
            if let key = command.key { read(key) }
        case .timeWindow, .milestone, .exit: break
        }
    }

    private mutating func read(_ tree: ValueTree) {
        switch tree {
        case .value(let value): read(value)
        case .array(let items): for item in items { read(item) }
        case .object(let members): for member in members { read(member.tree) }
        }
    }

    private mutating func read(_ value: Value) {
        switch value {
        case .literal: break
        case .reference(let pointer, let fallback):
            read(pointer)
            if let fallback { read(fallback) }
        case .template(let source): read(template: source)
        case .time(let base, moved: _): read(base)
        }
    }

    private mutating func read(template source: String) {
        guard let template = try? Template(source) else { return }
        for name in template.references {
            read(JSONPointer(tokens: name.split(separator: ".").map(String.init)))
        }
    }

    private mutating func read(_ pointer: JSONPointer) {
        switch pointer.tokens.first {
        case "customer": needs.attributes.insert(pointer)
        case "subscription":
            if asksEverySubscription {
                needs.readsSubscriptions = true
            } else {
                needs.readsSubscription = true
            }
        case "features":
            if pointer.tokens.count > 1 { needs.features.insert(pointer.tokens[1]) }
        default: break
        }
    }

    mutating func read(_ condition: Condition) {
        switch condition {
        case .all(let parts), .any(let parts): for part in parts { read(part) }
        case .not(let part), .envelope(_, let part): read(part)
        case .compare(_, let left, let right), .contains(let left, let right),
            .text(_, let left, let right):
            read(left)
            read(right)
        case .between(let value, let low, let high):
            read(value)
            read(low)
            read(high)
        case .isIn(let value, let choices):
            read(value)
            for choice in choices { read(choice) }
        case .exists(let pointer): read(pointer)
        case .feature(let test):
            needs.features.insert(test.id)
            if let entity = test.entity { read(entity) }
        case .segment(let id, _): needs.segments.insert(id)
        case .subscription(let part):
            needs.readsSubscriptions = true
            let outer = asksEverySubscription
            asksEverySubscription = true
            read(part)
            asksEverySubscription = outer
        case .events(let history): read(history)
        case .truthy(let value): read(value)
        case .constant, .undecidable: break
        }
    }

    private mutating func read(_ since: EventHistory.Since) {
        switch since {
        case .instant(let value): read(value)
        case .later(let one, let other):
            read(one)
            read(other)
        case .within, .run, .ever: break
        }
    }

    /// The events asked for do not wake a run: they are looked up.
    private mutating func read(_ history: EventHistory) {
        needs.histories.insert(
            Needs.History(names: Set(history.match.names), since: history.since))
        if let condition = history.match.condition { read(condition) }
        if let unless = history.match.unless { read(unless) }
        read(history.since)
        if let until = history.until { read(until) }
    }
}
