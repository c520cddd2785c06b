internal import JSON
internal import JourneyModel

// What converts and what ends a run; and the event matches they share with waits.
extension DefinitionReader {
    private static let goals = ["event", "milestone", "segment_enter", "segment_leave", "if"]

    mutating func goal(_ node: Node) -> Goal? {
        let what = "a goal"
        let beside = ["within", "anchor"]
        guard let object = node.value.object else {
            complain(node, "A goal is an object, not \(node.value.kind).")
            return nil
        }
        let present = Self.goals.filter { object[$0] != nil }
        let matching = present.first == "event" ? ["where", "unless", "correlate"] : []
        let strays: [String: String] =
            present.isEmpty || present.first == "event"
            ? [:]
            : Dictionary(
                uniqueKeysWithValues: ["where", "unless", "correlate"].map {
                    ($0, "The key \"\($0)\" belongs beside \"event\" only.")
                })
        guard
            let fields = fields(
                node, what,
                keys: (present.isEmpty ? Self.goals + ["where", "unless", "correlate"] : present)
                    + matching + beside, refused: strays)
        else { return nil }
        let within = fields["within"].flatMap {
            duration($0, "the goal's window", .seconds(60)...Self.year)
        }
        let anchor = fields["anchor"].flatMap { self.anchor($0) }
        guard present.count == 1, let kind = present.first, let place = fields[kind] else {
            if !(present.isEmpty && problems.hasErrors(under: node.pointer)) {
                complain(node, "A goal has exactly one of \(alternatives(Self.goals)).")
            }
            return nil
        }
        guard let cause = goalCause(kind, place, fields) else { return nil }
        var goal = Goal(cause: cause)
        if let within { goal.within = within }
        if let anchor { goal.anchor = anchor }
        return goal
    }

    private mutating func goalCause(
        _ kind: String, _ node: Node, _ fields: Fields
    ) -> Goal.Cause? {
        switch kind {
        case "event": return eventMatch(fields, "a goal").map { .event($0) }
        case "milestone":
            guard let id = milestoneName(node) else { return nil }
            namedMilestone = (id, node.pointer)
            return .milestone(id)
        case "segment_enter": return segmentName(node).map { .segmentEnter($0) }
        case "segment_leave": return segmentName(node).map { .segmentLeave($0) }
        default: return condition(node).map { .condition($0) }
        }
    }

    /// A milestone's id, which is a name like a step's.
    mutating func milestoneName(_ node: Node) -> String? {
        if let text = node.value.string, isStepName(text) { return text }
        complain(
            node,
            "A milestone is named by lowercase letters, digits, hyphens and underscores, at most 63 "
                + "in all.")
        return nil
    }

    private mutating func anchor(_ node: Node) -> Goal.Anchor? {
        if node.value.string == "run_start" { return .runStart }
        guard node.value.object != nil else {
            complain(node, "The anchor is \"run_start\" or {\"step\": id}.")
            return nil
        }
        return stepReference(node, "an anchor").map { .step($0) }
    }

    /// `{"step": id}`.
    mutating func stepReference(_ node: Node, _ what: String) -> StepID? {
        guard let fields = fields(node, what, keys: ["step"]),
            let step = required("step", in: fields, what), let text = string(step, "the step")
        else { return nil }
        namedSteps.append((StepID(text), step.pointer))
        return StepID(text)
    }

    mutating func exits(_ fields: Fields) -> [ExitRule] {
        guard let node = fields["exits"], let items = items(node, "the list of exits") else {
            return []
        }
        return items.compactMap { exit($0) }
    }

    private mutating func exit(_ node: Node) -> ExitRule? {
        guard
            let fields = fields(
                node, "an exit", keys: ["event", "where", "unless", "correlate", "if", "reason"])
        else { return nil }
        let reason = fields["reason"].flatMap { string($0, "the reason", longest: 200) }
        if let condition = cause(fields, "an exit") {
            return self.condition(condition)
                .map { ExitRule(cause: .condition($0), reason: reason ?? "condition") }
        }
        guard fields["event"] != nil, let match = eventMatch(fields, "an exit") else { return nil }
        return ExitRule(
            cause: .event(match), reason: reason ?? match.names.joined(separator: " or "))
    }

    /// The `if` of what has either `if` or `event`; complains unless there is exactly one of them.
    mutating func cause(_ fields: Fields, _ what: String) -> Node? {
        switch (fields["event"], fields["if"]) {
        case (nil, nil), (_?, _?):
            complain(fields.node, "\(capitalised(what)) needs exactly one of \"event\" and \"if\".")
        case (nil, let condition?):
            for key in ["where", "unless", "correlate"] {
                guard let stray = fields[key] else { continue }
                complain(stray, "The key \"\(key)\" belongs beside \"event\", not beside \"if\".")
            }
            return condition
        case (_?, nil): break
        }
        return nil
    }

    /// `event`, `where`, `unless` and `correlate` of one object.
    mutating func eventMatch(
        _ fields: Fields, _ what: String, isEntry: Bool = false
    ) -> EventMatch? {
        let names = required("event", in: fields, what).flatMap { eventNames($0) }
        let outer = scope
        scope = .eventUnderTest(names: names ?? [], isEntry: isEntry)
        defer { scope = outer }
        let condition = fields["where"].flatMap { self.condition($0) }
        let unless = fields["unless"].flatMap { self.condition($0) }
        let correlates = fields["correlate"].flatMap { boolean($0, "\"correlate\"") }
        return names.map {
            EventMatch(
                names: $0, condition: condition, unless: unless, correlates: correlates ?? true)
        }
    }

    /// A name or an array of names, each known.
    mutating func eventNames(_ node: Node) -> [String]? {
        let nodes: [Node]
        if node.value.string != nil {
            nodes = [node]
        } else if let items = node.items, (1...50).contains(items.count) {
            nodes = items
        } else {
            complain(node, "An event is a name or an array of 1 to 50 names.")
            return nil
        }
        var names: [String] = []
        for node in nodes {
            guard let name = node.value.string, !name.isEmpty else {
                complain(node, "An event's name is a string such as \"trial.started\".")
                continue
            }
            if names.contains(name) {
                complain(node, "The event \"\(name)\" stands twice; leave one out.")
                continue
            }
            names.append(name)
            if let complaint = events?.complaint(about: name) {
                complain(node, complaint.sentence, complaint.code, fix: complaint.fix)
            } else if events == nil, !isPossibleEvent(name) {
                complain(node, "\"\(name)\" is not an event's name.")
            }
        }
        return names
    }
}
