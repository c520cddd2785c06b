internal import JSON
internal import JourneyModel
internal import TimeZones

// Action steps: the tool's parameters, attempts and outlets.
extension DefinitionReader {
    private static let tools = ActionStep.Tool.allCases.map(\.rawValue)
    private static let laterTools = ["email", "apns", "fcm"]
    mutating func actionStep(_ node: Node, _ id: StepID) -> ActionStep? {
        let what = "an action step"
        guard
            let fields = fields(
                node, what,
                keys: [
                    "type", "name", "note", "tool", "account", "with", "window", "gap",
                    "attempt_timeout", "deadline", "retry", "next", "on_failed", "on_timeout",
                ], later: ["message"])
        else { return nil }
        let tool = required("tool", in: fields, what).flatMap { self.tool($0) }
        if let tool { actionTools[id] = tool }
        let account = account(fields, tool)
        let parameters = tool.flatMap { tool in
            required("with", in: fields, what).flatMap { self.parameters($0, tool) }
        }
        let next = required("next", in: fields, what).flatMap { edge($0, from: id) }
        let onFailed =
            fields["on_failed"].map { edge($0, from: id) } ?? defaultEdge(defaults.onFailed, id)
        let onTimeout =
            fields["on_timeout"].map { edge($0, from: id) } ?? defaultEdge(defaults.onTimeout, id)
        let window = fields["window"].map { self.window($0, "a window") } ?? defaults.window
        let gap = fields["gap"].map { self.gap($0) } ?? defaults.gap
        let attempt = fields["attempt_timeout"].flatMap {
            duration($0, "the attempt_timeout", .seconds(1) ... .seconds(300))
        }
        let deadline = fields["deadline"].flatMap {
            duration($0, "the deadline", .seconds(1) ... .seconds(30 * 86_400))
        }
        let retry = fields["retry"].flatMap { self.retry($0) }
        guard let tool, let parameters, let next else { return nil }
        var action = ActionStep(
            tool: tool, account: account, parameters: parameters, next: next, onFailed: onFailed,
            onTimeout: onTimeout)
        if let attempt { action.attemptTimeout = attempt }
        action.window = window
        action.gap = gap
        if let deadline = deadline ?? defaults.deadline { action.deadline = deadline }
        if let retry { action.retry = retry }
        if action.deadline < action.attemptTimeout {
            problems.add(
                fields["deadline"]?.pointer ?? fields["attempt_timeout"]?.pointer ?? node.pointer,
                "The deadline \(action.deadline.iso8601) is shorter than one attempt, "
                    + "\(action.attemptTimeout.iso8601); make it longer.", code: .combination)
        }
        return action
    }

    private mutating func tool(_ node: Node) -> ActionStep.Tool? {
        guard let text = string(node, "the tool") else { return nil }
        if let tool = ActionStep.Tool(rawValue: text) { return tool }
        if let refusal = Self.refusals[text] {
            complain(node, refusal, .refused)
        } else if Self.laterTools.contains(text) {
            complain(node, notYet("The tool \"\(text)\""), .notSupported)
        } else {
            complain(
                node, "\"\(text)\" is not a tool; use \(alternatives(Self.tools)).",
                fix: Spelling.nearestWord(to: text, among: Self.tools))
        }
        return nil
    }

    private mutating func account(_ fields: Fields, _ tool: ActionStep.Tool?) -> String? {
        guard let node = fields["account"] else {
            if let tool, tool != .log {
                complain(
                    fields.node,
                    "An action of the tool \(tool.rawValue) needs \"account\": a name of the "
                        + "configuration's accounts.", .missingKey)
            }
            return nil
        }
        if tool == .log {
            complain(node, "A log action takes no account; leave the key out.")
            return nil
        }
        guard let text = node.value.string, isStepName(text) else {
            complain(node, "The account is a name of the configuration's accounts, like \"crm\".")
            return nil
        }
        return text
    }

    /// A default of `send` leads every action there but the one it leads to.
    private mutating func defaultEdge(_ node: Node?, _ id: StepID) -> Edge? {
        guard let node, node.value.string != id.text else { return nil }
        return edge(node, from: id)
    }

    mutating func window(_ node: Node, _ what: String) -> SendWindow? {
        fields(node, what, keys: Self.windowKeys).flatMap { sendWindow($0, what) }
    }

    mutating func gap(_ node: Node) -> Duration? {
        duration(node, "the gap", .zero ... .seconds(30 * 86_400))
    }

    /// Defaults of every action, written into each of them.
    mutating func send(_ node: Node?, isAutomation: Bool) {
        guard let node else { return }
        guard
            let fields = fields(
                node, "the \"send\" of a workflow",
                keys: ["window", "gap", "deadline", "on_failed", "on_timeout"])
        else {
            hasUnreadStep = true
            return
        }
        if isAutomation {
            for key in ["window", "gap"] {
                guard let stray = fields[key] else { continue }
                complain(
                    stray,
                    "An automation holds nothing that waits, and \"\(key)\" does; make the workflow's "
                        + "kind \"journey\" or leave it out.", .refused)
            }
        }
        defaults = SendDefaults(
            window: fields["window"].flatMap { window($0, "a window") },
            gap: fields["gap"].flatMap { gap($0) },
            deadline: fields["deadline"].flatMap {
                duration($0, "the deadline", .seconds(1) ... .seconds(30 * 86_400))
            })
        defaults.onFailed = fields["on_failed"].flatMap { defaultEdge($0) }
        defaults.onTimeout = fields["on_timeout"].flatMap { defaultEdge($0) }
    }

    /// The step is checked once, even when no action takes the default.
    private mutating func defaultEdge(_ node: Node) -> Node? {
        guard let text = string(node, "an edge") else { return nil }
        if text != "end" { namedSteps.append((StepID(text), node.pointer)) }
        return node
    }
}

/// What `send` says, still with the places of its edges.
struct SendDefaults {
    var window: SendWindow?
    var gap: Duration?
    var deadline: Duration?
    var onFailed: Node?
    var onTimeout: Node?
}
