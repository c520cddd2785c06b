internal import JSON
internal import JourneyModel
internal import Templates
internal import TimeZones

// The top level of a definition.
extension DefinitionReader {
    private static let keys = [
        "$schema", "dsl", "id", "kind", "name", "description", "tags", "environments", "timezone",
        "entry", "goal", "exit_policy", "exits", "send", "limits", "start", "steps", "partials",
    ]
    /// A workflow of more steps is refused: nobody can read it.
    static let mostSteps = 1_000
    static let year = Duration.seconds(366 * 86_400)

    /// The definition, or nil when a problem was found.
    ///
    /// - Parameter fileName: `<id>.json`, checked against the id; nil for a stored form.
    mutating func workflow(_ node: Node, fileName: String?) -> WorkflowDefinition? {
        guard
            let fields = fields(
                node, "a workflow",
                keys: Self.keys + (context == nil ? ["experiments"] : []),
                refused: [
                    "experiments": "Experiments are files of their own, "
                        + "Workflows/experiments/<id>.json, and are copied in at publish."
                ])
        else { return nil }
        checkLanguage(fields, "a workflow")
        partials(fields["partials"])
        storedExperiments(fields["experiments"])
        let id = workflowID(fields, fileName)
        let kind = required("kind", in: fields, "a workflow")
            .flatMap { word($0, "the kind", WorkflowDefinition.Kind.self) }
        send(fields["send"], isAutomation: kind == .automation)
        let entry = required("entry", in: fields, "a workflow")
            .flatMap { self.entry($0, isAutomation: kind == .automation) }
        let goal = fields["goal"].flatMap { self.goal($0) }
        let policy = exitPolicy(fields)
        let exits = exits(fields)
        let limits = limits(fields)
        let start = required("start", in: fields, "a workflow").flatMap { startStep($0) }
        let steps = steps(fields, isAutomation: kind == .automation)
        let (name, description, tags) = texts(fields)
        let environments = environments(fields)
        let timezone = fields["timezone"].flatMap { self.timezone($0) }

        judge(
            entry: entry, goal: goal, policy: policy, exits: exits, limits: limits, start: start,
            steps: steps, root: fields)
        guard !problems.hasErrors, let id, let kind, let entry, let start else { return nil }
        return WorkflowDefinition(
            id: id, kind: kind, name: name, description: description, tags: tags,
            environments: environments, timezone: timezone, entry: entry, goal: goal,
            exitPolicy: policy ?? (goal == nil ? .never : .onGoal), exits: exits, limits: limits,
            start: start, steps: steps,
            stepOrder: StepGraph(edges: edges).walk(from: start),
            partials: partials.mapValues(\.source), experiments: experiments)
    }

    mutating func checkLanguage(_ fields: Fields, _ what: String) {
        if let schema = fields["$schema"] { _ = string(schema, "\"$schema\"") }
        guard let dsl = required("dsl", in: fields, what) else { return }
        if dsl.value.integer != 1 {
            complain(dsl, "This version reads \"dsl\": 1 only.")
        }
    }

    private mutating func workflowID(_ fields: Fields, _ fileName: String?) -> WorkflowID? {
        guard let node = required("id", in: fields, "a workflow"),
            let text = string(node, "the id")
        else { return nil }
        return checkedID(text, node, fileName).map { WorkflowID($0) }
    }

    /// A file bears its definition's id.
    mutating func checkedID(_ text: String, _ node: Node, _ fileName: String?) -> String? {
        guard isPlainName(text) else {
            complain(
                node,
                "The id \"\(text)\" is not of lowercase letters, digits and hyphens, at most 63 in "
                    + "all, beginning with a letter or digit.")
            return nil
        }
        if let fileName, fileName != text + ".json" {
            complain(
                node,
                "The id \"\(text)\" stands in the file \(fileName); name the file \(text).json or "
                    + "change the id.", .identity)
        }
        return text
    }

    private mutating func texts(
        _ fields: Fields
    ) -> (name: String?, description: String?, tags: [String]) {
        let name = fields["name"].flatMap { string($0, "the name", longest: 200) }
        let description = fields["description"].flatMap { string($0, "the description") }
        guard let node = fields["tags"] else { return (name, description, []) }
        var tags: [String] = []
        for item in node.items ?? [] {
            guard let tag = string(item, "a tag", longest: 100) else { continue }
            if tags.contains(tag) {
                complain(item, "The tag \"\(tag)\" stands twice; leave one out.")
            }
            tags.append(tag)
        }
        if node.items == nil { complain(node, "The tags are an array of strings.") }
        return (name, description, tags)
    }

    private mutating func environments(_ fields: Fields) -> [String] {
        guard let node = fields["environments"] else { return ["production"] }
        let names = names(
            node, "the list of environments", pattern: "\"production\"", where: isStepName)
        for name in names ?? [] {
            let known = ["production", "sandbox"]
            guard !known.contains(name), let near = Spelling.nearestWord(to: name, among: known)
            else { continue }
            problems.add(
                node.pointer,
                "The environment \"\(name)\" is none that the shipped connectors report.",
                code: .doubt, fix: near, severity: .warning)
        }
        return names ?? []
    }

    private mutating func exitPolicy(_ fields: Fields) -> ExitPolicy? {
        guard let node = fields["exit_policy"] else { return nil }
        let policy = word(node, "the exit_policy", ExitPolicy.self)
        if let policy, policy.endsOnGoal, fields["goal"] == nil {
            complain(
                node,
                "The exit_policy \(policy.rawValue) needs a goal; add one or write "
                    + (policy == .onGoal ? "never." : "on_stop_matching."))
        }
        return policy
    }

    private mutating func limits(_ fields: Fields) -> Limits {
        guard let node = fields["limits"],
            let limits = self.fields(node, "a set of limits", keys: ["time", "steps", "visits"])
        else { return Limits() }
        var read = Limits()
        if let time = limits["time"] {
            read.time =
                duration(time, "the time limit", .seconds(60)...Self.year) ?? Self.year
        }
        if let steps = limits["steps"] {
            read.steps = integer(steps, "the limit of steps", 1...10_000) ?? read.steps
        }
        if let visits = limits["visits"] {
            read.visits = integer(visits, "the limit of visits", 1...1_000) ?? read.visits
        }
        return read
    }

    private mutating func startStep(_ node: Node) -> StepID? {
        guard let text = string(node, "the start") else { return nil }
        if text == "end" {
            complain(node, "The start is a step, not \"end\"; a workflow does something.")
            return nil
        }
        let id = StepID(text)
        namedSteps.append((id, node.pointer))
        return id
    }
}
