internal import JSON
internal import JourneyModel

// Exits and waits for what ends the run before they are asked.
extension DefinitionReader {
    /// What ends a run, as goals and exits have it.
    enum Ending {
        case event(EventMatch)
        case condition(Condition)
    }

    mutating func refuseCovered(
        by cause: Goal.Cause, _ exits: [ExitRule], _ steps: [StepID: Step], _ root: Fields
    ) {
        let ending: Ending
        switch cause {
        case .event(let match): ending = .event(match)
        case .condition(let condition): ending = .condition(condition)
        case .milestone, .segmentEnter, .segmentLeave: return
        }
        if exits.count == root["exits"]?.items?.count ?? 0 {
            for (index, exit) in exits.enumerated() {
                let (what, key): (String?, String) =
                    switch (exit.cause, ending) {
                    case (.event(let other), .event(let match)):
                        (match.covers(other).map { "on \($0)" }, "event")
                    case (.condition(let other), .condition(let condition)):
                        (other == condition ? "by this condition" : nil, "if")
                    case (.event, .condition), (.condition, .event): (nil, "if")
                    }
                guard let what else { continue }
                problems.add(
                    JSONPointer(tokens: ["exits", String(index), key]),
                    "The goal already ends the run \(what); leave it out here, or write "
                        + "\"exit_policy\": \"never\".", code: .neverTaken)
            }
        }
        refuseCoveredWaits(by: ending, what: "the goal", steps)
    }

    mutating func refuseCoveredWaits(
        by ending: Ending, what: String, _ steps: [StepID: Step]
    ) {
        for id in steps.keys.sorted() {
            guard case .waitUntil(let wait)? = steps[id]?.action else { continue }
            for (index, branch) in wait.branches.enumerated() {
                let (how, key): (String?, String) =
                    switch (branch.cause, ending) {
                    case (.event(let other), .event(let match)):
                        (match.covers(other).map { "on \($0)" }, "event")
                    case (.condition(let other), .condition(let condition)):
                        (other == condition ? "by this condition" : nil, "if")
                    case (.event, .condition), (.condition, .event): (nil, "if")
                    }
                guard let how else { continue }
                let next =
                    what == "the goal"
                    ? "leave it out here, or write \"exit_policy\": \"never\"."
                    : "leave one of them out."
                problems.add(
                    JSONPointer(tokens: ["steps", id.text, "branches", String(index), key]),
                    "\(capitalised(what)) already ends the run \(how), so this branch is never "
                        + "taken; \(next)", code: .neverTaken)
            }
        }
    }
}

extension EventMatch {
    /// An event name for which this match is sure to hold whenever `other` does; nil for none.
    fileprivate func covers(_ other: EventMatch) -> String? {
        guard condition == nil || condition == other.condition,
            unless == nil || unless == other.unless, !correlates || other.correlates
        else { return nil }
        return other.names.first { names.contains($0) }
    }
}

extension Condition {
    /// Whether the answer can change while a run lives: whether it reads anything but its event.
    var canChange: Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.contains(where: \.canChange)
        case .not(let part), .envelope(_, let part): part.canChange
        case .compare(_, let left, let right), .contains(let left, let right),
            .text(_, let left, let right):
            left.canChange || right.canChange
        case .between(let value, let low, let high):
            value.canChange || low.canChange || high.canChange
        case .isIn(let value, let choices): value.canChange || choices.contains(where: \.canChange)
        case .exists(let pointer): Value.reference(pointer, default: nil).canChange
        case .feature, .segment, .subscription, .events: true
        case .truthy(let value): value.canChange
        case .constant, .undecidable: false
        }
    }
}

extension Value {
    fileprivate var canChange: Bool {
        switch self {
        case .literal: false
        case .reference(let pointer, let fallback):
            !["event", "trigger"].contains(pointer.tokens.first) || fallback?.canChange == true
        case .time(let base, _): base.canChange
        case .template(let source): !source.isEmpty
        }
    }
}
