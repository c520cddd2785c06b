internal import JSON
internal import JourneyModel

// Steps that the engine does itself: events, attributes, milestones, other runs, experiments.
extension DefinitionReader {
    mutating func experiment(_ node: Node, _ id: StepID) -> ExperimentStep? {
        let what = "an experiment step"
        guard
            let fields = fields(
                node, what, keys: Self.shared + ["experiment", "variants"],
                refused: ["next": "An experiment step has no \"next\"; its variants lead on."])
        else { return nil }
        let place = required("experiment", in: fields, what)
        let name = place.flatMap { plainName($0, "an experiment") }
        var variants: [ExperimentStep.Variant] = []
        let written = required("variants", in: fields, what)
        if let written, written.value.object?.isEmpty ?? true {
            complain(written, "The variants are an object of steps by the variants' ids.")
        }
        for member in written?.value.object ?? JSONObject() {
            guard let written else { break }
            let place = Node(value: member.value, pointer: written.pointer.appending(member.key))
            if !isStepName(member.key) {
                complain(place, "\"\(member.key)\" is not a variant's id.")
            }
            if let next = edge(place, from: id) {
                variants.append(.init(id: member.key, next: next))
            }
        }
        guard let name, let place, let written else { return nil }
        let experiment = ExperimentID(name)
        guard let definition = experiments[experiment] ?? context?.experiments[experiment] else {
            let known = context?.experiments.keys.map(\.text).sorted() ?? []
            complain(
                place,
                "There is no experiment \"\(name)\"; write Workflows/experiments/\(name).json or "
                    + "correct the name.", .name, fix: Spelling.nearestWord(to: name, among: known))
            return nil
        }
        experiments[experiment] = definition
        return matched(variants, definition, experiment, written)
    }

    /// The variants in the experiment's order; each must lead somewhere.
    private mutating func matched(
        _ written: [ExperimentStep.Variant], _ definition: ExperimentDefinition,
        _ experiment: ExperimentID, _ node: Node
    ) -> ExperimentStep? {
        let ids = definition.variants.map(\.id)
        for variant in written where !ids.contains(variant.id) {
            problems.add(
                node.pointer.appending(variant.id),
                "The experiment \(experiment) has no variant \"\(variant.id)\"; it has "
                    + "\(alternatives(ids)).", code: .name,
                fix: Spelling.nearestWord(to: variant.id, among: ids))
        }
        var ordered: [ExperimentStep.Variant] = []
        for id in ids {
            if let variant = written.first(where: { $0.id == id }) {
                ordered.append(variant)
            } else if node.value[id] == nil {
                complain(
                    node,
                    "The variant \"\(id)\" of the experiment \(experiment) leads nowhere; add "
                        + "\"\(id)\": a step or \"end\".", .name)
            }
        }
        return ordered.count == ids.count
            ? ExperimentStep(experiment: experiment, variants: ordered) : nil
    }

    mutating func sendEvent(_ node: Node, _ id: StepID) -> SendEvent? {
        let what = "a send_event step"
        guard let fields = fields(node, what, keys: Self.shared + ["event", "properties", "next"])
        else { return nil }
        let event = required("event", in: fields, what).flatMap { ownEvent($0) }
        let members = fields["properties"].map { node -> [ValueTree.Member]? in
            guard let object = node.value.object else {
                complain(node, "The properties are an object of values by name.")
                return nil
            }
            var members: [ValueTree.Member] = []
            for member in object {
                let place = Node(value: member.value, pointer: node.pointer.appending(member.key))
                if let event { checkProperty(member.key, place, of: event) }
                if let tree = tree(place) {
                    members.append(.init(key: member.key, tree: tree))
                    checkPropertyType(member.key, tree, place, of: event)
                }
            }
            return members.count == object.count ? members.sorted { $0.key < $1.key } : nil
        }
        let next = required("next", in: fields, what).flatMap { edge($0, from: id) }
        guard let event, let next else { return nil }
        if let members, members == nil { return nil }
        return SendEvent(event: event, properties: .object((members ?? []) ?? []), next: next)
    }

    /// A declared event of the app's own: the vocabulary's come from providers only.
    private mutating func ownEvent(_ node: Node) -> String? {
        guard let name = node.value.string, isEventName(name) else {
            complain(
                node, "The event is one of the app's own, a name such as \"survey.sent\".")
            return nil
        }
        if Vocabulary.owns(name) {
            complain(
                node,
                "The event \"\(name)\" lies in the vocabulary's namespaces, whose events come from "
                    + "providers; send one of the app's own.")
            return nil
        }
        if let complaint = events?.complaint(about: name) {
            complain(node, complaint.sentence, complaint.code, fix: complaint.fix)
        }
        return name
    }

