internal import CommandLine
internal import JSON
internal import WorkflowDefinitions

extension CommandSpecification {
    static let schema = CommandSpecification(
        name: "schema", summary: "Print the JSON Schema of a kind of file, for editors",
        discussion: """
            A schema of JSON Schema 2020-12 with a text for every key. It accepts and refuses exactly \
            what validate does for everything a schema can say; names of steps, pointers and the like \
            are validate's alone. KIND is workflow (the default), segment, experiment, events or \
            simulation.
            """,
        examples: [
            Example(
                "journey-replay schema workflow",
                "keep it in a file and name that as \"$schema\" in the first line of a workflow"),
            Example("journey-replay schema segment", "that of Workflows/segments/<id>.json"),
        ],
        arguments: [
            ArgumentSpecification(
                "KIND", help: "workflow, segment, experiment, events or simulation",
                isRequired: false)
        ])
}

extension ReplayCall {
    func schema() throws {
        let word = parsed.allArguments("KIND").first ?? LanguageSchema.workflow.rawValue
        guard let schema = LanguageSchema(rawValue: word) else {
            let words = LanguageSchema.allCases.map(\.rawValue)
            throw UsageError(
                path: parsed.path,
                "\"\(word)\" is no kind of file; the kinds are \(words.joined(separator: ", "))"
                    + Spelling.ending(for: word, among: words))
        }
        terminal.output.writeLine(schema.json.pretty)
    }
}
