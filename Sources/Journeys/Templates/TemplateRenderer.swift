import JSON

/// One rendering: the text so far, the values whose members names are looked up in, and what has
/// been spent of the limits.
struct TemplateRenderer {
    private let options: Template.Options
    private var output: [UInt8] = []
    /// The scope and then the value of every section around, innermost last.
    private var contexts: [JSONValue]
    private var partials: [String] = []
    private var steps = 0
    /// The tag last visited, for the faults that have no tag of their own.
    private var place = TemplatePlace()

    init(value: JSONValue, options: Template.Options) {
        self.options = options
        contexts = [value]
    }

    var text: String { String(decoding: output, as: UTF8.self) }

    /// - Parameter indentation: Written at every line of the source that leaves text.
    mutating func render(
        _ nodes: [TemplateNode], indentation: [UInt8]
    ) throws(TemplateError) {
        for node in nodes {
            try spend(1)
            switch node {
            case .text(let bytes): try write(bytes)
            case .lineStart: try write(indentation)
            case .variable(let name, let isEscaped): try writeValue(of: name, isEscaped: isEscaped)
            case .section(let name, let isInverted, let body):
                place = name.place
                let value = try lookUp(name)
                if isInverted {
                    if !Self.isTrue(value) { try render(body, indentation: indentation) }
                } else {
                    try renderSection(body, over: value, indentation: indentation)
                }
            case .partial(let name, let tagPlace, let own):
                place = tagPlace
                try renderPartial(name, indentation: own.map { indentation + $0 } ?? [])
            }
        }
    }

    private mutating func renderSection(
        _ body: [TemplateNode], over value: JSONValue?, indentation: [UInt8]
    ) throws(TemplateError) {
        guard let value, Self.isTrue(value) else { return }
        for item in value.array ?? [value] {
            try spend(1)
            contexts.append(item)
            try render(body, indentation: indentation)
            contexts.removeLast()
        }
    }

    private mutating func renderPartial(
        _ name: String, indentation: [UInt8]
    ) throws(TemplateError) {
        guard let partial = options.partials[name] else {
            switch options.missing {
            case .error: throw failure(.partialMissing(name))
            case .empty: return
            }
        }
        guard partials.count < Template.Limits.partialDepth else {
            throw failure(.partialsTooDeep(name))
        }
        let caller = place
        partials.append(name)
        place = TemplatePlace()
        try render(partial.nodes, indentation: indentation)
        partials.removeLast()
        place = caller
    }

    private mutating func writeValue(
        of name: TemplateName, isEscaped: Bool
    ) throws(TemplateError) {
        place = name.place
        switch try lookUp(name) {
        case nil, .null:
            switch options.missing {
            case .error: throw failure(.missing(name.text))
            case .empty: break
            }
        case .bool(let flag): try write((flag ? "true" : "false").utf8)
        case .number(let number): try write(number.literal.utf8)
        case .string(let text): try write(text, isEscaped: isEscaped)
        case .array(let items):
            try writeJSON(.array(items), of: name, isEscaped: isEscaped)
        case .object(let members):
            try writeJSON(.object(members), of: name, isEscaped: isEscaped)
        }
    }

    private mutating func writeJSON(
        _ value: JSONValue, of name: TemplateName, isEscaped: Bool
    ) throws(TemplateError) {
        switch options.missing {
        case .error: throw failure(.notText(name.text, kind: value.kind))
        case .empty: try write(value.text, isEscaped: isEscaped)
        }
    }

    /// The value of a name: its first part from the innermost object that has it, even as `null`,
    /// every further part from the value before only.
    private mutating func lookUp(_ name: TemplateName) throws(TemplateError) -> JSONValue? {
        guard let first = name.parts.first else { return contexts.last }
        var found: JSONValue?
        for context in contexts.reversed() where found == nil {
            found = try member(first, of: context)
        }
        for part in name.parts.dropFirst() {
            guard let value = found else { return nil }
            found = try member(part, of: value)
        }
        return found
    }

    private mutating func member(
        _ key: String, of value: JSONValue
    ) throws(TemplateError) -> JSONValue? {
        guard let object = value.object else {
            try spend(1)
            return nil
        }
        try spend(1 + object.count)
        return object[key]
    }

    private static func isTrue(_ value: JSONValue?) -> Bool {
        switch value {
        case nil, .null: false
        case .bool(let flag): flag
        case .array(let items): !items.isEmpty
        case .number, .string, .object: true
        }
    }

    private mutating func write(_ text: String, isEscaped: Bool) throws(TemplateError) {
        guard isEscaped, options.escaping != .none else { return try write(text.utf8) }
        for byte in text.utf8 {
            if let replacement = options.escaping.replacement(for: byte) {
                output += replacement
            } else {
                output.append(byte)
            }
            try checkOutput()
        }
    }

    private mutating func write(_ bytes: some Collection<UInt8>) throws(TemplateError) {
        output += bytes
        try checkOutput()
    }

    private func checkOutput() throws(TemplateError) {
        guard output.count <= Template.Limits.outputBytes else { throw failure(.outputTooLarge) }
    }

    private mutating func spend(_ count: Int) throws(TemplateError) {
        steps += count
        guard steps <= Template.Limits.steps else { throw failure(.tooMuchWork) }
    }

    private func failure(_ kind: TemplateError.Kind) -> TemplateError {
        TemplateError(kind, at: place, in: partials.last)
    }
}
