internal import JSON
internal import JourneyModel

/// What is known of a value's type before anything runs.
enum StaticType: Hashable {
    /// Nothing: an attribute, a provider's raw field, an HTTP answer.
    case any
    case null
    case type(Vocabulary.PropertyType)
    /// The amount of a money: text whose order is not that of the number.
    case amount
    /// A literal string, which may be an instant's form.
    case text(String)
    /// A literal object, which may be a money.
    case object(JSONObject)
}

/// Says what a pointer names at a place of a definition.
struct ScopeMap {
    typealias Scope = DefinitionReader.Scope

    /// Why a pointer may not stand where it does.
    struct Refusal: Error {
        var sentence: String
        var fix: String?
    }

    let events: EventDeclarations
    let trigger: [String]
    /// By step, the events one of which is bound there.
    let bound: [StepID: Set<String>]
    let tools: [StepID: ActionStep.Tool]
    let stepIDs: [String]

    private static let roots = ["event", "trigger", "customer", "steps", "run", "now"]
    private static let meta: [String: StaticType] = [
        "id": .type(.string), "name": .type(.string), "provider_type": .type(.string),
        "connector": .type(.string), "app": .type(.string), "trust": .type(.string),
        "occurred_at": .type(.instant), "received_at": .type(.instant),
        "environment": .type(.string),
    ]
    private static let run: [String: StaticType] = [
        "id": .type(.string), "workflow": .type(.string), "version": .type(.number),
        "key": .type(.string), "entered_at": .type(.instant),
    ]
    private static let results: [ActionStep.Tool: [String: StaticType]] = [
        .http: [
            "status": .type(.number), "headers": .any, "json": .any, "text": .type(.string),
            "suppressed": .type(.string), "error": .type(.string),
        ],
        .log: ["suppressed": .type(.string), "error": .type(.string)],
    ]

    func type(of pointer: JSONPointer, in scope: Scope) throws(Refusal) -> StaticType {
        let root = pointer.tokens.first ?? ""
        let rest = Array(pointer.tokens.dropFirst())
        if case .eventUnderTest(_, isEntry: true) = scope,
            ["trigger", "steps", "run"].contains(root)
        {
            throw Refusal(
                sentence: "No run exists yet where an entry is judged, so there is no /\(root); "
                    + "read /event.")
        }
        switch root {
        case "event": return try event(rest, names(in: scope), root: root, scope: scope)
        case "trigger": return try event(rest, trigger, root: root, scope: scope)
        case "customer":
            if rest == [""] { throw Refusal(sentence: "\"\(pointer)\" names no attribute.") }
            return .any
        case "steps": return try result(rest)
        case "run": return try member(rest, Self.run, of: "/run", whole: .type(.object))
        case "now":
            guard rest.isEmpty else {
                throw Refusal(sentence: "/now is an instant and has no members.", fix: "/now")
            }
            return .type(.instant)
        case "subscription", "features":
            throw Refusal(sentence: notYet("The pointer /\(root)"))
        default:
            throw Refusal(
                sentence: "\"\(pointer)\" names nothing; begin with "
                    + "\(alternatives(Self.roots.map { "/" + $0 })).",
                fix: Spelling.nearestWord(to: root, among: Self.roots)
                    .map { JSONPointer(tokens: [$0] + rest).description })
        }
    }

    private func names(in scope: Scope) -> [String] {
        switch scope {
        case .eventUnderTest(let names, _): names
        case .step(let id): (bound[id] ?? []).sorted()
        case .anywhere: bound.values.reduce(into: Set(trigger)) { $0.formUnion($1) }.sorted()
        }
    }

