internal import FailPoints
package import JourneyModel
package import JourneyTurns
package import Postgres
internal import TimeZones
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

    /// What publishing one segment did.
    package struct SegmentPublication: Sendable, Hashable {
        package var segment: SegmentID
        package var version: Int
        package var change: Publication.Change

        package init(segment: SegmentID, version: Int, change: Publication.Change) {
            self.segment = segment
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
        try await publish(workflows, segments: [], by: by, reason: reason).workflows
    }

    /// Publishes workflows and segments together. Nobody enters a segment or a workflow by it: a durable
    /// walk compares every customer with the new segments and date triggers as of now, without an event.
    package func publish(
        _ workflows: [PublishedWorkflow], segments: [PublishedSegment], by: String, reason: String
    ) async throws -> (workflows: [Publication], segments: [SegmentPublication]) {
        try await pool.withTransaction(retries: 3) { tx in
            // Taking the catalogue's row makes publishers wait for one another.
            _ = try await tx.query(Self.lockingCatalogue, []).only()
            var publications: [Publication] = []
            for workflow in workflows.sorted(by: { $0.definition.id < $1.definition.id }) {
                let (version, change) = try await Self.publish(
                    Self.publishing, workflow.definition.id.text, workflow.digest,
                    workflow.canonical, by, reason, tx)
                publications.append(
                    Publication(
                        workflow: workflow.definition.id, version: version, change: change))
            }
            var published: [SegmentPublication] = []
            for segment in segments.sorted(by: { $0.definition.id < $1.definition.id }) {
                let (version, change) = try await Self.publish(
                    Self.publishingSegment, segment.definition.id.text, segment.digest,
                    segment.canonical, by, reason, tx)
                published.append(
                    SegmentPublication(
                        segment: segment.definition.id, version: version, change: change))
            }
            let changed = publications.filter { $0.change != .unchanged }
            let moved = published.filter { $0.change != .unchanged }
            guard !changed.isEmpty || !moved.isEmpty else { return (publications, published) }
            let dated = Set(
                workflows.map(\.definition).filter(\.isStartedByDate).map(\.id))
            _ = try await tx.pipeline([
                (
                    Self.goingLive,
                    [
                        .textArray(changed.map(\.workflow.text)),
                        .int4Array(changed.map { Int32(clamping: $0.version) }),
                        .textArray(moved.map(\.segment.text)),
                        .int4Array(moved.map { Int32(clamping: $0.version) }),
                        .bool(!moved.isEmpty || changed.contains { dated.contains($0.workflow) }),
                    ]
                ),
                (
                    Self.auditing,
                    [
                        .text(storable(by)), .text(storable(reason)),
                        .text(
                            (changed.map { "\($0.workflow) v\($0.version)" }
                                + moved.map { "segment \($0.segment) v\($0.version)" })
                                .joined(separator: ", ")),
                    ]
                ),
            ])
            failPoint("publish.written")
            return (publications, published)
        }
    }

    private static func publish(
        _ statement: SQLStatement, _ id: String, _ digest: String, _ canonical: [UInt8],
        _ by: String, _ reason: String, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> (version: Int, change: Publication.Change) {
        let row = try await tx.query(
            statement,
            [
                .text(id), .text(digest), .bytea(canonical), .text(storable(by)),
                .text(storable(reason)),
            ]
        ).only()
        let isNew = try row.bool("is_new")
        let wasLive = try row.bool("was_live")
        return (
            Int(try row.int32("version")), isNew ? .new : wasLive ? .unchanged : .restored
        )
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
        let answers = try await tx.pipeline([(readingLive, []), (readingSegments, [])])
        cache.takeLive(
            try stored(answers[0]), segments: try storedSegments(answers[1]), revision: revision)
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
                    digest: try row.string("digest"), canonical: try row.bytes("canonical"),
                    liveRevision: try row.int64("live_revision"),
                    liveSince: try row.instantOrNil("live_since") ?? .earliest))
        }
        return stored
    }

    private static func storedSegments(
        _ rows: PostgresRows
    ) throws(PostgresError) -> [DefinitionCache.StoredSegment] {
        var stored: [DefinitionCache.StoredSegment] = []
        for row in rows {
            stored.append(
                DefinitionCache.StoredSegment(
                    id: SegmentID(try row.string("id")), version: Int(try row.int32("version")),
                    digest: try row.string("digest"), canonical: try row.bytes("canonical"),
                    liveRevision: try row.int64("live_revision"),
                    liveSince: try row.instantOrNil("live_since") ?? .earliest))
        }
        return stored
    }
}

extension WorkflowDefinition {
    fileprivate var isStartedByDate: Bool {
        if case .date = entry.trigger { true } else { false }
    }
}

extension DefinitionStore {
    /// Why these workflows may not be published over what is live; see
    /// ``DefinitionSet/complaint(publishing:)``.
    package func complaint(publishing workflows: [PublishedWorkflow]) async throws -> String? {
        let cache = DefinitionCache(
            readSegment: { try WorkflowParser.loadSegment(canonical: $0).definition },
            read: { try WorkflowParser.load(canonical: $0).definition })
        return try await definitions(in: cache).complaint(publishing: workflows)
    }
}
