internal import JSON
internal import JourneyModel
internal import Templates
internal import TimeZones

/// Reads a definition's JSON into its types and goes on after every problem, so that one reading
/// finds all of them.
///
/// What can only be judged when all steps are known (edges, pointers, operand types) is noted while
/// reading and judged afterwards.
struct DefinitionReader {
    /// Which event `/event` is, and what else may be read, at the place being read.
    enum Scope: Hashable {
        /// A `where` or `unless`: the event under test. No run exists yet in an entry's.
        case eventUnderTest(names: [String], isEntry: Bool)
        /// An entry that no event starts: there is no event, and no run yet.
        case entryWithoutEvent
        /// A segment's condition: there is neither an event nor a run.
        case segment
        /// A part of a step: the event last bound on the way to it.
        case step(StepID)
        /// An exit's `if`: whatever was bound last.
        case anywhere

        /// Whether `/trigger`, `/steps` and `/run` exist.
        var hasRun: Bool {
            switch self {
            case .eventUnderTest(_, let isEntry): !isEntry
            case .entryWithoutEvent, .segment: false
            case .step, .anywhere: true
            }
        }
    }

    /// Something to be judged once all is read.
    enum Claim {
        case reference(JSONPointer, at: JSONPointer)
        case comparison(Condition.Comparison, Value, Value, at: JSONPointer)
        case membership(Value, Value, at: JSONPointer)
        case containment(Value, Value, at: JSONPointer)
        case text(Value, at: JSONPointer)
        case instant(Value, at: JSONPointer)
        /// A value for a property whose type is declared.
        case property(Value, Vocabulary.PropertyType, at: JSONPointer)
    }

    /// A claim with what may be read where it stands.
    struct PlacedClaim {
        var claim: Claim
        var scope: Scope
        /// Inside a `subscription` condition.
        var asksEverySubscription: Bool
    }

    /// One outlet of a step as it stands in the file.
    struct WrittenEdge {
        var from: StepID
        var to: Edge
        var pointer: JSONPointer
        /// The literal time that passes before it is taken.
        var length: Duration = .zero
        /// The events one of which is bound when it is taken; nil when none is.
        var binds: [String]?
    }

    /// Nesting bound of literals and of `with`.
    static let longestNesting = 32

    /// Nil when a stored form is read: names were checked when it was published.
    let context: DefinitionContext?
    var problems = Problems()
    var scope = Scope.anywhere
    var asksEverySubscription = false
    var isInsideHistory = false
    var claims: [PlacedClaim] = []
    var edges: [WrittenEdge] = []
    /// References to steps other than edges, with their places.
    var namedSteps: [(id: StepID, pointer: JSONPointer)] = []
    /// Tools of the action steps read so far.
    var actionTools: [StepID: ActionStep.Tool] = [:]
    /// Delays of at least a minute, which may stand in a cycle.
    var pacingSteps: Set<StepID> = []
    /// Whether a step was so wrong that its edges are not known.
    var hasUnreadStep = false
    /// What `send` gives every action that does not say otherwise.
    var defaults = SendDefaults()
    var partials: [String: Template] = [:]
    var usedPartials: Set<String> = []
    /// Names of milestone steps, and the goal's with its place.
    var milestones: Set<String> = []
    var namedMilestone: (id: String, pointer: JSONPointer)?
    /// Experiments that steps use, as the context or a stored form has them.
    var experiments: [ExperimentID: ExperimentDefinition] = [:]

    init(context: DefinitionContext?) { self.context = context }

    var events: EventDeclarations? { context?.events }
}

/// The members of an object whose keys were checked.
struct Fields {
    let node: Node
    private let object: JSONObject
    /// Keys that an unknown one was taken for: nobody is told that these are missing.
    fileprivate let misspelt: Set<String>

    init(node: Node, object: JSONObject, misspelt: Set<String> = []) {
        self.node = node
        self.object = object
        self.misspelt = misspelt
    }

    subscript(key: String) -> Node? {
        object[key].map { Node(value: $0, pointer: node.pointer.appending(key)) }
    }
}

// Reading the plain kinds.
extension DefinitionReader {
    mutating func complain(
        _ node: Node, _ sentence: String, _ code: Diagnostic.Code = .form, fix: String? = nil
    ) {
        problems.add(node.pointer, sentence, code: code, fix: fix)
    }

    /// The members of an object that may hold `keys` only.
    ///
    /// - Parameters:
    ///   - what: the object in a reader's words, such as `a delay step`.
    ///   - later: keys of the language that this version does not support yet.
    ///   - refused: keys refused on purpose, with the sentence that says why.
    mutating func fields(
        _ node: Node, _ what: String, keys: [String], later: [String] = [],
        refused: [String: String] = [:]
    ) -> Fields? {
        guard let object = node.value.object else {
            complain(node, "\(capitalised(what)) is an object, not \(node.value.kind).")
            return nil
        }
        var misspelt: Set<String> = []
        for key in object.keys where !keys.contains(key) {
            let place = node.pointer.appending(key)
            if later.contains(key) {
                problems.add(
                    place, notYet("The key \"\(key)\" of \(what)"), code: .notSupported)
            } else if let reason = refused[key] {
                problems.add(place, reason, code: .refused)
            } else {
                let near = Spelling.nearestWord(to: key, among: keys)
                if let near { misspelt.insert(near) }
                problems.add(
                    place,
                    "The key \"\(key)\" is not one of \(what); use \(alternatives(keys)).",
                    code: .unknownKey, fix: near)
            }
        }
        return Fields(node: node, object: object, misspelt: misspelt)
    }

