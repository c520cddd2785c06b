internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

/// What steps, entries and rules do, in a few words each.
enum StepPhrases {
    static func phrase(of action: Step.Action) -> String {
        switch action {
        case .delay(let delay): phrase(of: delay)
        case .waitUntil(let wait): phrase(of: wait)
        case .branch: "decides"
        case .action(let action):
            ([action.tool.rawValue] + [action.account, target(of: action)].compactMap { $0 })
                .joined(separator: " ")
        case .timeWindow(let window):
            "\(window.onSkip == nil ? "waits for" : "passes in") \(phrase(of: window.window))"
        case .experiment(let step): "experiment \(step.experiment)"
        case .sendEvent(let send): "sends event \(send.event)"
        case .updateCustomer(let update):
            (update.attributes.isEmpty
                ? [] : ["sets " + update.attributes.map(\.key).joined(separator: ", ")])
                .appending(
                    update.removed.isEmpty
                        ? nil : "removes " + update.removed.joined(separator: ", ")
                ).joined(separator: "; ")
        case .milestone(let id, _): "milestone \(id)"
        case .startRun(let command): "starts \(command.workflow)"
        case .exitRun(let command): "ends \(command.workflow)"
        case .exit(let reason): "leaves: \(reason ?? "exit")"
        }
    }

    private static func phrase(of delay: Delay) -> String {
        switch delay.length {
        case .duration(let length): "waits \(length.iso8601)"
        case .until(let value):
            "waits until \(words(value))" + (delay.at.map { " at \($0)" } ?? "")
        }
    }

    private static func phrase(of wait: WaitUntil) -> String {
        var causes: [String] = []
        var hasCondition = false
        for branch in wait.branches {
            switch branch.cause {
            case .event(let match): causes += match.names.filter { !causes.contains($0) }
            case .condition: hasCondition = true
            }
        }
        if hasCondition { causes.append("a condition") }
        let limit =
            switch wait.timeout {
            case .duration(let length): "at most \(length.iso8601)"
            case .until(let value): "until \(words(value))"
            }
        return "waits for \(causes.joined(separator: ", ")), \(limit)"
    }

    private static func phrase(of window: DailyWindow) -> String {
        let all = Weekday.allCases
        let days = all.filter { window.days.contains($0) }.map(\.rawValue).joined(separator: " ")
        let span = "\(window.start)-\(window.end)"
        return window.days.count == all.count ? span : "\(span) \(days)"
    }

    /// Where an effect goes, when that is written in the definition.
    private static func target(of action: ActionStep) -> String? {
        guard case .object(let members) = action.parameters else { return nil }
        for name in ["path", "url"] {
            guard let member = members.first(where: { $0.key == name }),
                case .value(.literal(.string(let text))) = member.tree
            else { continue }
            return text
        }
        return nil
    }

    static func phrase(of entry: Entry) -> String {
        var words: String
        switch entry.trigger {
        case .event(let names): words = "on " + names.joined(separator: ", ")
        case .segment(let id, let turn): words = "on \(turn.rawValue) of segment \(id)"
        case .date(let date):
            words = "at \(self.words(date.value))"
            if date.offset < .zero { words += " minus \((.zero - date.offset).iso8601)" }
            if date.offset > .zero { words += " plus \(date.offset.iso8601)" }
            if let at = date.at { words += " at \(at)" }
        case .schedule(let schedule): words = "by schedule \(schedule.cron)"
        case .api: words = "when told to (api)"
        }
        switch entry.key {
        case .subscription: words += ", a run a subscription"
        case .reference(let pointer): words += ", a run a \(pointer)"
        case nil: break
        }
        switch entry.reentry {
        case .oneTime: words += ", once"
        case .everyTime: break
        case .oncePerWindow(let window): words += ", once in \(window.iso8601)"
        }
        return words
    }

    /// Goal, exits and time limit, a line each.
    static func rules(of definition: WorkflowDefinition) -> [String] {
        var rules: [String] = []
        if let goal = definition.goal {
            let ends = definition.exitPolicy.endsOnGoal ? ", which ends the run" : ""
            rules.append("goal: \(phrase(of: goal.cause)) within \(goal.within.iso8601)\(ends)")
        }
        if definition.exitPolicy.endsOnStopMatching {
            rules.append("leaves (stopped_matching) when the entry no longer holds")
        }
        for rule in definition.exits {
            let cause =
                switch rule.cause {
                case .event(let match): "on " + match.names.joined(separator: ", ")
                case .condition: "on a condition"
                }
            rules.append("leaves (\(rule.reason)) \(cause)")
        }
        rules.append("leaves (time_limit) after \(definition.limits.time.iso8601)")
        return rules
    }

    private static func phrase(of cause: Goal.Cause) -> String {
        switch cause {
        case .event(let match): match.names.joined(separator: ", ")
        case .milestone(let id): "milestone \(id)"
        case .segmentEnter(let id): "enters segment \(id)"
        case .segmentLeave(let id): "leaves segment \(id)"
        case .condition: "a condition"
        }
    }

    private static func words(_ value: Value) -> String {
        switch value {
        case .literal(.string(let text)): text
        case .literal: "a fixed value"
        case .reference(let pointer, _): pointer.description
        case .template: "a template"
        case .time(let base, let moved):
            moved < .zero
                ? "\(words(base)) minus \((.zero - moved).iso8601)"
                : "\(words(base)) plus \(moved.iso8601)"
        }
    }
}

extension [String] {
    fileprivate func appending(_ text: String?) -> [String] { self + (text.map { [$0] } ?? []) }
}
