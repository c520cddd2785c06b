/// A name or number that stands for one kind of thing, so that a run's id is never passed for an event's.
package struct Identifier<Kind>: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// What an ``Identifier`` may stand for; never instantiated.
package enum IdentifierKind {
    /// Of workflows.
    package enum Workflow {}
    /// Of steps within a workflow.
    package enum Step {}
    /// Of runs.
    package enum Run {}
    /// Of events.
    package enum Event {}
    /// Of effects.
    package enum Invocation {}
    /// Of segments.
    package enum Segment {}
    /// Of experiments.
    package enum Experiment {}
}

/// A workflow's `id`, `[a-z0-9][a-z0-9-]{0,62}`.
package typealias WorkflowID = Identifier<IdentifierKind.Workflow>
/// A step's key, `[a-z0-9][a-z0-9_-]{0,62}`.
package typealias StepID = Identifier<IdentifierKind.Step>
/// A segment's `id`, `[a-z0-9][a-z0-9-]{0,62}`.
package typealias SegmentID = Identifier<IdentifierKind.Segment>
/// An experiment's `id`, `[a-z0-9][a-z0-9-]{0,62}`.
package typealias ExperimentID = Identifier<IdentifierKind.Experiment>
/// 32 lowercase hex digits derived from workflow, customer, cause and rerun: the same entry always has
/// the same id.
package typealias RunID = Identifier<IdentifierKind.Run>
/// `evt_` and 32 lowercase hex digits derived from connector and provider event id.
package typealias EventID = Identifier<IdentifierKind.Event>
/// The key that an effect keeps over all its attempts: 64 lowercase hex digits (S13).
package typealias InvocationID = Identifier<IdentifierKind.Invocation>

/// The database's number for one customer record.
package struct CustomerID: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let number: Int64

    package init(_ number: Int64) { self.number = number }

    package var description: String { String(number) }

    package static func < (left: CustomerID, right: CustomerID) -> Bool {
        left.number < right.number
    }
}