    /// A member that must be there.
    mutating func required(_ key: String, in fields: Fields, _ what: String) -> Node? {
        if let node = fields[key] { return node }
        if !fields.misspelt.contains(key) {
            complain(fields.node, "\(capitalised(what)) needs \"\(key)\"; add it.", .missingKey)
        }
        return nil
    }

    mutating func string(_ node: Node, _ what: String, longest: Int = 10_000) -> String? {
        guard let text = node.value.string else {
            complain(node, "\(capitalised(what)) is a string, not \(node.value.kind).")
            return nil
        }
        guard !text.isEmpty else {
            complain(node, "\(capitalised(what)) is empty; write it or leave the key out.")
            return nil
        }
        guard text.utf8.count <= longest else {
            complain(
                node,
                "\(capitalised(what)) has \(text.utf8.count) bytes; at most \(longest) are read.",
                .size)
            return nil
        }
        return text
    }

    mutating func boolean(_ node: Node, _ what: String) -> Bool? {
        if let flag = node.value.bool { return flag }
        complain(node, "\(capitalised(what)) is true or false, not \(node.value.kind).")
        return nil
    }

    mutating func integer(_ node: Node, _ what: String, _ range: ClosedRange<Int64>) -> Int? {
        guard let value = node.value.integer, range.contains(value) else {
            complain(
                node,
                "\(capitalised(what)) is a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound).")
            return nil
        }
        return Int(value)
    }

    mutating func duration(
        _ node: Node, _ what: String, _ range: ClosedRange<Duration>
    ) -> Duration? {
        guard let text = node.value.string else {
            complain(
                node,
                "\(capitalised(what)) is a duration such as \"PT30S\", not \(node.value.kind).")
            return nil
        }
        return duration(text, node, what, range)
    }

    mutating func duration(
        _ text: String, _ node: Node, _ what: String, _ range: ClosedRange<Duration>
    ) -> Duration? {
        do throws(ISODurationError) {
            let duration = try ISODuration.parse(text)
            if range.contains(duration) { return duration }
            complain(
                node,
                "\(capitalised(what)) is from \(range.lowerBound.iso8601) to "
                    + "\(range.upperBound.iso8601), not \(text).", .duration)
        } catch {
            complain(
                node, error.description, error.reason.hasPrefix("is longer") ? .duration : .form)
        }
        return nil
    }

    /// One word of a closed list.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ node: Node, _ what: String, _ type: Word.Type, later: [String] = []
    ) -> Word? where Word.RawValue == String {
        let words = type.allCases.map(\.rawValue).filter { !later.contains($0) }
        guard let text = node.value.string else {
            complain(
                node, "\(capitalised(what)) is \(alternatives(words)), not \(node.value.kind).")
            return nil
        }
        if later.contains(text) {
            complain(node, notYet("The word \"\(text)\" of \(what)"))
            return nil
        }
        if let word = Word(rawValue: text) { return word }
        complain(
            node, "\(capitalised(what)) is \(alternatives(words)), not \"\(text)\".",
            fix: Spelling.nearestWord(to: text, among: words))
        return nil
    }

    /// An array of one to `most` parts.
    mutating func items(_ node: Node, _ what: String, most: Int = 100) -> [Node]? {
        guard let items = node.items else {
            complain(node, "\(capitalised(what)) is an array, not \(node.value.kind).")
            return nil
        }
        guard (1...most).contains(items.count) else {
            complain(
                node,
                items.isEmpty
                    ? "\(capitalised(what)) is empty; add an entry or leave the key out."
                    : "\(capitalised(what)) has \(items.count) entries; at most \(most) are read.")
            return nil
        }
        return items
    }

    /// An array of distinct names, each of a pattern.
    mutating func names(
        _ node: Node, _ what: String, pattern: String, where isName: (String) -> Bool
    ) -> [String]? {
        guard let items = items(node, what) else { return nil }
        var names: [String] = []
        for item in items {
            guard let name = item.value.string, isName(name) else {
                complain(item, "Each entry of \(what) is a name like \(pattern).")
                continue
            }
            if names.contains(name) {
                complain(item, "The name \"\(name)\" stands twice; leave one out.")
            } else {
                names.append(name)
            }
        }
        return names
    }
}

func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

/// The sentence for what the language has and this version has not.
func notYet(_ what: String) -> String {
    "\(what) is not supported by this version yet; leave it out."
}
