package import JSON

/// One thing that is wrong with a configuration, and where.
package struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value it is about; for a missing one, where it belongs.
    package let pointer: JSONPointer
    /// The line of the value (of the object that lacks it), from 1; nil when no text holds it.
    package let line: Int?
    /// The column in characters, from 1; nil when no text holds it.
    package let column: Int?
    /// The fact and the next step, ending in a full stop. Never holds a secret.
    package let sentence: String

    /// For problems that a product finds itself, after reading.
    package init(
        pointer: JSONPointer, line: Int? = nil, column: Int? = nil, sentence: String
    ) {
        self.pointer = pointer
        self.line = line
        self.column = column
        self.sentence = sentence
    }

    /// `/database/pool (line 3, column 14): …`.
    package var description: String {
        let place = pointer.tokens.isEmpty ? "the whole file" : pointer.description
        guard let line, let column else { return "\(place): \(sentence)" }
        return "\(place) (line \(line), column \(column)): \(sentence)"
    }
}

/// A configuration that cannot be used, with everything that is wrong with it.
package struct ConfigurationRejection: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file, or what stood for one.
    package let place: String
    /// In the order of the text; at least one.
    package let problems: [ConfigurationProblem]

    /// For problems that a product finds itself, after reading.
    package init(place: String, problems: [ConfigurationProblem]) {
        self.place = place
        self.problems = problems
    }

    /// One line a problem, each after the place.
    package var description: String {
        problems.map { "\(place): \($0)" }.joined(separator: "\n")
    }
}
