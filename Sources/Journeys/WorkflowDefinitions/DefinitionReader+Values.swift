internal import JSON
internal import Templates
internal import TimeZones

// Values: literals, and objects with exactly the keys of one form.
extension DefinitionReader {
    /// The key that makes an object a value, with the keys that may stand beside it.
    static let valueForms: [(key: String, beside: [String])] = [
        ("ref", ["default"]), ("template", []), ("time", ["plus", "minus"]), ("literal", []),
    ]

    static func isForm(_ object: JSONObject) -> Bool {
        valueForms.contains { object[$0.key] != nil }
    }

    mutating func value(_ node: Node) -> Value? {
        if case .object(let object) = node.value, Self.isForm(object) {
            return form(node, object)
        }
        return literal(node) ? .literal(node.value) : nil
    }

    /// A value of one of the forms; an object that mixes forms, or a form with other keys, is refused
    /// because both readings would be a guess.
    private mutating func form(_ node: Node, _ object: JSONObject) -> Value? {
        let present = Self.valueForms.filter { object[$0.key] != nil }
        guard let form = present.first else { return nil }
        let strangers = object.keys.filter { $0 != form.key && !form.beside.contains($0) }
        guard strangers.isEmpty else {
            complain(
                node,
                "This object is ambiguous: \"\(form.key)\" makes it a value, and \"\(strangers[0])\" "
                    + "does not belong to one; rename a key, or wrap fixed JSON as "
                    + "{\"literal\": …}.",
                fix: Spelling.nearestWord(to: strangers[0], among: form.beside))
            return nil
        }
        let fields = Fields(node: node, object: object)
        guard let inner = fields[form.key] else { return nil }
        switch form.key {
        case "ref": return reference(inner, fields)
        case "template":
            return template(inner)
        case "time": return time(inner, fields)
        default: return nests(inner) ? nil : .literal(inner.value)
        }
    }

    /// A template that can be read, its names and those of the partials it includes noted for
    /// checking like pointers.
    private mutating func template(_ node: Node) -> Value? {
        guard let template = source(of: node) else { return nil }
        // One that is there and cannot be read has its own complaint.
        for name in template.partialNames
        where partials[name] == nil && !usedPartials.contains(name) {
            complainAboutPartial(name, at: node.pointer, among: partials.keys.sorted())
        }
        let included = reach(of: template.partialNames).union(template.partialNames)
        usedPartials.formUnion(included)
        let all = [template] + included.sorted().compactMap { partials[$0] }
        // Inside a section its own value may hold the name, so only the others can be judged.
        for read in all.flatMap(\.reads)
        where read.role == .variable && read.sections.isEmpty && read.name != "." {
            let tokens = read.name.split(separator: ".").map(String.init)
            note(.reference(JSONPointer(tokens: tokens), at: node.pointer))
        }
        return .template(template.source)
    }

    /// The text of a template, read.
    mutating func source(of node: Node) -> Template? {
        guard let text = string(node, "a template") else { return nil }
        do throws(TemplateError) {
            return try Template(text)
        } catch {
            complain(node, "The template cannot be read: \(error)", .template)
            return nil
        }
    }

    private mutating func reference(_ node: Node, _ fields: Fields) -> Value? {
        let target = pointer(node)
        guard let fallback = fields["default"] else {
            return target.map { .reference($0, default: nil) }
        }
        guard let value = value(fallback), let target else { return nil }
        return .reference(target, default: value)
    }

    /// An RFC 6901 pointer into the scope, noted for checking.
    mutating func pointer(_ node: Node) -> JSONPointer? {
        guard let text = node.value.string else {
            complain(node, "A ref is a JSON Pointer such as \"/event/product_id\".")
            return nil
        }
        guard let pointer = JSONPointer(text), !pointer.tokens.isEmpty else {
            let dotted = "/" + text.split(separator: ".").joined(separator: "/")
            complain(
                node, "\"\(text)\" is not a JSON Pointer; begin with a slash and part by slashes.",
                fix: text.hasPrefix("/") || text.isEmpty ? nil : dotted)
            return nil
        }
        note(.reference(pointer, at: node.pointer))
        return pointer
    }

    private mutating func time(_ node: Node, _ fields: Fields) -> Value? {
        let base = value(node)
        if let base { note(.instant(base, at: node.pointer)) }
        let range: ClosedRange<Duration> = .zero ... .seconds(3_660 * 86_400)
        switch (fields["plus"], fields["minus"]) {
        case (let plus?, nil):
            guard let moved = duration(plus, "\"plus\"", range), let base else { return nil }
            return .time(base, moved: moved)
        case (nil, let minus?):
            guard let moved = duration(minus, "\"minus\"", range), let base else { return nil }
            return .time(base, moved: .zero - moved)
        case (nil, nil), (_?, _?):
            complain(fields.node, "A time needs exactly one of \"plus\" and \"minus\".")
            return nil
        }
    }

    /// Whether a part is plain JSON: no object in it looks like a value, at no depth.
    private mutating func literal(_ node: Node) -> Bool {
        if nests(node) { return false }
        guard let inner = Self.firstForm(in: node.value, at: node.pointer) else { return true }
        problems.add(
            inner,
            "This value stands inside fixed JSON, where it would not be read; take it out, or wrap "
                + "the whole as {\"literal\": …}.", code: .form)
        return false
    }

    private mutating func nests(_ node: Node) -> Bool {
        guard Self.depth(node.value) > Self.longestNesting else { return false }
        complain(
            node, "This JSON is nested more than \(Self.longestNesting) deep; flatten it.", .size)
        return true
    }

    /// Levels of arrays and objects; the parser has bounded them.
    static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .null, .bool, .number, .string: 0
        case .array(let items): 1 + (items.map(depth).max() ?? 0)
        case .object(let object): 1 + (object.map { depth($0.value) }.max() ?? 0)
        }
    }

    /// The place of the first object that looks like a value; what is in `literal` counts too.
    static func firstForm(in value: JSONValue, at pointer: JSONPointer) -> JSONPointer? {
        switch value {
        case .null, .bool, .number, .string: return nil
        case .array(let items):
            for (index, item) in items.enumerated() {
                if let found = firstForm(in: item, at: pointer.appending(index)) { return found }
            }
        case .object(let object):
            if isForm(object) { return pointer }
            for member in object {
                if let found = firstForm(in: member.value, at: pointer.appending(member.key)) {
                    return found
                }
            }
        }
        return nil
    }

    mutating func note(_ claim: Claim) {
        claims.append(
            PlacedClaim(
                claim: claim, scope: scope, asksEverySubscription: asksEverySubscription))
    }

    /// JSON in which any part may be a value.
    mutating func tree(_ node: Node, depth: Int = 0) -> ValueTree? {
        guard depth <= Self.longestNesting else {
            complain(
                node, "This JSON is nested more than \(Self.longestNesting) deep; flatten it.",
                .size)
            return nil
        }
        switch node.value {
        case .null, .bool, .number, .string: return .value(.literal(node.value))
        case .array:
            let items = (node.items ?? []).map { tree($0, depth: depth + 1) }
            let read = items.compactMap { $0 }
            return read.count == items.count ? .array(read) : nil
        case .object(let object):
            if Self.isForm(object) { return form(node, object).map { .value($0) } }
            var members: [ValueTree.Member] = []
            for member in object {
                let place = Node(value: member.value, pointer: node.pointer.appending(member.key))
                if let tree = tree(place, depth: depth + 1) {
                    members.append(ValueTree.Member(key: member.key, tree: tree))
                }
            }
            return members.count == object.count ? .object(members) : nil
        }
    }
}
