internal import JSON
internal import JourneyModel
internal import TimeZones

// Steps and their outlets.
extension DefinitionReader {
    private static let types = ["delay", "wait_until", "branch", "action", "exit"]
    private static let laterTypes = [
        "time_window", "experiment", "send_event", "update_customer", "milestone", "start_run",
        "exit_run",
    ]
    private static let shared = ["type", "name", "note"]
    /// Outlet names that a branch's id may not take.
    private static let outletWords = ["next", "else", "on_timeout", "on_failed", "end"]

    /// Why a type or tool will never be supported here.
    static let refusals = [
        "grant_entitlement":
            "grant_entitlement is refused: a workflow only reads feature access and never grants it.",
        "device_available":
            "device_available is refused: a server does not know whether a device is there.",
        "handoff": "handoff is refused: handing a run to a device belongs to the SDK, not here.",
    ]

    mutating func steps(_ fields: Fields, isAutomation: Bool) -> [StepID: Step] {
        guard let node = required("steps", in: fields, "a workflow") else { return [:] }
        guard let object = node.value.object, !object.isEmpty, object.count <= Self.mostSteps else {
            complain(
                node, "The steps are an object of 1 to \(Self.mostSteps) steps by their ids.")
            hasUnreadStep = true
            return [:]
        }
        var steps: [StepID: Step] = [:]
        for member in object {
            let place = Node(value: member.value, pointer: node.pointer.appending(member.key))
            if !isStepName(member.key) || member.key == "end" {
                complain(
                    place,
                    "The step id \"\(member.key)\" is not of lowercase letters, digits, hyphens and "
                        + "underscores, at most 63 in all, or is the word end.")
            }
            let id = StepID(member.key)
            scope = .step(id)
            if let step = step(place, id, isAutomation: isAutomation) { steps[id] = step }
        }
        scope = .anywhere
        return steps
    }

    private mutating func step(_ node: Node, _ id: StepID, isAutomation: Bool) -> Step? {
        guard let object = node.value.object, let type = object["type"], let word = type.string,
            Self.types.contains(word)
        else {
            hasUnreadStep = true
            complainAboutType(node)
            return nil
        }
        if isAutomation, word == "delay" || word == "wait_until" {
            problems.add(
                node.pointer.appending("type"),
                "An automation holds nothing that waits, and this step is a \(word); make the "
                    + "workflow's kind \"journey\" or leave the step out.")
        }
        let action: Step.Action? =
            switch word {
            case "delay": delay(node, id).map { .delay($0) }
            case "wait_until": waitUntil(node, id).map { .waitUntil($0) }
            case "branch": branch(node, id).map { .branch($0) }
            case "action": actionStep(node, id).map { .action($0) }
            default: exitStep(node)
            }
        if action == nil { hasUnreadStep = true }
        let fields = Fields(node: node, object: object)
        let name = fields["name"].flatMap { string($0, "the name", longest: 200) }
        let note = fields["note"].flatMap { string($0, "the note") }
        return action.map { Step(id: id, name: name, note: note, action: $0) }
    }

    private mutating func complainAboutType(_ node: Node) {
        guard let object = node.value.object else {
            complain(node, "A step is an object, not \(node.value.kind).")
            return
        }
        guard let type = object["type"] else {
            complain(node, "A step needs \"type\": \(alternatives(Self.types)).")
            return
        }
        let place = Node(value: type, pointer: node.pointer.appending("type"))
        guard let word = type.string else {
            complain(place, "A step's type is a string, not \(type.kind).")
            return
        }
        if let refusal = Self.refusals[word] {
            complain(place, refusal)
        } else if Self.laterTypes.contains(word) {
            complain(place, notYet("The step type \"\(word)\""))
        } else {
            complain(
                place, "\"\(word)\" is not a step type; use \(alternatives(Self.types)).",
                fix: Spelling.nearestWord(to: word, among: Self.types))
        }
    }

    /// An outlet: a step id or `"end"`.
    mutating func edge(
        _ node: Node, from id: StepID, length: Duration = .zero, binds names: [String]? = nil
    ) -> Edge? {
        guard let text = string(node, "an edge") else {
            hasUnreadStep = true
            return nil
        }
        let edge: Edge = text == "end" ? .end : .step(StepID(text))
        edges.append(
            WrittenEdge(from: id, to: edge, pointer: node.pointer, length: length, binds: names))
        return edge
    }

    private mutating func delay(_ node: Node, _ id: StepID) -> Delay? {
        let what = "a delay step"
        guard
            let fields = fields(
                node, what,
                keys: Self.shared + ["for", "until", "next", "on_past", "on_invalid"],
                later: ["at", "follow"])
        else { return nil }
        var length: Delay.Length?
        switch (fields["for"], fields["until"]) {
        case (let node?, nil):
            length = duration(node, "\"for\"", .seconds(1)...Self.year).map { .duration($0) }
            for key in ["on_past", "on_invalid"] {
                guard let stray = fields[key] else { continue }
                complain(stray, "The key \"\(key)\" belongs beside \"until\", not beside \"for\".")
            }
        case (nil, let node?):
            length = instant(node).map { .until($0) }
            if fields["on_past"] == nil {
                complain(
                    node,
                    "A delay \"until\" needs \"on_past\": where a run goes when that time is over.")
            }
        case (nil, nil), (_?, _?):
            complain(node, "A delay step needs exactly one of \"for\" and \"until\".")
        }
        var literal = Duration.zero
        if case .duration(let duration)? = length { literal = duration }
        if literal >= .seconds(60) { pacingSteps.insert(id) }
        let next = required("next", in: fields, what)
            .flatMap { edge($0, from: id, length: literal) }
        let onPast = fields["on_past"].flatMap { edge($0, from: id) }
        let onInvalid = fields["on_invalid"].flatMap { edge($0, from: id) }
        guard let length, let next else { return nil }
        return Delay(length: length, next: next, onPast: onPast, onInvalid: onInvalid)
    }

