internal import JSON
internal import JourneyModel
internal import TimeZones

// Steps and their outlets.
extension DefinitionReader {
    private static let types = [
        "delay", "wait_until", "time_window", "branch", "experiment", "action", "send_event",
        "update_customer", "milestone", "start_run", "exit_run", "exit",
    ]
    static let shared = ["type", "name", "note"]
    /// Outlet names that a branch's id may not take.
    static let outletWords = ["next", "else", "on_timeout", "on_failed", "end"]

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
        if isAutomation { refuseWaits(node, word) }
        let action = action(node, id, word)
        if action == nil { hasUnreadStep = true }
        let fields = Fields(node: node, object: object)
        let name = fields["name"].flatMap { string($0, "the name", longest: 200) }
        let note = fields["note"].flatMap { string($0, "the note") }
        return action.map { Step(id: id, name: name, note: note, action: $0) }
    }

    private mutating func action(_ node: Node, _ id: StepID, _ word: String) -> Step.Action? {
        switch word {
        case "delay": delay(node, id).map { .delay($0) }
        case "wait_until": waitUntil(node, id).map { .waitUntil($0) }
        case "time_window": timeWindow(node, id).map { .timeWindow($0) }
        case "branch": branch(node, id).map { .branch($0) }
        case "experiment": experiment(node, id).map { .experiment($0) }
        case "action": actionStep(node, id).map { .action($0) }
        case "send_event": sendEvent(node, id).map { .sendEvent($0) }
        case "update_customer": updateCustomer(node, id).map { .updateCustomer($0) }
        case "milestone": milestone(node, id)
        case "start_run": runCommand(node, id, "a start_run step").map { .startRun($0) }
        case "exit_run": runCommand(node, id, "an exit_run step").map { .exitRun($0) }
        default: exitStep(node)
        }
    }

    /// An automation holds nothing that waits for time or events.
    private mutating func refuseWaits(_ node: Node, _ word: String) {
        func refuse(_ key: String, _ what: String) {
            problems.add(
                node.pointer.appending(key),
                "An automation holds nothing that waits, and this \(what); make the workflow's kind "
                    + "\"journey\" or leave it out.", code: .refused)
        }
        switch word {
        case "delay", "wait_until": refuse("type", "step is a \(word)")
        case "time_window" where node.value["on_outside"]?.string != "skip":
            refuse(
                node.value["on_outside"] == nil ? "type" : "on_outside",
                "time_window waits for its hours")
        case "action":
            for key in ["window", "gap"] where node.value[key] != nil {
                refuse(key, "action waits for its \(key)")
            }
        default: break
        }
    }

    private mutating func complainAboutType(_ node: Node) {
        guard let object = node.value.object else {
            complain(node, "A step is an object, not \(node.value.kind).")
            return
        }
        guard let type = object["type"] else {
            complain(node, "A step needs \"type\": \(alternatives(Self.types)).", .missingKey)
            return
        }
        let place = Node(value: type, pointer: node.pointer.appending("type"))
        guard let word = type.string else {
            complain(place, "A step's type is a string, not \(type.kind).")
            return
        }
        if let refusal = Self.refusals[word] {
            complain(place, refusal, .refused)
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

    mutating func branchID(_ fields: Fields, _ what: String) -> String? {
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
    mutating func refuseTwins(_ branches: [Node]) {
        var seen: Set<String> = []
        for branch in branches {
            guard let id = branch.value["id"]?.string, !seen.insert(id).inserted else { continue }
            problems.add(
                branch.pointer.appending("id"),
                "The branch id \"\(id)\" stands twice in this step; rename one.",
                code: .identity)
        }
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
