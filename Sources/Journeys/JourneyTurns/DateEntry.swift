package import JourneyModel
package import TimeZones

/// A date that is to start a run, or has been dealt with: one for each workflow and subscription or
/// attribute of a customer.
package struct DateEntry: Sendable, Hashable {
    /// Which date of the customer's it is.
    package struct Key: Sendable, Hashable, Comparable {
        package var workflow: WorkflowID
        /// `<connector>/<subscription key>`, or the pointer that the date reads.
        package var subject: String

        package init(workflow: WorkflowID, subject: String) {
            self.workflow = workflow
            self.subject = subject
        }

        package static func < (left: Key, right: Key) -> Bool {
            (left.workflow, left.subject) < (right.workflow, right.subject)
        }
    }

    package var key: Key
    /// The date itself; the same one starts a run once.
    package var date: Instant
    /// When the run starts: the date as the workflow shifts it.
    package var dueAt: Instant
    /// False once it has started a run, came too late, or was past as the workflow was published.
    package var isPending: Bool

    package init(key: Key, date: Instant, dueAt: Instant, isPending: Bool) {
        self.key = key
        self.date = date
        self.dueAt = dueAt
        self.isPending = isPending
    }

    /// What the run that it starts is known by.
    package var cause: String { "date:\(key.subject):\(date)" }
}
