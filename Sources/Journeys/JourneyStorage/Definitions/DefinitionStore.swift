package import JourneyModel
package import JourneyTurns
package import Postgres
package import WorkflowDefinitions

/// Publishes definitions and reads them back.
package struct DefinitionStore: Sendable {
    /// What publishing one workflow did.
    package struct Publication: Sendable, Hashable {
        /// What became of the live version.
        package enum Change: Sendable, Hashable {
            /// This version is new.
            case new
            /// It is live already: nothing was written.
            case unchanged
            /// An earlier version became the live one again.
            case restored
        }

        package var workflow: WorkflowID
        package var version: Int
        package var change: Change

        package init(workflow: WorkflowID, version: Int, change: Change) {
            self.workflow = workflow
            self.version = version
            self.change = change
        }
    }

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Publishes workflows together: new runs enter the new versions from its commit on; runs in flight
    /// keep theirs (S8, `drain`). The same definition again changes nothing.
    /// - Parameters:
    ///   - by: who publishes; kept with the reason in each version and in the audit log.
    package func publish(
        _ workflows: [PublishedWorkflow], by: String, reason: String
    ) async throws -> [Publication] {
        try await pool.withTransaction(retries: 3) { tx in
            // Taking the catalogue's row makes publishers wait for one another.
            _ = try await tx.query(Self.lockingCatalogue, []).only()
            var publications: [Publication] = []
            for workflow in workflows.sorted(by: { $0.definition.id < $1.definition.id }) {
                let row = try await tx.query(
                    Self.publishing,
                    [
                        .text(workflow.definition.id.text), .text(workflow.digest),
                        .bytea(workflow.canonical), .text(storable(by)), .text(storable(reason)),
                    ]
                ).only()
                let isNew = try row.bool("is_new")
                let isLive = try row.bool("was_live")
                publications.append(
                    Publication(
                        workflow: workflow.definition.id, version: Int(try row.int32("version")),
                        change: isNew ? .new : isLive ? .unchanged : .restored))
            }
            let changed = publications.filter { $0.change != .unchanged }
            guard !changed.isEmpty else { return publications }
            _ = try await tx.pipeline([
                (
                    Self.goingLive,
                    [
                        .textArray(changed.map(\.workflow.text)),
                        .int4Array(changed.map { Int32(clamping: $0.version) }),
                    ]
                ),
                (
                    Self.auditing,
                    [
                        .text(storable(by)), .text(storable(reason)),
                        .text(
                            changed.map { "\($0.workflow) v\($0.version)" }.joined(separator: ", ")),
                    ]
                ),
            ])
            return publications
        }
    }

    /// Counted up by every publish that changed something.
    package func revision() async throws(PostgresError) -> Int64 {
        try await pool.query(Self.readingRevision, []).only().int64("revision")
    }

    /// The live versions and every one that `cache` has met, as of now.
    package func definitions(
        in cache: DefinitionCache
    ) async throws -> DefinitionSet {
        try await pool.withTransaction { tx in
            let revision = try await tx.query(Self.readingRevision, []).only().int64("revision")
            return try await Self.definitions(revision: revision, in: cache, tx)
        }
    }

    static func definitions(
        revision: Int64, in cache: DefinitionCache, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> DefinitionSet {
        if let set = cache.set(revision: revision) { return set }
        cache.takeLive(try stored(try await tx.query(readingLive, [])), revision: revision)
        // Another session may have taken in a later revision meanwhile: then that one is as good.
        return cache.set(revision: revision) ?? cache.latest
    }

    /// Brings versions that live runs still follow into the cache.
    static func load(
        _ keys: [DefinitionCache.Key], into cache: DefinitionCache, _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        let rows = try await tx.query(
            readingVersions,
            [
                .textArray(keys.map(\.workflow.text)),
                .int4Array(keys.map { Int32(clamping: $0.version) }),
            ])
        cache.takeVersions(try stored(rows))
    }

    private static func stored(
        _ rows: PostgresRows
    ) throws(PostgresError) -> [DefinitionCache.Stored] {
        var stored: [DefinitionCache.Stored] = []
        for row in rows {
            stored.append(
                DefinitionCache.Stored(
                    key: DefinitionCache.Key(
                        workflow: WorkflowID(try row.string("workflow")),
                        version: Int(try row.int32("version"))),
                    digest: try row.string("digest"), canonical: try row.bytes("canonical")))
        }
        return stored
    }
}
