internal import JSON
internal import JourneyModel
internal import Templates

// What stands beside a workflow: its partials, and the files of segments and experiments.
extension DefinitionReader {
    /// Templates by name. They are read before the steps, whose templates include them.
    mutating func partials(_ node: Node?) {
        guard let node else { return }
        guard let object = node.value.object, !object.isEmpty else {
            complain(node, "The partials are an object of templates by name.")
            return
        }
        for member in object {
            let place = Node(value: member.value, pointer: node.pointer.appending(member.key))
            if !isPartialName(member.key) {
                complain(
                    place, "\"\(member.key)\" is not a partial's name; write letters and digits.")
            }
            if let template = source(of: place) {
                partials[member.key] = template
            } else {
                usedPartials.insert(member.key)
            }
        }
        for (name, template) in partials {
            for inner in template.partialNames where object[inner] == nil {
                complainAboutPartial(
                    inner, at: node.pointer.appending(name), among: object.keys)
            }
        }
        refusePartialCircles(node)
    }

    mutating func complainAboutPartial(
        _ name: String, at place: JSONPointer, among known: [String]
    ) {
        problems.add(
            place,
            "There is no partial \"\(name)\"; write it in the workflow's \"partials\".",
            code: .name,
            fix: Spelling.nearestWord(to: name, among: known))
    }

    private mutating func refusePartialCircles(_ node: Node) {
        for name in partials.keys.sorted() where reach(of: [name]).contains(name) {
            problems.add(
                node.pointer.appending(name),
                "The partial \"\(name)\" includes itself, which would never end; take it out of the "
                    + "circle.", code: .cycle)
        }
    }

    /// Every partial that those of `names` include, at whatever depth.
    func reach(of names: [String]) -> Set<String> {
        var reached: Set<String> = []
        var ahead = names.flatMap { partials[$0]?.partialNames ?? [] }
        while let name = ahead.popLast() {
            if reached.insert(name).inserted { ahead += partials[name]?.partialNames ?? [] }
        }
        return reached
    }

    mutating func refuseUnusedPartials(_ root: Fields) {
        for name in partials.keys.sorted() where !usedPartials.contains(name) {
            problems.add(
                root.node.pointer.appending("partials").appending(name),
                "No template includes the partial \"\(name)\"; include it or leave it out.",
                code: .unused)
        }
    }

    /// The experiments of a stored form, which are those the version was published with.
    mutating func storedExperiments(_ node: Node?) {
        guard context == nil, let object = node?.value.object, let node else { return }
        for member in object {
            let place = Node(value: member.value, pointer: node.pointer.appending(member.key))
            guard let experiment = experiment(place, fileName: nil) else { continue }
            experiments[experiment.id] = experiment
        }
    }

    // MARK: Segments

    mutating func segment(_ node: Node, fileName: String?) -> SegmentDefinition? {
        let what = "a segment"
        guard let fields = fields(node, what, keys: ["$schema", "dsl", "id", "name", "if"]) else {
            return nil
        }
        checkLanguage(fields, what)
        let place = required("id", in: fields, what)
        let id = place.flatMap { string($0, "the id") }.flatMap { text in
            place.flatMap { checkedID(text, $0, fileName) }
        }
        let name = fields["name"].flatMap { string($0, "the name", longest: 200) }
        scope = .segment
        let condition = required("if", in: fields, what).flatMap { self.condition($0) }
        guard let id, let condition else { return nil }
        if let place = fields["if"], condition.needs.segments.contains(SegmentID(id)) {
            complain(place, "The segment \"\(id)\" asks for itself.", .cycle)
        }
        return SegmentDefinition(id: SegmentID(id), name: name, condition: condition)
    }

    // MARK: Experiments

    mutating func experiment(_ node: Node, fileName: String?) -> ExperimentDefinition? {
        let what = "an experiment"
        guard let fields = fields(node, what, keys: ["$schema", "dsl", "id", "variants"]) else {
            return nil
        }
        checkLanguage(fields, what)
        let place = required("id", in: fields, what)
        let id = place.flatMap { string($0, "the id") }.flatMap { text in
            place.flatMap { checkedID(text, $0, fileName) }
        }
        guard let list = required("variants", in: fields, what),
            let items = items(list, "the list of variants", most: 20)
        else { return nil }
        let variants = items.compactMap { variant($0) }
        guard let id, variants.count == items.count else { return nil }
        let ids = variants.map(\.id)
        for (index, id) in ids.enumerated() where ids[..<index].contains(id) {
            problems.add(
                items[index].pointer.appending("id"),
                "The variant \"\(id)\" stands twice in this experiment; rename one.",
                code: .identity)
        }
        let sum = variants.reduce(0) { $0 + $1.weight }
        if sum != 100 {
            complain(
                list,
                "The weights of the variants add up to \(sum); they are percents and make 100.",
                .range)
        }
        return ExperimentDefinition(id: ExperimentID(id), variants: variants)
    }

    private mutating func variant(_ node: Node) -> ExperimentDefinition.Variant? {
        let what = "a variant"
        guard let fields = fields(node, what, keys: ["id", "weight", "holdout"]) else { return nil }
        let id = required("id", in: fields, what).flatMap { node -> String? in
            if let text = node.value.string, isStepName(text), !Self.outletWords.contains(text) {
                return text
            }
            complain(
                node,
                "A variant's id is of lowercase letters, digits, hyphens and underscores, and none of "
                    + "\(alternatives(Self.outletWords)).")
            return nil
        }
        let weight = required("weight", in: fields, what).flatMap {
            integer($0, "the weight", 0...100)
        }
        let holdout = fields["holdout"].flatMap { boolean($0, "\"holdout\"") }
        guard let id, let weight else { return nil }
        return .init(id: id, weight: weight, isHoldout: holdout ?? false)
    }
}

extension ExperimentDefinition {
    /// Why this may not follow an earlier version of itself; nil when it may. Variants keep their ids
    /// and their order, so that nobody changes groups; new ones come last.
    package func complaint(replacing earlier: ExperimentDefinition) -> String? {
        let known = earlier.variants.map(\.id)
        guard variants.map(\.id).starts(with: known) else {
            return
                "The experiment \(id) has the variants \(alternatives(known)), which keep their ids and "
                + "their order; give one that is over the weight 0 and add new ones at the end."
        }
        return nil
    }
}
