internal import JSON
internal import JourneyModel

// Who enters, what converts, what ends a run; and the event matches they share with waits.
extension DefinitionReader {
    mutating func entry(_ node: Node, isAutomation: Bool) -> Entry? {
        guard
            let fields = fields(
                node, "an entry",
                keys: [
                    "trigger", "connectors", "where", "unless", "key", "reentry", "when_live",
                ], later: ["once_per"])
        else { return nil }
        let names = required("trigger", in: fields, "an entry").flatMap { trigger($0) }
        scope = .eventUnderTest(names: names ?? [], isEntry: true)
        defer { scope = .anywhere }
        let connectors = fields["connectors"].flatMap {
            self.names($0, "the list of connectors", pattern: "\"revenuecat\"", where: isStepName)
        }
        checkConnectors(names ?? [], connectors, fields)
        let condition = fields["where"].flatMap { self.condition($0) }
        let unless = fields["unless"].flatMap { self.condition($0) }
        let key = fields["key"].flatMap { self.key($0) }
        let reentry =
            fields["reentry"].map { self.reentry($0) }
            ?? (isAutomation ? .everyTime : .oneTime)
        let whenLive = fields["when_live"].map {
            word($0, "the when_live", Entry.WhenLive.self) ?? .ignore
        }
        if whenLive == .startAnother, let reentry, reentry != .everyTime,
            let place = fields["when_live"]
        {
            complain(
                place,
                "The word start_another needs \"reentry\": \"every_time\"; write both or use ignore."
            )
        }
        guard let names, let reentry else { return nil }
        return Entry(
            trigger: .event(names: names), connectors: connectors, condition: condition,
            unless: unless, key: key, reentry: reentry, whenLive: whenLive ?? .ignore)
    }

    private mutating func trigger(_ node: Node) -> [String]? {
        let later = [
            "segment", "on", "date", "minus", "plus", "at", "late", "schedule", "audience", "rate",
            "api",
        ]
        guard let fields = fields(node, "a trigger", keys: ["event"], later: later) else {
            return nil
        }
        if fields["event"] == nil, let object = node.value.object,
            object.keys.contains(where: { later.contains($0) })
        {
            return nil
        }
        return required("event", in: fields, "a trigger").flatMap { eventNames($0) }
    }

    /// A provider's event from a connector that may not start the workflow never comes.
    private mutating func checkConnectors(
        _ names: [String], _ connectors: [String]?, _ fields: Fields
    ) {
        guard let connectors, let place = fields["connectors"] else { return }
        for name in names {
            guard let (connector, _) = providerEvent(name), !connectors.contains(connector) else {
                continue
            }
            complain(
                place,
                "The event \"\(name)\" comes from the connector \(connector), which is not listed; "
                    + "add it or leave the event out.")
        }
    }

    private mutating func key(_ node: Node) -> Entry.Key? {
        if node.value.string == "subscription" {
            note(.reference(Entry.Key.subscription.pointer, at: node.pointer))
            return .subscription
        }
        guard let object = node.value.object, object.count == 1, let target = object["ref"],
            let text = target.string, let pointer = JSONPointer(text), pointer.tokens.count > 1,
            ["event", "customer"].contains(pointer.tokens[0])
        else {
            complain(
                node,
                "A key is \"subscription\" or one {\"ref\": \"/event/…\"} or "
                    + "{\"ref\": \"/customer/…\"}.")
            return nil
        }
        note(.reference(pointer, at: node.pointer.appending("ref")))
        let subscription = Entry.Key.subscription
        return pointer == subscription.pointer ? subscription : .reference(pointer)
    }

    private mutating func reentry(_ node: Node) -> Entry.Reentry? {
        switch node.value.string {
        case "one_time": return .oneTime
        case "every_time": return .everyTime
        case let text?:
            complain(
                node,
                "The reentry is one_time, every_time or {\"once_per_window\": duration}, not "
                    + "\"\(text)\".",
                fix: Spelling.nearestWord(to: text, among: ["one_time", "every_time"]))
            return nil
        case nil:
            guard let fields = fields(node, "a reentry", keys: ["once_per_window"]),
                let window = required("once_per_window", in: fields, "a reentry")
            else { return nil }
            return duration(window, "the window", .seconds(1) ... .seconds(3_660 * 86_400))
                .map { .oncePerWindow($0) }
        }
    }

    mutating func goal(_ node: Node) -> Goal? {
        guard
            let fields = fields(
                node, "a goal",
                keys: ["event", "where", "unless", "correlate", "within", "anchor"],
                later: ["milestone", "segment_enter", "segment_leave", "if"])
        else { return nil }
        let within = fields["within"].flatMap {
            duration($0, "the goal's window", .seconds(60)...Self.year)
        }
        let anchor = fields["anchor"].flatMap { self.anchor($0) }
        if fields["event"] == nil,
            fields.hasAny(["milestone", "segment_enter", "segment_leave", "if"])
        {
            return nil
        }
        guard let match = eventMatch(fields, "a goal") else { return nil }
        var goal = Goal(match: match)
        if let within { goal.within = within }
        if let anchor { goal.anchor = anchor }
        return goal
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
    mutating func eventMatch(_ fields: Fields, _ what: String) -> EventMatch? {
        let names = required("event", in: fields, what).flatMap { eventNames($0) }
        let outer = scope
        scope = .eventUnderTest(names: names ?? [], isEntry: false)
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
    private mutating func eventNames(_ node: Node) -> [String]? {
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
                complain(node, complaint.sentence, fix: complaint.fix)
            }
        }
        return names
    }
}

extension Fields {
    func hasAny(_ keys: [String]) -> Bool { keys.contains { self[$0] != nil } }
}
