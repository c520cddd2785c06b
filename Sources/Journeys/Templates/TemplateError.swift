/// Why a template could not be compiled or rendered, and where.
///
/// It quotes names of the template, never values of the scope.
package struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The fault. The first group is found when compiled, the second when rendered.
    package enum Kind: Sendable, Hashable {
        case sourceTooLarge(bytes: Int)
        case tagNotClosed
        case emptyName
        case malformedName(String)
        case malformedDelimiters(String)
        case formatterNotSupported(String)
        case inheritanceNotSupported
        case dynamicPartialNotSupported(String)
        case sectionNotClosed(String)
        case sectionNotOpen(String)
        case sectionClosedByOther(open: String, closing: String)
        case sectionsTooDeep

        case missing(String)
        /// `kind` is the value's kind in a reader's words: `an array`.
        case notText(String, kind: String)
        case partialMissing(String)
        case partialsTooDeep(String)
        case outputTooLarge
        case tooMuchWork
    }

    /// The fault.
    package let kind: Kind
    /// The partial in which it lies; nil for the template itself.
    package let partial: String?
    /// The line, from 1.
    package let line: Int
    /// The column in Unicode scalars, from 1.
    package let column: Int

    init(_ kind: Kind, at place: TemplatePlace, in partial: String? = nil) {
        self.kind = kind
        self.partial = partial
        line = place.line
        column = place.column
    }

    /// One sentence with the fact, the place and the next step.
    package var description: String {
        "\(fact) at line \(line), column \(column)\(partial.map { " of partial \(quoted($0))" } ?? ""); "
            + "\(advice)."
    }

    private var fact: String {
        switch kind {
        case .sourceTooLarge(let bytes): "the template holds \(bytes) bytes"
        case .tagNotClosed: "a tag is not closed"
        case .emptyName: "a tag holds no name"
        case .malformedName(let name): "\(quoted(name)) is not a name"
        case .malformedDelimiters(let text): "\(quoted(text)) does not set delimiters"
        case .formatterNotSupported(let name): "\(quoted(name)) is followed by a formatter"
        case .inheritanceNotSupported: "a tag opens a parent template"
        case .dynamicPartialNotSupported(let name): "partial \(quoted(name)) is named by a value"
        case .sectionNotClosed(let name): "section \(quoted(name)) is not closed"
        case .sectionNotOpen(let name): "\(quoted(name)) is closed but not open"
        case .sectionClosedByOther(let open, let closing):
            "section \(quoted(open)) is closed by \(quoted(closing))"
        case .sectionsTooDeep: "a section is nested too deep"
        case .missing(let name): "\(quoted(name)) has no value"
        case .notText(let name, let kind): "\(quoted(name)) is \(kind)"
        case .partialMissing(let name): "partial \(quoted(name)) is not known"
        case .partialsTooDeep(let name): "partial \(quoted(name)) is nested too deep"
        case .outputTooLarge: "the text grows too long"
        case .tooMuchWork: "the template asks for too much work"
        }
    }

    private var advice: String {
        switch kind {
        case .sourceTooLarge: "keep it within \(Template.Limits.sourceBytes) bytes"
        case .tagNotClosed: "end it with the closing delimiter in force"
        case .emptyName: "write one, like {{customer.first_name}}"
        case .malformedName:
            "use parts joined by single dots, without spaces, quotes or Mustache's signs"
        case .malformedDelimiters:
            "write two, like {{=<% %>=}}, of at most \(Template.Limits.delimiterBytes) bytes each, "
                + "without = or spaces"
        case .formatterNotSupported:
            "formatters are not supported yet, so give a fallback with {{^name}}…{{/name}}"
        case .inheritanceNotSupported: "inheritance is not supported, so use a partial: {{>name}}"
        case .dynamicPartialNotSupported: "write the partial's own name"
        case .sectionNotClosed(let name): "add {{/\(name.prefix(80))}}"
        case .sectionNotOpen: "remove the closing tag or open the section before it"
        case .sectionClosedByOther: "close the inner section first"
        case .sectionsTooDeep: "keep within \(Template.Limits.sectionDepth) open sections"
        case .missing: "send it, or give a fallback with {{^name}}…{{/name}}"
        case .notText: "print one of its members, or repeat it with a section"
        case .partialMissing: "add it to the workflow's partials or correct the name"
        case .partialsTooDeep:
            "keep within \(Template.Limits.partialDepth) open partials, and let recursion end"
        case .outputTooLarge: "keep within \(Template.Limits.outputBytes) bytes"
        case .tooMuchWork: "shorten its lists, or nest fewer sections and partials"
        }
    }

    /// A name of the template in quotes, cut so that a sentence stays one.
    private func quoted(_ text: String) -> String {
        text.count > 80 ? "\"\(text.prefix(80))…\"" : "\"\(text)\""
    }
}
