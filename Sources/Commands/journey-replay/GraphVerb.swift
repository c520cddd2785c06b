internal import CommandLine
internal import JourneyModel
internal import JourneyStorage
internal import WorkflowDefinitions
internal import WorkflowDrawings

extension CommandSpecification {
    static let graph = CommandSpecification(
        name: "graph", summary: "Draw a workflow",
        discussion: """
            Draws the definition as a tree, or for Graphviz, Mermaid or a browser. With --counts says how \
            many live runs stand at each step now, over all versions; that alone needs the database.
            """,
        examples: [
            Example("journey-replay graph trial-onboarding", "a tree in the terminal"),
            Example(
                "journey-replay graph trial-onboarding --format svg",
                "a picture for a browser"),
            Example("journey-replay graph trial-onboarding --counts", "who stands where"),
        ],
        options: [
            OptionSpecification(
                "format", valueName: "FORM", help: "ascii, dot, mermaid or svg; ascii when left out"
            ),
            OptionSpecification("counts", help: "count the live runs at each step"),
            OptionSpecification(
                "environment", valueName: "NAME",
                help: "whose runs are counted; production when left out"),
        ],
        arguments: [
            ArgumentSpecification("WORKFLOW", help: "an id under Workflows, or a definition's file")
        ])
}

extension ReplayCall {
    func graph() async throws {
        let word = parsed.option("format") ?? WorkflowDrawing.Form.ascii.rawValue
        guard let form = WorkflowDrawing.Form(rawValue: word) else {
            throw UsageError(
                path: parsed.path,
                "--format is ascii, dot, mermaid or svg, not \"\(word.prefix(32))\".")
        }
        let workflow = try readWorkflow(parsed.argument("WORKFLOW") ?? "").0.definition
        guard parsed.flag("counts") else {
            terminal.output.write(WorkflowDrawing(workflow).text(form))
            return
        }
        try await withDatabase { pool in
            let standing = try await LookStore(pool: pool).standing(
                in: workflow.id, environment: parsed.option("environment") ?? "production")
            terminal.output.write(WorkflowDrawing(workflow, counts: standing).text(form))
            let elsewhere = standing.filter { workflow.steps[$0.key] == nil }
            for (step, count) in elsewhere.sorted(by: { $0.key < $1.key }) {
                terminal.error.writeLine(
                    "\(counted(count, "run")) of an older version at \(step), which this file has not."
                )
            }
        }
    }
}
