package import JSON

/// A Mustache template, compiled once and rendered over any number of JSON scopes.
///
/// The language is Mustache's mandatory core: variables, dotted names, the implicit iterator,
/// sections, inverted sections, partials, comments, set delimiters and the standalone-line rules.
/// Lambdas, inheritance, dynamic partial names and formatters are refused when compiled.
///
/// What the core leaves open is settled so:
/// - A number prints its literal, a boolean `true` or `false`, a string its characters.
/// - `null`, missing, `false` and the empty array are false; every other value is true, `0` and the
///   empty string included, because they are something the provider said.
/// - An array or object as a variable is refused with ``Missing/error`` (nobody wants to send JSON
///   to a customer) and printed as compact JSON with ``Missing/empty``.
/// - Blank lines of a partial take no indentation.
package struct Template: Sendable {
    /// The limits of one template and one rendering; passing one is an error, never a cut.
    package enum Limits {
        /// The UTF-8 bytes of one template's source.
        package static let sourceBytes = 256 * 1024
        /// Sections open at once in one template.
        package static let sectionDepth = 32
        /// Partials open at once in one rendering.
        package static let partialDepth = 16
        /// The UTF-8 bytes of one rendering's text.
        package static let outputBytes = 1024 * 1024
        /// Nodes visited and members compared by one rendering. Nested lists and chained partials
        /// can ask for endless work without writing a byte, so depth and output are not enough.
        package static let steps = 1_000_000
        /// The UTF-8 bytes of one delimiter.
        package static let delimiterBytes = 16
    }

    /// The text it was compiled from.
    package let source: String
    /// Every name read, in the order of the source, repetitions included.
    package let reads: [TemplateReference]
    /// The partials named, in the order of first mention, each once.
    package let partialNames: [String]

    let nodes: [TemplateNode]

    /// Compiles the source.
    ///
    /// - Throws: A ``TemplateError`` with the place of the first fault.
    package init(_ source: String) throws(TemplateError) {
        var parser = try TemplateParser(source)
        try parser.parse()
        self.source = source
        nodes = parser.nodes
        reads = parser.references
        partialNames = parser.partialNames
    }

    /// The names read, as written, in the order of first mention, each once; `.` is not among them.
    ///
    /// A name inside a section may be found in the section's own value first: see ``reads`` for the
    /// sections around each name. Names that partials read are not included.
    package var references: [String] {
        var seen: Set<[UInt8]> = []
        return reads.map(\.name).filter { $0 != "." && seen.insert(Array($0.utf8)).inserted }
    }

    /// Renders over the members of a scope.
    ///
    /// - Throws: A ``TemplateError`` with the place of the tag that could not be rendered; nothing
    ///   of the text is returned then.
    package func render(
        scope: JSONObject, options: Options
    ) throws(TemplateError) -> String {
        try render(value: .object(scope), options: options)
    }

    /// Renders over any value; `{{.}}` at the top is the value itself.
    ///
    /// - Throws: As ``render(scope:options:)``.
    package func render(
        value: JSONValue, options: Options
    ) throws(TemplateError) -> String {
        var renderer = TemplateRenderer(value: value, options: options)
        try renderer.render(nodes, indentation: [])
        return renderer.text
    }
}

extension Template: Hashable {
    /// Equal when compiled from the same bytes; all else follows from them.
    package static func == (left: Template, right: Template) -> Bool {
        left.source.hasSameBytes(as: right.source)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(source) }
}
