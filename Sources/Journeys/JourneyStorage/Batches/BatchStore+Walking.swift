internal import JSON
internal import JourneyModel
internal import JourneyTurns
package import Postgres

// A page of a batch: its candidates are judged in memory, and what came of them is written with the cursor.
extension BatchStore {
    /// The batches that go on now, oldest first.
    package func running() async throws -> [Batch] {
        var batches: [Batch] = []
        for row in try await pool.query(Self.readingRunning, []) {
            batches.append(try Self.batch(row))
        }
        return batches
    }

    /// Takes a batch on by a page, in one transaction. Two walkers wait for one another.
    ///
    /// - Parameters:
    ///   - limit: objects to look at, 1 to ``pageLimit``.
    ///   - judge: pure.
    package func walk(
        _ batch: Batch, limit: Int, judge: @Sendable (DeliveryCandidate) -> ReplayJudgement
    ) async throws -> Page {
        try await pool.withTransaction(retries: 3) { tx in
            guard let row = try await tx.query(Self.locking, [.int8(batch.id)]).first else {
                var over = Page()
                over.isLast = true
                return over
            }
            let page = try await Self.page(
                batch.selection, after: try row.int64("cursor"), limit: limit, tx)
            var findings: [BatchFinding] = []
            var offers: [Offer] = []
            for candidate in page.candidates {
                switch judge(candidate) {
                case .pass: break
                case .unable(let finding): findings.append(finding)
                case .offer(let finding, to: let owner):
                    findings.append(finding)
                    offers.append(Offer(candidate: candidate, owner: owner))
                }
            }
            try await Self.write(page, findings, offers, of: batch, tx)
            var done = Page()
            done.offered = offers.count
            done.isLast = page.isLast
            return done
        }
    }

    /// Says why a batch stands still: it is paused until somebody resumes it.
    package func halt(_ batch: Int64, because sentence: String) async throws(PostgresError) {
        _ = try await pool.query(
            Self.halting, [.int8(batch), .text(storable(String(sentence.prefix(2_000))))])
    }

    private struct Offer {
        let candidate: DeliveryCandidate
        let owner: ReplayJudgement.NewOwner?
    }

    private static func write(
        _ page: CandidatePage, _ findings: [BatchFinding], _ offers: [Offer], of batch: Batch,
        _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        var statements: [(SQLStatement, [PostgresValue])] = []
        if !findings.isEmpty {
            statements.append(
                (
                    telling,
                    [
                        .int8(batch.id), .int8Array(findings.map(\.object)),
                        .textArray(findings.map(\.outcome)),
                        .textArray(findings.map { $0.event?.text }),
                        .textArray(findings.map(\.before)), .textArray(findings.map(\.after)),
                        .textArray(findings.map { $0.sentence.map(storable) }),
                    ]
                ))
        }
        if !offers.isEmpty { statements.append((offering, values(of: offers, batch.replay))) }
        statements.append(
            (
                moving,
                [
                    .int8(batch.id), .int8(page.cursor), .int8(Int64(page.candidates.count)),
                    .int8(Int64(offers.count)), .int8(Int64(findings.count - offers.count)),
                    .bool(page.isLast),
                ]
            ))
        _ = try await tx.pipeline(statements)
    }

    private static func values(of offers: [Offer], _ replay: Replay) -> [PostgresValue] {
        var aliasPlaces: [Int32] = []
        var aliases: [String] = []
        for (place, offer) in offers.enumerated() {
            for alias in offer.owner?.person.aliases.prefix(IdentityLimits.aliases) ?? [] {
                guard let alias = usable(alias) else { continue }
                aliasPlaces.append(Int32(place + 1))
                aliases.append(alias)
            }
        }
        return [
            .text(JSONValue.object(replay.json).text),
            .int8Array(offers.map(\.candidate.delivery.id)),
            .timestamptzArray(offers.map(\.candidate.delivery.receivedAt)),
            // Whom it belongs to by what it tells now is found by routing.
            .int8Array(offers.map { $0.owner == nil ? $0.candidate.customer?.number : nil }),
            .textArray(offers.map { storable($0.owner?.environment ?? $0.candidate.environment) }),
            .textArray(offers.map { $0.candidate.app.map(storable) }),
            .timestamptzArray(offers.map { $0.owner?.occurredAt }),
            .textArray(offers.map { $0.owner?.person.id.flatMap(usable) }),
            .boolArray(offers.map { $0.owner?.person.isAnonymous ?? false }),
            .int4Array(aliasPlaces), .textArray(aliases),
        ]
    }
}