    private mutating func instant(_ node: Node) -> Value? {
        let value = value(node)
        if let value { note(.instant(value, at: node.pointer)) }
        return value
    }

    private mutating func waitUntil(_ node: Node, _ id: StepID) -> WaitUntil? {
        let what = "a wait_until step"
        guard
            let fields = fields(
                node, what, keys: Self.shared + ["branches", "since", "timeout", "on_timeout"],
                refused: [
                    "next": "A wait_until step has no \"next\"; its branches and on_timeout "
                        + "lead on."
                ])
        else { return nil }
        var branches: [WaitUntil.Branch] = []
        let items =
            required("branches", in: fields, what)
            .flatMap { self.items($0, "the list of branches") } ?? []
        for item in items {
            if let branch = waitBranch(item, id) { branches.append(branch) }
        }
        refuseTwins(items)
        let since = fields["since"].map { self.since($0) } ?? .step
        let timeout = required("timeout", in: fields, what).flatMap { self.timeout($0) }
        var literal = Duration.zero
        if case .duration(let duration)? = timeout { literal = duration }
        let onTimeout = required("on_timeout", in: fields, what)
            .flatMap { edge($0, from: id, length: literal) }
        guard let since, let timeout, let onTimeout, !branches.isEmpty,
            branches.count == items.count
        else { return nil }
        return WaitUntil(branches: branches, since: since, timeout: timeout, onTimeout: onTimeout)
    }

    private mutating func waitBranch(_ node: Node, _ id: StepID) -> WaitUntil.Branch? {
        let what = "a branch of a wait"
        guard
            let fields = fields(
                node, what,
                keys: ["id", "event", "where", "unless", "correlate", "if", "next"])
        else { return nil }
        let name = branchID(fields, what)
        var cause: WaitUntil.Branch.Cause?
        var names: [String]?
        if let node = self.cause(fields, what) {
            cause = condition(node).map { .condition($0) }
        } else if fields["event"] != nil, fields["if"] == nil,
            let match = eventMatch(fields, what)
        {
            cause = .event(match)
            names = match.names
        }
        let next = required("next", in: fields, what)
            .flatMap { edge($0, from: id, binds: names) }
        guard let name, let cause, let next else { return nil }
        return WaitUntil.Branch(id: name, cause: cause, next: next)
    }

    private mutating func branchID(_ fields: Fields, _ what: String) -> String? {
        guard let node = required("id", in: fields, what), let text = string(node, "the id") else {
            return nil
        }
        if isStepName(text), !Self.outletWords.contains(text) { return text }
        complain(
            node,
            "The branch id \"\(text)\" is not of lowercase letters, digits, hyphens and underscores, "
                + "at most 63 in all, or is one of \(alternatives(Self.outletWords)).")
        return nil
    }

    /// Branch ids are outlet names in the history: each stands once.
    private mutating func refuseTwins(_ branches: [Node]) {
        var seen: Set<String> = []
        for branch in branches {
            guard let id = branch.value["id"]?.string, !seen.insert(id).inserted else { continue }
            problems.add(
                branch.pointer.appending("id"),
                "The branch id \"\(id)\" stands twice in this step; rename one.")
        }
    }

    private mutating func since(_ node: Node) -> WaitUntil.Since? {
        if node.value.string == "step" { return .step }
        if node.value.string == "run" { return .run }
        guard node.value.object != nil else {
            complain(node, "\"since\" is \"step\", \"run\" or {\"step\": id}.")
            return nil
        }
        return stepReference(node, "\"since\"").map { .entryInto($0) }
    }

    /// A duration, or a value that is an instant.
    private mutating func timeout(_ node: Node) -> WaitUntil.Timeout? {
        if let text = node.value.string, Instant(text) == nil {
            return duration(text, node, "the timeout", .seconds(1)...Self.year)
                .map { .duration($0) }
        }
        return instant(node).map { .until($0) }
    }

    private mutating func branch(_ node: Node, _ id: StepID) -> Branch? {
        let what = "a branch step"
        guard
            let fields = fields(
                node, what, keys: Self.shared + ["branches", "else"],
                refused: ["next": "A branch step has no \"next\"; its branches and else lead on."])
        else { return nil }
        var arms: [Branch.Arm] = []
        let items =
            required("branches", in: fields, what)
            .flatMap { self.items($0, "the list of branches") } ?? []
        for item in items {
            let arm = "a branch"
            guard let fields = self.fields(item, arm, keys: ["id", "if", "next"]) else { continue }
            let name = branchID(fields, arm)
            let condition = required("if", in: fields, arm).flatMap { self.condition($0) }
            let next = required("next", in: fields, arm).flatMap { edge($0, from: id) }
            guard let name, let condition, let next else { continue }
            arms.append(Branch.Arm(id: name, condition: condition, next: next))
        }
        refuseTwins(items)
        let otherwise = required("else", in: fields, what).flatMap { edge($0, from: id) }
        guard let otherwise, !arms.isEmpty, arms.count == items.count else { return nil }
        return Branch(branches: arms, otherwise: otherwise)
    }

    private mutating func exitStep(_ node: Node) -> Step.Action? {
        guard
            let fields = fields(
                node, "an exit step", keys: Self.shared + ["reason"],
                refused: ["next": "An exit step has no \"next\": the run ends there."])
        else { return nil }
        guard let reason = fields["reason"] else { return .exit(reason: nil) }
        return string(reason, "the reason", longest: 200).map { .exit(reason: $0) }
    }
}
