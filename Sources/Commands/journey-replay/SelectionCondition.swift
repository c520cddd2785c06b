internal import CommandLine
internal import Configuration
internal import JSON
internal import JourneyModel
internal import JourneyTurns
internal import WorkflowDefinitions

/// The condition of `--if`: what a segment may say, as far as it can be decided outside a customer's turn.
struct SelectionCondition {
    let condition: Condition

    /// The file's problems go to standard error, with their places in it.
    init(_ path: String, _ call: ReplayCall, _ set: DefinitionSet) throws {
        let bytes = try BoundedFile.read(path, limit: WorkflowParser.longestFile)
        // A segment around it, on a line of its own: so it is read and refused as a segment's condition is.
        let before = Array(#"{"dsl": 1, "id": "selection", "if":"#.utf8) + [0x0A]
        let outcome = WorkflowParser.readSegment(
            before + bytes + [0x0A, 0x7D], file: "selection.json",
            context: DefinitionContext(segments: Set(set.segments.map(\.id))))
        for diagnostic in outcome.diagnostics {
            var diagnostic = diagnostic
            diagnostic.file = path
            diagnostic.line = max(1, diagnostic.line - 1)
            if diagnostic.pointer.tokens.first == "if" {
                diagnostic.pointer = JSONPointer(
                    tokens: Array(diagnostic.pointer.tokens.dropFirst()))
            }
            call.terminal.error.writeLine(printable(diagnostic.description))
        }
        guard let segment = outcome.definition?.definition else {
            throw ReplayFailure("\(path) cannot be read as a condition; mend it.")
        }
        let needs = segment.needs
        guard needs.histories.isEmpty, needs.features.isEmpty else {
            throw ReplayFailure.refused(
                "Nothing was started: \(path) asks for \(needs.features.isEmpty ? "events" : "features"), "
                    + "which only a customer's turn knows; publish a segment with it and use --segment."
            )
        }
        condition = segment.condition
    }
}
