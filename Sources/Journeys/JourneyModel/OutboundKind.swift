/// What the house tells another system of a run, under the names that it is told by.
package enum OutboundKind: String, Sendable, Hashable, CaseIterable {
    case entered = "journey.entered"
    case converted = "journey.converted"
    /// Every end but a failure: completed, left early, cancelled, superseded.
    case exited = "journey.exited"
    case failed = "journey.failed"

    /// The account under which such events lie among the effects. No configured account is called so: its
    /// name would have to begin with a letter that names may not begin with.
    package static let account = "$outbound"
}

/// Which run events are wanted.
package struct OutboundChoice: Sendable, Hashable {
    package var kinds: Set<OutboundKind>
    /// Nil for all environments.
    package var environments: Set<String>?

    package init(kinds: Set<OutboundKind>, environments: Set<String>? = nil) {
        self.kinds = kinds
        self.environments = environments
    }
}
