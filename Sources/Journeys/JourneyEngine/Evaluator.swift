package import JSON
internal import Templates
package import TimeZones
package import WorkflowDefinitions

/// Resolves values and conditions over one scope, and keeps what was read of the facts (S19).
package struct Evaluator: Sendable {
    package let scope: Scope
    /// Facts that were read, in order: pointers under `/customer` with their value, nil for missing.
    package private(set) var reads: [(pointer: JSONPointer, value: JSONValue?)] = []

    /// Whether templates are rendered into a URL: values then stay within their part of it.
    private var writesURL = false
    /// Why the last template that could not be rendered could not.
    private var templateProblem: String?

    package init(scope: Scope) { self.scope = scope }

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
                noteTemplateReads(template)
                let text = try template.render(
                    scope: scope.object,
                    options: Template.Options(escaping: writesURL ? .url : .none))
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

    private mutating func read(_ pointer: JSONPointer) -> JSONValue? {
        let value = scope.value(at: pointer)
        note(pointer, value)
        return value
    }

    private mutating func note(_ pointer: JSONPointer, _ value: JSONValue?) {
        guard pointer.tokens.first == "customer",
            !reads.contains(where: { $0.pointer == pointer })
        else { return }
        reads.append((pointer, value))
    }

    private mutating func noteTemplateReads(_ template: Template) {
        for name in template.references {
            let pointer = JSONPointer(tokens: name.split(separator: ".").map(String.init))
            note(pointer, scope.value(at: pointer))
        }
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
