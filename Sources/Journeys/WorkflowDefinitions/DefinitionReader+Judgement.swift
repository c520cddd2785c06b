internal import JSON
internal import JourneyModel
internal import TimeZones

// What is judged once everything was read: steps that are named, the graph, pointers and types, and
// waits that can never be taken.
extension DefinitionReader {
    mutating func judge(
        entry: Entry?, goal: Goal?, policy: ExitPolicy?, exits: [ExitRule], limits: Limits,
        start: StepID?, steps: [StepID: Step], root: Fields
    ) {
        let ids = root["steps"]?.value.object?.keys ?? []
        let allNamed = !ids.isEmpty && checkNamedSteps(ids)
        if let start, ids.contains(start.text) {
            let graph = StepGraph(edges: edges)
            let allRead = steps.count == ids.count && !hasUnreadStep
            if allNamed, allRead { refuseUnreachable(ids, graph, start) }
            checkCycles(graph, start)
            checkLength(graph, start, limits)
            checkClaims(graph, start, entry, ids)
        }
        if policy?.endsOnGoal ?? (goal != nil), let goal, goal.anchor == .runStart {
            refuseCovered(by: goal.match, what: "the goal", exits, steps, root)
        }
        for exit in exits {
            guard case .event(let match) = exit.cause else { continue }
            refuseCoveredWaits(by: match, what: "an exit", steps)
        }
    }

    /// Whether every step that is named stands among the steps.
    private mutating func checkNamedSteps(_ ids: [String]) -> Bool {
        var named = namedSteps
        for edge in edges {
            if case .step(let id) = edge.to { named.append((id, edge.pointer)) }
        }
        let known = Set(ids)
        var allKnown = true
        for (id, pointer) in named where !known.contains(id.text) {
            allKnown = false
            problems.add(
                pointer, "There is no step \"\(id)\"; correct the name or add the step.",
                fix: Spelling.nearestWord(to: id.text, among: ids + ["end"]))
        }
        return allKnown
    }

    private mutating func refuseUnreachable(_ ids: [String], _ graph: StepGraph, _ start: StepID) {
        let reached = Set(graph.walk(from: start).map(\.text))
        for id in ids where !reached.contains(id) {
            problems.add(
                JSONPointer(tokens: ["steps", id]),
                "No way leads from the start to the step \"\(id)\"; connect it or leave it out.")
        }
    }

    private mutating func checkCycles(_ graph: StepGraph, _ start: StepID) {
        for (edge, steps) in graph.cycles(from: start, without: pacingSteps) {
            let way = (steps + steps.prefix(1)).prefix(12).map(\.text).joined(separator: " → ")
            problems.add(
                edge.pointer,
                "This edge closes the cycle \(way), which could turn without pause; put a delay with "
                    + "a literal \"for\" of at least PT1M into it.")
        }
    }

    private mutating func checkLength(_ graph: StepGraph, _ start: StepID, _ limits: Limits) {
        guard let (length, last) = graph.longestPath(from: start), length > limits.time else {
            return
        }
        problems.add(
            last.pointer,
            "The waits on the way here add up to \(length.iso8601), past the limit of "
                + "\(limits.time.iso8601); shorten them or write \"limits\": {\"time\": …}, at most "
                + "P366D.")
    }

    private mutating func checkClaims(
        _ graph: StepGraph, _ start: StepID, _ entry: Entry?, _ ids: [String]
    ) {
        guard let events, let entry else { return }
        let trigger: [String] =
            switch entry.trigger {
            case .event(let names): names
            }
        let map = ScopeMap(
            events: events, trigger: trigger,
            bound: graph.boundEvents(from: start, trigger: trigger), tools: actionTools,
            stepIDs: ids)
        for (claim, scope) in claims { check(claim, scope, map) }
    }

    private mutating func check(_ claim: Claim, _ scope: Scope, _ map: ScopeMap) {
        func type(_ value: Value) -> StaticType { staticType(value, scope, map) }
        switch claim {
        case .reference(let pointer, let place):
            do throws(ScopeMap.Refusal) {
                _ = try map.type(of: pointer, in: scope)
            } catch {
                problems.add(place, error.sentence, fix: error.fix)
            }
        case .comparison(let comparison, let left, let right, let place):
            add(OperandCheck.complaint(comparison, type(left), type(right)), at: place)
        case .membership(let left, let right, let place):
            add(OperandCheck.complaint(.eq, type(left), type(right)), at: place)
        case .containment(let left, let right, let place):
            add(OperandCheck.complaint(containing: type(left), type(right)), at: place)
        case .text(let value, let place):
            add(OperandCheck.complaint(text: type(value)), at: place)
        case .instant(let value, let place):
            add(OperandCheck.complaint(instant: type(value)), at: place)
            if case .reference(_, let fallback?) = value {
                check(.instant(fallback, at: place.appending("default")), scope, map)
            }
        }
    }

    private mutating func add(_ complaint: String?, at place: JSONPointer) {
        if let complaint { problems.add(place, complaint) }
    }

    /// A pointer that may not stand there has its own complaint and counts as unknown here.
    private func staticType(_ value: Value, _ scope: Scope, _ map: ScopeMap) -> StaticType {
        switch value {
        case .literal(let literal):
            switch literal {
            case .null: .null
            case .bool: .type(.boolean)
            case .number: .type(.number)
            case .string(let text): .text(text)
            case .array: .type(.array)
            case .object(let object): .object(object)
            }
        case .reference(let pointer, _): (try? map.type(of: pointer, in: scope)) ?? .any
        case .template: .type(.string)
        case .time: .type(.instant)
        }
    }

    /// Exits and waits for an event that ends the run before they are asked.
    private mutating func refuseCovered(
        by match: EventMatch, what: String, _ exits: [ExitRule], _ steps: [StepID: Step],
        _ root: Fields
    ) {
        if exits.count == root["exits"]?.items?.count ?? 0 {
            for (index, exit) in exits.enumerated() {
                guard case .event(let other) = exit.cause, let name = match.covers(other) else {
                    continue
                }
                problems.add(
                    JSONPointer(tokens: ["exits", String(index), "event"]),
                    "\(capitalised(what)) already ends the run on \(name); leave it out here, or "
                        + "write \"exit_policy\": \"never\".")
            }
        }
        refuseCoveredWaits(by: match, what: what, steps)
    }

    private mutating func refuseCoveredWaits(
        by match: EventMatch, what: String, _ steps: [StepID: Step]
    ) {
        for id in steps.keys.sorted() {
            guard case .waitUntil(let wait)? = steps[id]?.action else { continue }
            for (index, branch) in wait.branches.enumerated() {
                guard case .event(let other) = branch.cause, let name = match.covers(other) else {
                    continue
                }
                let next =
                    what == "the goal"
                    ? "leave it out here, or write \"exit_policy\": \"never\"."
                    : "leave one of them out."
                problems.add(
                    JSONPointer(tokens: ["steps", id.text, "branches", String(index), "event"]),
                    "\(capitalised(what)) already ends the run on \(name), so this branch is never "
                        + "taken; \(next)")
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
