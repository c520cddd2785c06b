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
    /// Nil when no event starts a run, so that there is no `/trigger`.
    let trigger: [String]?
    /// Whether a run has one subscription that `/subscription` is.
    let watchesSubscription: Bool
    /// By step, the events one of which is bound there.
    let bound: [StepID: Set<String>]
    let tools: [StepID: ActionStep.Tool]
    let stepIDs: [String]
    /// Whether every step could be read, so that it is known which events are bound where.
    let knowsEveryStep: Bool

    static let roots = [
        "event", "trigger", "customer", "subscription", "features", "steps", "run", "now",
    ]
    private static let subscription: [String: StaticType] = [
        "status": .type(.string), "product_id": .type(.string),
        "pending_product_id": .type(.string), "period_type": .type(.string),
        "expires_at": .type(.instant), "grace_period_expires_at": .type(.instant),
        "will_renew": .type(.boolean), "pauses_at": .type(.instant),
        "refunded_at": .type(.instant), "store": .type(.string), "price": .type(.money),
    ]
    private static let feature: [String: StaticType] = [
        "allowed": .type(.boolean), "unlimited": .type(.boolean), "balance": .type(.number),
        "type": .type(.string),
    ]
    private static let meta: [String: StaticType] = [
        "id": .type(.string), "name": .type(.string), "provider_type": .type(.string),
        "connector": .type(.string), "app": .type(.string), "trust": .type(.string),
        "late": .type(.boolean),
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
        .slack: [
            "status": .type(.number), "suppressed": .type(.string), "error": .type(.string),
        ],
        .log: ["suppressed": .type(.string), "error": .type(.string)],
    ]

    func type(
        of pointer: JSONPointer, for claim: DefinitionReader.PlacedClaim
    ) throws(Refusal) -> StaticType {
        let scope = claim.scope
        let root = pointer.tokens.first ?? ""
        let rest = Array(pointer.tokens.dropFirst())
        if !scope.hasRun, ["trigger", "steps", "run"].contains(root) {
            throw Refusal(sentence: sentence(withoutRun: root, in: scope))
        }
        switch root {
        case "event":
            guard let names = names(in: scope) else {
                throw Refusal(sentence: sentence(withoutEventIn: scope))
            }
            return try event(rest, names, root: root, scope: scope)
        case "trigger":
            guard let trigger else {
                throw Refusal(
                    sentence:
                        "No event starts this workflow, so there is no /trigger; read /customer."
                )
            }
            return try event(rest, trigger, root: root, scope: scope)
        case "subscription":
            guard watchesSubscription || claim.asksEverySubscription else {
                throw Refusal(
                    sentence:
                        "There is no one subscription here; ask for any of the customer's with "
                        + "{\"subscription\": condition}.")
            }
            return try member(
                rest, Self.subscription, of: "/subscription", whole: .type(.object))
        case "features":
            guard let id = rest.first, !id.isEmpty else {
                throw Refusal(
                    sentence: "/features needs a feature's id, as in /features/pro/allowed.")
            }
            return try member(
                Array(rest.dropFirst()), Self.feature, of: "/features/\(id)",
                whole: .type(.object))
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
        default:
            throw Refusal(
                sentence: "\"\(pointer)\" names nothing; begin with "
                    + "\(alternatives(Self.roots.map { "/" + $0 })).",
                fix: Spelling.nearestWord(to: root, among: Self.roots)
                    .map { JSONPointer(tokens: [$0] + rest).description })
        }
    }

    /// The events that `/event` may be; nil when it is none.
    private func names(in scope: Scope) -> [String]? {
        let names: [String]
        switch scope {
        case .eventUnderTest(let tested, _): return tested
        case .entryWithoutEvent, .segment: return nil
        case .step(let id): names = (bound[id] ?? []).sorted()
        case .anywhere:
            names = bound.values.reduce(into: Set(trigger ?? [])) { $0.formUnion($1) }.sorted()
        }
        return names.isEmpty && trigger == nil && knowsEveryStep ? nil : names
    }

    private func sentence(withoutEventIn scope: Scope) -> String {
        switch scope {
        case .segment:
            "A segment is judged without an event, so there is no /event; read /customer."
        case .entryWithoutEvent:
            "No event starts this workflow, so there is no /event; read /customer."
        case .eventUnderTest, .step, .anywhere:
            "No event starts this workflow and none is bound here, so there is no /event; read "
                + "/customer, or wait for an event first."
        }
    }

    private func sentence(withoutRun root: String, in scope: Scope) -> String {
        switch scope {
        case .segment:
            "A segment is judged without a run, so there is no /\(root); read /customer."
        case .entryWithoutEvent:
            "No run exists yet where an entry is judged, so there is no /\(root); read /customer."
        case .eventUnderTest, .step, .anywhere:
            "No run exists yet where an entry is judged, so there is no /\(root); read /event."
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
        return types.count > 1 ? .any : try inside(type, rest, in: "/" + root)
    }

    /// The type of what lies inside a property.
    private func inside(
        _ type: Vocabulary.PropertyType, _ path: [String], in base: String
    ) throws(Refusal) -> StaticType {
        guard path.count > 1 else { return .type(type) }
        switch type {
        case .array, .object: return .any
        case .money where path.count == 2 && path[1] == "amount": return .amount
        case .money where path.count == 2 && path[1] == "currency": return .type(.string)
        case .money, .string, .number, .boolean, .instant:
            let whole = base + JSONPointer(tokens: [path[0]]).description
            let members = type == .money ? "amount and currency only" : "no members"
            throw Refusal(
                sentence: "\(whole) is \(phrase(type)), which has \(members).",
                fix: type == .money
                    ? Spelling.nearestWord(to: path[1], among: ["amount", "currency"])
                        .map { whole + "/" + $0 } : whole)
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
            let names = members.keys.sorted()
            throw Refusal(
                sentence: "\(whole) has no \"\(name)\"; it has \(alternatives(names)).",
                fix: Spelling.nearestWord(to: name, among: names).map { whole + "/" + $0 })
        }
        if case .type(.money) = found { return try inside(.money, rest, in: whole) }
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
