package import WorkflowDefinitions

extension DefinitionSet {
    /// Why workflows may not be published over what is live: the variants of a live experiment keep their
    /// ids and their order (S14), whichever workflow holds it. Nil where nothing speaks against it.
    package func complaint(publishing workflows: [PublishedWorkflow]) -> String? {
        for workflow in workflows {
            for (id, experiment) in workflow.definition.experiments.sorted(by: { $0.key < $1.key })
            {
                for version in live {
                    guard let earlier = version.definition.experiments[id] else { continue }
                    if let complaint = experiment.complaint(replacing: earlier) { return complaint }
                }
            }
        }
        return nil
    }
}