    private func event(
        _ rest: [String], _ names: [String], root: String, scope: Scope
    ) throws(Refusal) -> StaticType {
        guard let property = rest.first else { return .type(.object) }
        if property == "meta" {
            return try member(
                Array(rest.dropFirst()), Self.meta, of: "/\(root)/meta", whole: .type(.object))
        }
        if property == "raw" {
            guard case .eventUnderTest = scope, root == "event" else {
                throw Refusal(
                    sentence:
                        "/event/raw may be read in \"where\" and \"unless\" only, because it is "
                        + "not kept with a run.")
            }
            return .any
        }
        var types: Set<Vocabulary.PropertyType> = []
        var known: Set<String> = ["meta"]
        for name in names {
            guard let properties = events.properties(of: name) else { return .any }
            if let type = properties[property] { types.insert(type) }
            known.formUnion(properties.keys)
        }
        guard let type = types.first else {
            if names.isEmpty { return .any }
            let near = Spelling.nearestWord(to: property, among: known.sorted())
            throw Refusal(
                sentence: "No event read here (\(alternatives(Array(names.prefix(5))))) carries "
                    + "\"\(property)\"; correct the pointer"
                    + (names.contains { events.events[$0] != nil }
                        ? " or declare the property in Workflows/events.json." : "."),
                fix: near.map { JSONPointer(tokens: [root, $0] + rest.dropFirst()).description })
        }
        return types.count > 1 ? .any : try inside(type, rest, root: root)
    }

    /// The type of what lies inside a property.
    private func inside(
        _ type: Vocabulary.PropertyType, _ path: [String], root: String
    ) throws(Refusal) -> StaticType {
        guard path.count > 1 else { return .type(type) }
        switch type {
        case .array, .object: return .any
        case .money where path.count == 2 && path[1] == "amount": return .amount
        case .money where path.count == 2 && path[1] == "currency": return .type(.string)
        case .money, .string, .number, .boolean, .instant:
            let whole = JSONPointer(tokens: [root, path[0]])
            let members = type == .money ? "amount and currency only" : "no members"
            throw Refusal(
                sentence: "\(whole) is \(phrase(type)), which has \(members).",
                fix: type == .money
                    ? Spelling.nearestWord(to: path[1], among: ["amount", "currency"])
                        .map { whole.appending($0).description } : whole.description)
        }
    }

    private func result(_ rest: [String]) throws(Refusal) -> StaticType {
        guard let step = rest.first, !step.isEmpty else {
            throw Refusal(sentence: "/steps needs a step's id, as in /steps/notify/status.")
        }
        guard let tool = tools[StepID(step)] else {
            if stepIDs.contains(step) {
                throw Refusal(
                    sentence: "The step \"\(step)\" has no result; only action steps have one.")
            }
            let near = Spelling.nearestWord(to: step, among: stepIDs)
            throw Refusal(
                sentence: "There is no step \"\(step)\" whose result could be read.",
                fix: near.map { JSONPointer(tokens: ["steps", $0] + rest.dropFirst()).description })
        }
        return try member(
            Array(rest.dropFirst()), Self.results[tool] ?? [:], of: "/steps/\(step)",
            whole: .type(.object))
    }

    /// A member of an object whose members are known.
    private func member(
        _ rest: [String], _ members: [String: StaticType], of whole: String, whole type: StaticType
    ) throws(Refusal) -> StaticType {
        guard let name = rest.first else { return type }
        guard let found = members[name] else {
            if name == "late" { throw Refusal(sentence: notYet("The pointer \(whole)/late")) }
            let names = members.keys.sorted()
            throw Refusal(
                sentence: "\(whole) has no \"\(name)\"; it has \(alternatives(names)).",
                fix: Spelling.nearestWord(to: name, among: names).map { whole + "/" + $0 })
        }
        if rest.count > 1, found != .any {
            throw Refusal(
                sentence: "\(whole)/\(name) has no members.", fix: "\(whole)/\(name)")
        }
        return found
    }
}

/// A type in a reader's words.
func phrase(_ type: Vocabulary.PropertyType) -> String {
    switch type {
    case .string: "a string"
    case .number: "a number"
    case .boolean: "a boolean"
    case .instant: "an instant"
    case .money: "a money"
    case .array: "an array"
    case .object: "an object"
    }
}
