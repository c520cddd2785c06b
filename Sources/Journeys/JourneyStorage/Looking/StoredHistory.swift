package import JourneyEngine
package import JourneyModel

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
