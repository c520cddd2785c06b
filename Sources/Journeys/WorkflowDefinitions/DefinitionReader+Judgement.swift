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
            refuseCovered(by: goal.cause, exits, steps, root)
        }
        for exit in exits {
            switch exit.cause {
            case .event(let match): refuseCoveredWaits(by: .event(match), what: "an exit", steps)
            case .condition(let condition):
                refuseCoveredWaits(by: .condition(condition), what: "an exit", steps)
            }
        }
        if let entry, let policy, policy.endsOnStopMatching { checkMatching(entry, policy, root) }
        if let milestone = namedMilestone, !milestones.contains(milestone.id), allNamed {
            problems.add(
                milestone.pointer,
                "No milestone step passes \"\(milestone.id)\"; correct the name or add the step.",
                code: .name,
                fix: Spelling.nearestWord(to: milestone.id, among: milestones.sorted()))
        }
        if events != nil, allNamed, !hasUnreadStep { refuseUnusedPartials(root) }
    }

    /// Leaving a run because its customer stops matching needs something to match that can change.
    private mutating func checkMatching(_ entry: Entry, _ policy: ExitPolicy, _ root: Fields) {
        switch entry.trigger {
        case .segment, .schedule: return
        case .event, .date, .api: break
        }
        let conditions = [entry.condition, entry.unless].compactMap { $0 }
        if conditions.contains(where: \.canChange) { return }
        let place = root["exit_policy"]?.pointer ?? root.node.pointer
        problems.add(
            place,
            conditions.isEmpty
                ? "The exit_policy \(policy.rawValue) needs a \"where\" or \"unless\" in the entry: "
                    + "without one nobody stops matching."
                : "The exit_policy \(policy.rawValue) never takes effect: the entry's conditions read "
                    + "only /event, which does not change; read /customer, /subscription, a feature, a "
                    + "segment or stored events, or write another policy.", code: .neverTaken)
    }

    /// Whether every step that is named stands among the steps.
    private mutating func checkNamedSteps(_ ids: [String]) -> Bool {
        var named = namedSteps
        for edge in edges {
            if case .step(let id) = edge.to { named.append((id, edge.pointer)) }
        }
        let known = Set(ids)
        var allKnown = true
        var told: Set<JSONPointer> = []
        for (id, pointer) in named where !known.contains(id.text) {
            allKnown = false
            guard told.insert(pointer).inserted else { continue }
            problems.add(
                pointer, "There is no step \"\(id)\"; correct the name or add the step.",
                code: .name, fix: Spelling.nearestWord(to: id.text, among: ids + ["end"]))
        }
        return allKnown
    }

    private mutating func refuseUnreachable(_ ids: [String], _ graph: StepGraph, _ start: StepID) {
        let reached = Set(graph.walk(from: start).map(\.text))
        for id in ids where !reached.contains(id) {
            problems.add(
                JSONPointer(tokens: ["steps", id]),
                "No way leads from the start to the step \"\(id)\"; connect it or leave it out.",
                code: .unused)
        }
    }

    private mutating func checkCycles(_ graph: StepGraph, _ start: StepID) {
        for (edge, steps) in graph.cycles(from: start, without: pacingSteps) {
            let way = (steps + steps.prefix(1)).prefix(12).map(\.text).joined(separator: " → ")
            problems.add(
                edge.pointer,
                "This edge closes the cycle \(way), which could turn without pause; put a delay with "
                    + "a literal \"for\" of at least PT1M into it.", code: .cycle)
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
                + "P366D.", code: .time)
    }
}