    private mutating func checkProperty(_ name: String, _ node: Node, of event: String) {
        guard let declared = events?.events[event], declared[name] == nil else { return }
        complain(
            node,
            "The event \"\(event)\" is declared without a property \"\(name)\"; declare it in "
                + "Workflows/events.json or leave it out.", .pointer,
            fix: Spelling.nearestWord(to: name, among: declared.keys.sorted()))
    }

    private mutating func checkPropertyType(
        _ name: String, _ tree: ValueTree, _ node: Node, of event: String?
    ) {
        guard let event, let type = events?.events[event]?[name] else { return }
        switch tree {
        case .value(let value): note(.property(value, type, at: node.pointer))
        case .array:
            note(.property(.literal(.array([])), type, at: node.pointer))
        case .object:
            if type == .money { return }
            note(.property(.literal(.object(JSONObject())), type, at: node.pointer))
        }
    }

    mutating func updateCustomer(_ node: Node, _ id: StepID) -> UpdateCustomer? {
        let what = "an update_customer step"
        guard let fields = fields(node, what, keys: Self.shared + ["set", "unset", "next"]) else {
            return nil
        }
        if fields["set"] == nil, fields["unset"] == nil {
            complain(node, "An update_customer step needs \"set\", \"unset\" or both.", .missingKey)
        }
        var members: [ValueTree.Member] = []
        if let node = fields["set"] {
            if node.value.object?.isEmpty ?? true {
                complain(node, "\"set\" is an object of values by the attributes' names.")
            }
            for member in node.value.object ?? JSONObject() {
                let place = Node(value: member.value, pointer: node.pointer.appending(member.key))
                if !isPropertyName(member.key) {
                    complain(
                        place,
                        "\"\(member.key)\" is not an attribute's name; write letters, digits and "
                            + "underscores.")
                }
                if let tree = tree(place) { members.append(.init(key: member.key, tree: tree)) }
            }
        }
        var removed: [String] = []
        if let node = fields["unset"] {
            removed =
                names(
                    node, "the list of attributes", pattern: "\"plan\"", where: isPropertyName)
                ?? []
            for name in removed where fields["set"]?.value[name] != nil {
                complain(
                    node, "The attribute \"\(name)\" is both set and unset; leave one out.",
                    .combination)
            }
        }
        let next = required("next", in: fields, what).flatMap { edge($0, from: id) }
        return next.map {
            UpdateCustomer(
                attributes: members.sorted { $0.key < $1.key }, removed: removed.sorted(), next: $0)
        }
    }

    mutating func milestone(_ node: Node, _ id: StepID) -> Step.Action? {
        let what = "a milestone step"
        guard let fields = fields(node, what, keys: Self.shared + ["milestone", "next"]) else {
            return nil
        }
        let name = required("milestone", in: fields, what).flatMap { milestoneName($0) }
        if let name { milestones.insert(name) }
        let next = required("next", in: fields, what).flatMap { edge($0, from: id) }
        guard let name, let next else { return nil }
        return .milestone(id: name, next: next)
    }

    mutating func runCommand(_ node: Node, _ id: StepID, _ what: String) -> RunCommand? {
        guard let fields = fields(node, what, keys: Self.shared + ["workflow", "key", "next"])
        else { return nil }
        let place = required("workflow", in: fields, what)
        let name = place.flatMap { plainName($0, "a workflow") }
        if let name, let place, let known = context?.workflows {
            if let isStartedByAPI = known[WorkflowID(name)] {
                if !isStartedByAPI {
                    complain(
                        place,
                        "The workflow \"\(name)\" has another trigger than {\"api\": true}, so no step "
                            + "may start or end its runs.", .name)
                }
            } else {
                complain(
                    place, "There is no workflow \"\(name)\"; correct the name.", .name,
                    fix: Spelling.nearestWord(to: name, among: known.keys.map(\.text).sorted()))
            }
        }
        let key = fields["key"].flatMap { value($0) }
        let next = required("next", in: fields, what).flatMap { edge($0, from: id) }
        guard let name, let next else { return nil }
        return RunCommand(workflow: WorkflowID(name), key: key, next: next)
    }
}
