internal import JSON

// Parts of a definition by themselves, for trying them out. Without a workflow around them nothing
// says which events, steps and property types they may read, so only the first word of a pointer is judged.
extension WorkflowParser {
    /// Reads a file that holds one condition.
    ///
    /// - Returns: the condition, nil exactly when a diagnostic is an error.
    package static func readCondition(
        _ bytes: [UInt8], file: String
    ) -> (Condition?, [Diagnostic]) {
        read(bytes, file: file) { reader, node in reader.condition(node) }
    }

    /// Reads a file that holds one value: a literal, or an object of one of the forms.
    ///
    /// - Returns: the value, nil exactly when a diagnostic is an error.
    package static func readValue(_ bytes: [UInt8], file: String) -> (Value?, [Diagnostic]) {
        read(bytes, file: file) { reader, node in reader.value(node) }
    }

    private static func read<Part>(
        _ bytes: [UInt8], file: String, _ part: (inout DefinitionReader, Node) -> Part?
    ) -> (Part?, [Diagnostic]) {
        let source = DefinitionSource(bytes, file: file)
        var reader = DefinitionReader(context: nil)
        reader.problems = source.problems
        let read = source.root.flatMap { part(&reader, $0) }
        let roots = ScopeMap.roots
        for placed in reader.claims {
            guard case .reference(let pointer, let place) = placed.claim else { continue }
            let root = pointer.tokens.first ?? ""
            if roots.contains(root) { continue }
            let fix = Spelling.nearestWord(to: root, among: roots)
            reader.problems.add(
                place,
                "\"\(pointer)\" names nothing; begin with "
                    + "\(alternatives(roots.map { "/" + $0 })).", code: .pointer,
                fix: fix.map { JSONPointer(tokens: [$0] + pointer.tokens.dropFirst()).description })
        }
        let isUsable = !reader.problems.hasErrors
        return (isUsable ? read : nil, source.diagnostics(reader.problems))
    }
}
