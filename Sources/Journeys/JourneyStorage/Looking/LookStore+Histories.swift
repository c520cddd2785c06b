internal import JSON
package import JourneyEngine
package import JourneyModel
internal import Postgres
package import TimeZones

// Whole histories, a page of runs at a time, for those who repeat or carry away what was decided.
extension LookStore {
    /// Runs of one page: with their histories they are held in memory together.
    package static let historyPage = 32
    /// Decisions that one statement reads.
    private static let decisionPage: Int32 = 2_000

    /// A page of runs with their histories, newest entry first; `filter.after` is the last run of the
    /// page before. At most ``historyPage``.
    package func histories(_ filter: RunFilter) async throws -> [StoredHistory] {
        var filter = filter
        filter.limit = min(filter.limit, Self.historyPage)
        return try await histories(of: try await runs(filter))
    }

    /// These runs with their histories, in the same order; one that is gone is left out.
    ///
    /// - Parameter runs: at most ``historyPage``.
    package func histories(of runs: [RunSummary]) async throws -> [StoredHistory] {
        precondition(runs.count <= Self.historyPage, "a page of histories is too long")
        guard !runs.isEmpty else { return [] }
        return try await look { tx in
            let rows = try await tx.query(
                Self.readingStates,
                [.int8Array(runs.map(\.customer.number)), .textArray(runs.map(\.id.text))])
            var found: [RunID: StoredHistory] = [:]
            for row in rows {
                let summary = try Self.readSummary(row)
                let state = try readObject(try row.json("state"), "run \(summary.id)")
                found[summary.id] = StoredHistory(
                    summary: summary, digest: try row.string("digest"),
                    decisionCount: Int(try row.int32("decisions")),
                    run: Result { () throws(StoredFormError) in try Run(state: state) },
                    decisions: [])
            }
            try await Self.readDecisions(into: &found, tx)
            let horizon = try await tx.query(RetentionStore.readingHorizon, [.text("history")])
                .first?.instant("since")
            for id in found.keys { found[id]?.horizon = horizon }
            return runs.compactMap { found[$0.id] }
        }
    }

    private static func readDecisions(
        into found: inout [RunID: StoredHistory], _ tx: PostgresTransaction
    ) async throws {
        // In the order of the primary key, which the next page goes on from.
        let runs = found.values.sorted {
            ($0.summary.customer, $0.summary.id) < ($1.summary.customer, $1.summary.id)
        }
        var last: (customer: Int64, run: String, decision: Int32) = (.min, "", 0)
        while true {
            let rows = try await tx.query(
                readingHistories,
                [
                    .int8Array(runs.map(\.summary.customer.number)),
                    .textArray(runs.map(\.summary.id.text)),
                    .int4Array(runs.map { Int32(clamping: $0.decisionCount) }),
                    .int8(last.customer), .text(last.run), .int4(last.decision),
                    .int4(decisionPage),
                ])
            for row in rows {
                let run = try row.string("run")
                last = (try row.int64("customer"), run, try row.int32("decision"))
                let json = try readObject(try row.json("entries"), "history of run \(run)")
                found[RunID(run)]?.decisions.append(
                    HistoryRow(
                        number: Int(last.decision), at: try row.instant("at"), json: json))
            }
            if rows.count < decisionPage { return }
        }
    }

    /// Published versions by workflow and number; one that is not there is left out.
    package func definitions(
        _ keys: [DefinitionCache.Key]
    ) async throws -> [DefinitionCache.Key: StoredDefinition] {
        guard !keys.isEmpty else { return [:] }
        return try await look { tx in
            let rows = try await tx.query(
                DefinitionStore.readingVersions,
                [
                    .textArray(keys.map(\.workflow.text)),
                    .int4Array(keys.map { Int32(clamping: $0.version) }),
                ])
            var found: [DefinitionCache.Key: StoredDefinition] = [:]
            for row in rows {
                let key = DefinitionCache.Key(
                    workflow: WorkflowID(try row.string("workflow")),
                    version: Int(try row.int32("version")))
                found[key] = StoredDefinition(
                    digest: try row.string("digest"), canonical: try row.bytes("canonical"))
            }
            return found
        }
    }

    /// A customer's events after an ordinal, oldest first, at most ``listLimit``: the log that a run was
    /// given its inputs from.
    package func log(
        of customer: CustomerID, after ordinal: Int64, recordedSince since: Instant
    ) async throws -> [LoggedEvent] {
        try await look { tx in
            let rows = try await tx.query(
                Self.readingLog,
                [
                    .int8(customer.number), .int8(ordinal), .timestamptz(since),
                    Self.limit(Self.listLimit),
                ])
            return try rows.map { row in
                LoggedEvent(
                    ordinal: try row.int64("ordinal"), recordedAt: try row.instant("recorded_at"),
                    event: try readEvent(try row.json("event")))
            }
        }
    }

    /// How many runs pass the filter; its limit and page do not count.
    package func count(_ filter: RunFilter) async throws -> Int64 {
        try await look { tx in
            guard let values = try await Self.values(of: filter, tx) else { return 0 }
            return try await tx.query(Self.countingRuns, values).only().int64("runs")
        }
    }
}
