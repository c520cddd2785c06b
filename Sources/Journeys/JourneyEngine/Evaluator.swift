package import JSON
internal import Templates
package import TimeZones
package import WorkflowDefinitions

/// Resolves values and conditions over one scope, and keeps what was read of the facts (S19).
package struct Evaluator: Sendable {
    package let scope: Scope
    /// What questions are asked of; without facts every one of them is unknown.
    let facts: Facts?
    /// Facts that were read, in order.
    package internal(set) var reads = Reads()

    /// The run's trigger, for questions that look back to it; nil outside a run.
    struct RunStart {
        var ordinal: Int64
        var recordedAt: Instant
        var hidden: [ClosedRange<Int64>] = []
    }

    var runStart: RunStart?
    /// The workflow's templates by name.
    package var partials: [String: String] = [:]
    /// Set where an event is asked about again after its delivery: the provider's object is not at hand.
    var hasNoRaw = false
    /// Set while each subscription is asked in turn: its state is recorded as a whole.
    var asksEachSubscription = false

    /// Whether templates are rendered into a URL: values then stay within their part of it.
    private var writesURL = false
    /// Why the last template that could not be rendered could not.
    private var templateProblem: String?

    package init(scope: Scope, facts: Facts? = nil) {
        self.scope = scope
        self.facts = facts
    }

    /// A value with how it hangs on the clock.
    struct Operand {
        var json: JSONValue?
        /// Set when the value is `/now` moved by so much; its truth changes as time passes.
        var fromNow: Duration?
    }

    // MARK: Values

    /// The value, or nil when it is missing or cannot be formed.
    package mutating func resolve(_ value: Value) -> JSONValue? { operand(value).json }

    /// The value as an instant; nil when missing or not RFC 3339.
    package mutating func instant(_ value: Value) -> Instant? {
        resolve(value)?.string.flatMap { Instant($0) }
    }

    mutating func operand(_ value: Value) -> Operand {
        switch value {
        case .literal(let json): return Operand(json: json)
        case .reference(let pointer, let fallback):
            let found = read(pointer)
            if let fallback, found == nil || found?.isNull == true { return operand(fallback) }
            return Operand(json: found, fromNow: pointer.tokens == ["now"] ? .zero : nil)
        case .template(let source):
            do throws(TemplateError) {
                let template = try Template(source)
                let partials = try readPartials(of: template)
                let text = try template.render(
                    scope: scope.object,
                    options: Template.Options(
                        escaping: writesURL ? .url : .none, partials: partials))
                return Operand(json: .string(text))
            } catch {
                templateProblem = error.description
                return Operand(json: nil)
            }
        case .time(let base, let moved):
            let inner = operand(base)
            guard let instant = inner.json?.string.flatMap({ Instant($0) }) else {
                return Operand(json: nil)
            }
            return Operand(
                json: .string((instant + moved).description),
                fromNow: inner.fromNow.map { $0 + moved })
        }
    }

    /// Roots whose values the history holds beside the run and its inputs.
    static let recordedRoots: Set<String> = ["customer", "subscription", "features"]

    mutating func read(_ pointer: JSONPointer) -> JSONValue? {
        if pointer.isRaw { return hasNoRaw ? nil : readRaw(pointer) }
        guard let root = pointer.tokens.first, Self.recordedRoots.contains(root),
            !(asksEachSubscription && root == "subscription")
        else { return scope.value(at: pointer) }
        let value = scope.value(at: pointer)
        if let recorded = facts?.recorded, !recorded.holds(pointer) {
            reads.noteUnrecorded(.string(pointer.description))
        }
        reads.note(pointer, value)
        return value
    }

    /// The provider's object is not stored with runs: what was read of it is a question about the event.
    private mutating func readRaw(_ pointer: JSONPointer) -> JSONValue? {
        let id = scope.event?["meta"]?["id"] ?? .null
        let found = scope.value(at: pointer)
        let answer = ask(["raw": .string(pointer.description), "event": id]) { _ in
            found.map { ["value": $0] } ?? .absentMark
        }
        return answer?["value"]
    }

    /// Asks something of the facts and keeps the answer; nil when a recorded decision lacks it, or when
    /// there are no facts to ask.
    mutating func ask(_ question: JSONValue, _ answer: (Facts) -> JSONValue) -> JSONValue? {
        guard let facts else { return nil }
        let found: JSONValue
        if let recorded = facts.recorded {
            guard let known = recorded.answers[RecordedReads.key(question)] else {
                reads.noteUnrecorded(question)
                return nil
            }
            found = known
        } else {
            found = answer(facts)
        }
        reads.note(question, answer: found)
        return found
    }

    /// Notes what a template and its partials read, and gives the partials, compiled.
    private mutating func readPartials(
        of template: Template
    ) throws(TemplateError) -> [String: Template] {
        var known: [String: Template] = [:]
        var ahead = [template]
        while let next = ahead.popLast() {
            for name in next.references {
                _ = read(JSONPointer(tokens: name.split(separator: ".").map(String.init)))
            }
            for name in next.partialNames where known[name] == nil {
                guard let source = partials[name] else { continue }
                let partial = try Template(source)
                known[name] = partial
                ahead.append(partial)
            }
        }
        return known
    }

    /// Builds an action's `with`. Its `url` and `path` are built as URLs.
    ///
    /// - Throws: ``MissingValue`` for the first part whose value is missing: a half-filled request is
    ///   never sent.
    package mutating func buildParameters(
        _ tree: ValueTree
    ) throws(MissingValue) -> JSONObject {
        guard case .object(let members) = tree else {
            return try build(tree).object ?? JSONObject()
        }
        var built = JSONObject()
        for member in members {
            writesURL = member.key == "url" || member.key == "path"
            defer { writesURL = false }
            built[member.key] = try build(member.tree)
        }
        return built
    }

    private mutating func build(_ tree: ValueTree) throws(MissingValue) -> JSONValue {
        switch tree {
        case .value(let value):
            templateProblem = nil
            guard let json = resolve(value) else {
                throw MissingValue(value: value, reason: templateProblem)
            }
            return json
        case .array(let items):
            var built: [JSONValue] = []
            for item in items { built.append(try build(item)) }
            return .array(built)
        case .object(let members):
            var built = JSONObject()
            for member in members { built[member.key] = try build(member.tree) }
            return .object(built)
        }
    }
}

/// A value that an action needs and the scope does not have.
package struct MissingValue: Error, Sendable, Hashable, CustomStringConvertible {
    package let value: Value
    /// What the template that could not be rendered says.
    package var reason: String?

    package var description: String {
        if let reason { return reason }
        return fact
    }

    private var fact: String {
        switch value {
        case .reference(let pointer, _): "nothing stands at \(pointer)"
        case .template(let source): "the template \"\(source.prefix(60))\" names a missing value"
        case .time: "the instant to move is missing"
        case .literal: "a literal is missing"
        }
    }
}

extension JSONPointer {
    /// Whether it reads the provider's own object.
    var isRaw: Bool {
        tokens.first == "event" && tokens.dropFirst().first == "raw"
    }
}
