internal import TestMaterial
internal import Testing
package import WorkflowDefinitions

/// The workflows of `Workflows`, read with its events and experiments.
package enum ShippedWorkflows {
    /// Every shipped workflow, in the order of the files; throws when one is refused.
    package static func read() throws -> [PublishedWorkflow] {
        let events = try PackageFiles.bytes(of: "Workflows/events.json")
        var context = DefinitionContext(
            events: EventDeclarations.read(events, file: "events.json").declarations)
        for name in try PackageFiles.names(in: "Workflows/experiments") {
            let outcome = WorkflowParser.readExperiment(
                try PackageFiles.bytes(of: "Workflows/experiments/\(name)"), file: name)
            let experiment = try #require(outcome.definition, "\(outcome.diagnostics)")
            context.experiments[experiment.id] = experiment
        }
        return try PackageFiles.names(in: "Workflows").filter {
            $0.hasSuffix(".json") && $0 != "events.json"
        }.map { name in
            let outcome = WorkflowParser.read(
                try PackageFiles.bytes(of: "Workflows/\(name)"), file: name, context: context)
            return try #require(outcome.published, "\(outcome.diagnostics)")
        }
    }
}
