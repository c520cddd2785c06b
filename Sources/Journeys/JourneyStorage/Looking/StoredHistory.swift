package import JourneyEngine
package import JourneyModel
package import TimeZones

/// One run with its whole history, as stored.
package struct StoredHistory: Sendable {
    package var summary: RunSummary
    package var digest: String
    /// The row's `decisions` column.
    package var decisionCount: Int
    /// The row's `state`, or why it cannot be read.
    package var run: Result<Run, StoredFormError>
    /// In order; those that were written after the row was read are left out.
    package var decisions: [HistoryRow]

    /// Since when histories are kept whole; nil where none was ever let go.
    package var horizon: Instant?

    /// Whether the run's first decisions, or all of them, were let go with their month.
    package var isCut: Bool {
        guard let horizon, let endedAt = summary.endedAt, endedAt < horizon else { return false }
        return decisionCount > 0 && decisions.first?.number != 1
    }

    /// Which definition the run follows.
    package var definition: DefinitionCache.Key {
        DefinitionCache.Key(workflow: summary.workflow, version: summary.version)
    }
}

/// A published version as stored.
package struct StoredDefinition: Sendable, Hashable {
    package var digest: String
    package var canonical: [UInt8]
}
