package import JourneyModel

/// A value that lets a workflow be entered once only, over all customers and connectors (`once_per`).
package struct EntryValue: Sendable, Hashable, Comparable {
    package var workflow: WorkflowID
    package var text: String

    package init(workflow: WorkflowID, text: String) {
        self.workflow = workflow
        self.text = text
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.workflow, left.text) < (right.workflow, right.text)
    }
}

/// A run's claim to a value.
package struct EntryClaim: Sendable, Hashable {
    package var value: EntryValue
    package var run: RunID

    package init(value: EntryValue, run: RunID) {
        self.value = value
        self.run = run
    }
}
