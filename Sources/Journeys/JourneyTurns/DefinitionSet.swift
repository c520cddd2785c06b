package import JourneyModel
package import WorkflowDefinitions

/// The published definitions that a turn decides by.
package struct DefinitionSet: Sendable {
    /// One version of a workflow.
    package struct Version: Sendable, Hashable {
        package var workflow: WorkflowID
        package var number: Int
        package var digest: String
        package var definition: WorkflowDefinition

        package init(
            workflow: WorkflowID, number: Int, digest: String, definition: WorkflowDefinition
        ) {
            self.workflow = workflow
            self.number = number
            self.digest = digest
            self.definition = definition
        }
    }

    /// The versions that new runs enter, in workflow id order.
    package let live: [Version]
    /// Older versions that live runs still follow.
    package let older: [Version]
    private let byID: [WorkflowID: [Version]]

    package init(live: [Version], older: [Version] = []) {
        self.live = live.sorted { $0.workflow < $1.workflow }
        self.older = older
        byID = Dictionary(grouping: live + older, by: \.workflow)
    }

    /// The definition a run follows; nil when it could not be loaded (S18: its runs stand still).
    package func version(_ number: Int, of workflow: WorkflowID) -> Version? {
        byID[workflow]?.first { $0.number == number }
    }
}
