package import JSON

/// Something wrong (or doubtful) in a definition, with its place and where possible the fix.
package struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
    /// Whether the definition can be published all the same.
    package enum Severity: String, Sendable, Hashable {
        case error, warning
    }

    package var severity: Severity
    package var code: Code
    /// The file's name as the caller gave it.
    package var file: String
    /// From 1.
    package var line: Int
    /// From 1, in characters.
    package var column: Int
    package var pointer: JSONPointer
    /// One sentence with the fact and the next step.
    package var sentence: String
    /// What to write instead, such as `on_timeout`.
    package var fix: String?

    package init(
        severity: Severity = .error, code: Code, file: String, line: Int, column: Int,
        pointer: JSONPointer,
        sentence: String, fix: String? = nil
    ) {
        self.severity = severity
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.pointer = pointer
        self.sentence = sentence
        self.fix = fix
    }

    /// `file:line:column: error: sentence (at /pointer)`.
    package var description: String {
        let place = pointer.tokens.isEmpty ? "" : " (at \(pointer))"
        let hint = fix.map { " Did you mean \"\($0)\"?" } ?? ""
        return "\(file):\(line):\(column): \(severity.rawValue): \(sentence)\(hint)\(place)"
    }
}
