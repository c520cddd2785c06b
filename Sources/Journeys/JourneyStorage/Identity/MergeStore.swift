internal import FailPoints
internal import JourneyEngine
internal import JourneyModel
package import JourneyTurns
package import Postgres

/// Merges two records into one: a turn over both, in a transaction of its own (S10).
///
/// It is made by the session that routes: while records are being merged nobody links ids to them. Both rows
/// are locked in id order without waiting; when either is busy nothing is done, and the caller comes again.
package struct MergeStore: Sendable {
    /// Decides what comes of a merge; pure.
    package typealias Decide = @Sendable (RecordMerge, DefinitionSet) throws -> TurnResult

    /// What one call did.
    package struct Report: Sendable, Hashable {
        package var merged = 0
        /// Pairs of which one record, or routing itself, was another session's at the moment.
        package var busy = 0
        /// Pairs that are put off, each with the sentence that says why.
        package var failed: [RecordPair: String] = [:]

        package init() {}
    }

    private enum Outcome {
        case merged, busy, done
    }

    private let pool: PostgresPool
    private let definitions: DefinitionCache
    private let features: FeatureDoor?

    package init(
        pool: PostgresPool, definitions: DefinitionCache, features: FeatureDoor? = nil
    ) {
        self.pool = pool
        self.definitions = definitions
        self.features = features
    }

    /// Merges each pair, one transaction each. A pair that cannot be merged is put off, with the inputs
    /// that wait for it, for a second at first and at most an hour; others go on.
    ///
    /// - Throws: `PostgresError` when the database is out of reach.
    package func merge(_ pairs: [RecordPair], decide: Decide) async throws -> Report {
        var report = Report()
        for pair in pairs {
            do {
                let outcome = try await pool.withTransaction { tx in
                    try await attempt(pair, decide, tx)
                }
                switch outcome {
                case .merged: report.merged += 1
                case .busy: report.busy += 1
                case .done: break
                }
            } catch let error as PostgresError where error.isRetryable {
                report.busy += 1
            } catch let error as PostgresError where error.kind != .server {
                throw error
            } catch {
                report.failed[pair] = String(describing: error)
                try await putOff(pair, String(describing: error))
            }
        }
        return report
    }

    private func attempt(
        _ pair: RecordPair, _ decide: Decide, _ tx: PostgresTransaction
    ) async throws -> Outcome {
        guard try await tx.query(RoutingStore.electing, []).only().bool("is_ours") else {
            return .busy
        }
        let ids = [pair.one, pair.other].sorted()
        let (claimed, revision) = try await TurnStore.claim(.these(ids), tx)
        guard claimed == ids else { return .busy }
        failPoint("merge.locked")
        let (batch, set) = try await TurnStore.load(
            ids, revision: revision, definitions, tx, features: features, takesInputs: false)
        if let sentence = batch.unreadable.values.first { throw Unserved(sentence: sentence) }
        // Merged before, by whatever else said so.
        guard batch.forwards.isEmpty, batch.turns.count == 2 else { return .done }
        var identified: Set<CustomerID> = []
        for row in try await tx.query(Self.identifying, [.int8Array(ids.map(\.number))]) {
            identified.insert(CustomerID(try row.int64("customer")))
        }
        let sides = batch.turns.map {
            RecordMerge.Side(turn: $0, isIdentified: identified.contains($0.customer.id))
        }
        guard sides[0].turn.customer.isOfOneRealm(with: sides[1].turn.customer) else {
            throw Unserved(sentence: "the records \(ids[0]) and \(ids[1]) are of two environments")
        }
        let merge = RecordMerge(sides[0], sides[1])
        let result = try decide(merge, set)
        failPoint("merge.decided")
        _ = try await tx.pipelineAndCommit(
            Self.moving(merge, result, pair) + BatchWriter([result], of: batch, set).statements)
        failPoint("merge.committed")
        return .merged
    }

    private func putOff(_ pair: RecordPair, _ sentence: String) async throws {
        _ = try await pool.query(
            Self.puttingOff,
            [
                .int8(min(pair.one, pair.other).number), .int8(max(pair.one, pair.other).number),
                .text(storable(String(sentence.prefix(2_000)))), .optional(pair.input),
            ])
    }

    /// Everything that is keyed by the record that goes, before the survivor's turn is written.
    private static func moving(
        _ merge: RecordMerge, _ result: TurnResult, _ pair: RecordPair
    ) -> [(SQLStatement, [PostgresValue])] {
        let before = Dictionary(
            (merge.survivor.turn.runs + merge.merged.turn.runs).map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first })
        let ended = result.changedRuns.filter {
            $0.endedAt != nil && before[$0.id]?.status.isLive == true
        }
        let reseated = result.changedRuns.filter { $0.slot != before[$0.id]?.slot }
        let merged = PostgresValue.int8(merge.merged.turn.customer.id.number)
        let survivor = PostgresValue.int8(merge.survivor.turn.customer.id.number)
        let now = PostgresValue.timestamptz(max(merge.survivor.turn.now, merge.merged.turn.now))
        return [
            (endingRivals, [merged, survivor, now, .textArray(ended.map(\.id.text))]),
            (
                movingRuns,
                [
                    merged, survivor, .textArray(reseated.map(\.id.text)),
                    .int4Array(reseated.map { Int32(clamping: $0.slot) }),
                ]
            ),
            (movingHistory, [merged, survivor]),
            (movingEventIDs, [merged, survivor, .int8(merge.shift)]),
            (movingEvents, [merged, survivor, .int8(merge.shift)]),
            (movingEffects, [merged, survivor]), (movingQueue, [merged, survivor]),
            (movingAttempts, [merged, survivor]), (movingInputs, [merged, survivor]),
            (movingValues, [merged, survivor]), (movingIDs, [merged, survivor]),
            (movingTransfers, [merged, survivor]), (droppingState, [merged]),
            (forwarding, [merged, survivor]),
            (logging, [merged, survivor, .optional(pair.input)]),
        ]
    }
}

extension CustomerRecord {
    fileprivate func isOfOneRealm(with other: CustomerRecord) -> Bool {
        environment == other.environment && app == other.app
    }
}
