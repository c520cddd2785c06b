internal import JSON

/// A part of a definition's JSON with its place.
struct Node {
    let value: JSONValue
    let pointer: JSONPointer

    /// The items of an array with their places; nil for another kind.
    var items: [Node]? {
        value.array.map { items in
            items.enumerated().map {
                Node(value: $0.element, pointer: pointer.appending($0.offset))
            }
        }
    }
}

/// What is wrong with a definition so far, by pointer; lines and columns come at the end.
struct Problems {
    struct Problem {
        var severity: Diagnostic.Severity
        var code: Diagnostic.Code
        var pointer: JSONPointer
        /// Overrides the pointer's place, for what the JSON parser found.
        var offset: Int?
        var sentence: String
        var fix: String?
    }

    /// More than this many of one file are counted, not listed: a file of noise stays readable.
    static let listed = 200

    private(set) var found: [Problem] = []

    var hasErrors: Bool { found.contains { $0.severity == .error } }

    /// Whether a mistake was found inside a part.
    func hasErrors(under pointer: JSONPointer) -> Bool {
        found.contains {
            $0.severity == .error && $0.pointer.tokens.starts(with: pointer.tokens)
        }
    }

    mutating func add(
        _ pointer: JSONPointer, _ sentence: String, code: Diagnostic.Code, fix: String? = nil,
        offset: Int? = nil, severity: Diagnostic.Severity = .error
    ) {
        found.append(
            Problem(
                severity: severity, code: code, pointer: pointer, offset: offset,
                sentence: sentence, fix: fix))
    }

    /// The diagnostics in the order of the file.
    func diagnostics(
        file: String, bytes: [UInt8], offsets: [JSONPointer: Int]
    ) -> [Diagnostic] {
        let placed = found.map { (problem: $0, offset: $0.offset ?? place($0.pointer, offsets)) }
        let ordered = placed.enumerated().sorted {
            ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset)
        }
        var listed: [Diagnostic] = ordered.prefix(Self.listed).map { entry in
            let problem = entry.element.problem
            let (line, column) = lineAndColumn(ofByte: entry.element.offset, in: bytes)
            return Diagnostic(
                severity: problem.severity, code: problem.code, file: file, line: line,
                column: column, pointer: problem.pointer, sentence: problem.sentence,
                fix: problem.fix)
        }
        if ordered.count > Self.listed, let last = listed.last {
            listed.append(
                Diagnostic(
                    code: .size, file: file, line: last.line, column: last.column,
                    pointer: JSONPointer(),
                    sentence: "\(ordered.count - Self.listed) more problems follow; "
                        + "mend these first."))
        }
        return listed
    }

    /// The place of the nearest part that stands in the text.
    private func place(_ pointer: JSONPointer, _ offsets: [JSONPointer: Int]) -> Int {
        var pointer = pointer
        while true {
            if let offset = offsets[pointer] { return offset }
            if pointer.tokens.isEmpty { return 0 }
            pointer.tokens.removeLast()
        }
    }
}

/// A list for a sentence: `a, b or c`.
func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}
