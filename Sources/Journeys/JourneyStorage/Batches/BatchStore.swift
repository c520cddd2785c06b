internal import JSON
package import JourneyModel
package import JourneyTurns
package import Postgres
internal import TimeZones

/// Keeps batches and takes them on, page by page.
package struct BatchStore: Sendable {
    /// What one page did.
    package struct Page: Sendable, Hashable {
        /// Inputs that were put in.
        package var offered = 0
        /// Whether there is nothing more to do: the batch is over, paused or gone.
        package var isLast = false

        package init() {}
    }

    /// Deliveries whose bodies one page may load, and that it may look over to find them.
    package static let pageLimit = 100
    static let scanLimit = 5_000
    static let pageBytes: Int64 = 16 << 20

    let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    // MARK: Asking for one

    /// How many deliveries are meant, and the first of them by number.
    package func preview(
        _ selection: DeliverySelection, limit: Int
    ) async throws -> (count: Int, first: [DeliveryView]) {
        try await pool.withTransaction { tx in
            let values = Self.values(of: selection)
            let answers = try await tx.pipeline([
                (Self.counting, values), (Self.listing, values + [.int4(Int32(clamping: limit))]),
            ])
            var first: [DeliveryView] = []
            for row in answers[1] { first.append(try LookStore.readDelivery(row)) }
            return (Int(try answers[0].only().int64("count")), first)
        }
    }

    /// Stores a batch, which a worker takes up by itself. What is received later is not part of it.
    ///
    /// - Parameter audit: makes the number under which the audit tells who asked for it.
    package func create(
        replaying selection: DeliverySelection, as replay: Replay, rate: Int,
        _ request: CommandStore.Request
    ) async throws -> Int64 {
        precondition(rate > 0, "a rate of \(rate)")
        return try await pool.withTransaction { tx in
            let audit = try await CommandStore.record(request, tx)
            let now = try await tx.query(ScheduleStore.readingTime, []).only().instant("now")
            var selection = selection
            selection.until = min(selection.until ?? now, now)
            var replay = replay
            replay.audit = audit
            let total = try await tx.query(Self.counting, Self.values(of: selection)).only()
                .int64("count")
            return try await tx.query(
                Self.creating,
                [
                    .text(Batch.Kind.replay.rawValue), .int8(audit),
                    .text(JSONValue.object(selection.json).text),
                    .text(JSONValue.object(replay.json).text), .int4(Int32(clamping: rate)),
                    .int8(total),
                ]
            ).only().int64("id")
        }
    }

    // MARK: Looking

    /// Batches, the newest first.
    package func batches(limit: Int) async throws -> [Batch] {
        try await read(.null, limit)
    }

    /// One batch; nil for a number that none has.
    package func batch(_ id: Int64) async throws -> Batch? {
        try await read(.int8(id), 1).first
    }

    /// What it did and could not do, by the objects' numbers.
    package func findings(of id: Int64, after: Int64 = 0, limit: Int) async throws -> [BatchFinding]
    {
        var findings: [BatchFinding] = []
        for row in try await pool.query(
            Self.readingFindings, [.int8(id), .int8(after), .int4(Int32(clamping: limit))])
        {
            findings.append(
                BatchFinding(
                    object: try row.int64("object"), outcome: try row.string("outcome"),
                    event: try row.stringOrNil("event").map { EventID($0) },
                    before: try row.stringOrNil("before"), after: try row.stringOrNil("after"),
                    sentence: try row.stringOrNil("sentence")))
        }
        return findings
    }

    /// Live runs that these events started, each with the event.
    package func liveRuns(
        startedBy events: [EventID]
    ) async throws(PostgresError) -> [(event: EventID, run: RunID)] {
        var runs: [(event: EventID, run: RunID)] = []
        for row in try await pool.query(
            Self.readingStarted, [.textArray(events.map(\.text))])
        {
            runs.append((EventID(try row.string("cause")), RunID(try row.string("id"))))
        }
        return runs
    }

    /// Inputs of a batch that no turn has decided yet.
    package func undecided(of id: Int64) async throws(PostgresError) -> Int {
        Int(try await pool.query(Self.countingUndecided, [.int8(id)]).only().int64("count"))
    }

    private func read(_ id: PostgresValue, _ limit: Int) async throws -> [Batch] {
        var batches: [Batch] = []
        for row in try await pool.query(Self.reading, [id, .int4(Int32(clamping: limit))]) {
            batches.append(try Self.batch(row))
        }
        return batches
    }

    static func batch(_ row: PostgresRow) throws -> Batch {
        let id = try row.int64("id")
        let what = "batch \(id)"
        guard let kind = Batch.Kind(rawValue: try row.string("kind")),
            let state = Batch.State(rawValue: try row.string("state"))
        else { throw StoredRowError(what: what, fact: "a newer program made it") }
        let selection = try readObject(try row.json("selection"), what)
        let options = try readObject(try row.json("options"), what)
        return Batch(
            id: id, kind: kind, state: state,
            selection: try readForm(what) { () throws(StoredFormError) in
                try DeliverySelection(json: selection)
            },
            replay: try readForm(what) { () throws(StoredFormError) in try Replay(json: options) },
            rate: Int(try row.int32("rate")), total: try row.int64("total"),
            passed: try row.int64("passed"), done: try row.int64("done"),
            unable: try row.int64("unable"), error: try row.stringOrNil("error"),
            createdAt: try row.instant("created_at"), endedAt: try row.instantOrNil("ended_at"),
            who: try row.string("who"), reason: try row.string("reason"))
    }

    // MARK: Steering

    /// Pauses, resumes or cancels batches that are open; what a page has done stays done.
    ///
    /// - Returns: the audit's number, and those that changed.
    package func set(
        _ ids: [Int64], to state: Batch.State, _ request: CommandStore.Request
    ) async throws -> (audit: Int64, changed: [Int64]) {
        try await pool.withTransaction { tx in
            let audit = try await CommandStore.record(request, tx)
            let rows = try await tx.query(
                Self.steering, [.int8Array(ids.sorted()), .text(state.rawValue)])
            return (audit, try rows.map { try $0.int64("id") })
        }
    }

    // MARK: Candidates

    /// The next deliveries of a selection by number, with their bodies and events; for looking.
    ///
    /// - Returns: the candidates, and the number to go on after; nil at the end.
    package func candidates(
        _ selection: DeliverySelection, after cursor: Int64, limit: Int
    ) async throws -> (candidates: [DeliveryCandidate], next: Int64?) {
        try await pool.withTransaction { tx in
            let page = try await Self.page(selection, after: cursor, limit: limit, tx)
            return (page.candidates, page.isLast ? nil : page.cursor)
        }
    }

    struct CandidatePage {
        var candidates: [DeliveryCandidate] = []
        var cursor: Int64
        var isLast = false
    }

    static func page(
        _ selection: DeliverySelection, after cursor: Int64, limit: Int, _ tx: PostgresTransaction
    ) async throws -> CandidatePage {
        precondition((1...pageLimit).contains(limit), "a page of \(limit)")
        let rows = try await tx.query(
            paging,
            values(of: selection) + [
                .int8(cursor), .int4(Int32(scanLimit)), .int4(Int32(limit)), .int8(pageBytes),
            ])
        var page = CandidatePage(cursor: cursor)
        for row in rows {
            page.isLast = try row.bool("is_last")
            page.cursor = try row.int64OrNil("reached") ?? cursor
            guard let id = try row.int64OrNil("id") else { continue }
            page.candidates.append(try candidate(id, row))
        }
        return page
    }

    private static func candidate(_ id: Int64, _ row: PostgresRow) throws -> DeliveryCandidate {
        let body = try row.bytesOrNil("body")
        var earlier = try row.jsonOrNil("earlier").map { try readEvent($0) }
        if earlier == nil, try row.bool("is_known") {
            earlier = .forgotten(
                EventID(try row.string("event_id")), at: try row.instant("received_at"))
        }
        let headers = try row.jsonOrNil("signature_headers")
            .map { try readObject($0, "headers of delivery \(id)") }
        return DeliveryCandidate(
            delivery: StoredDelivery(
                id: id, connector: try row.string("connector"),
                providerEventID: try row.string("provider_event_id"), body: body ?? [],
                receivedAt: try row.instant("received_at"), earlier: earlier),
            hasBody: body != nil,
            signatureHeaders: headers?.map { ($0.key, $0.value.string ?? "") },
            state: try row.string("state"), environment: try row.string("environment"),
            app: try row.stringOrNil("app"), isFirst: try row.bool("is_first"),
            customer: try row.int64OrNil("customer").map { CustomerID($0) })
    }

    /// In the order of ``matching``.
    static func values(of selection: DeliverySelection) -> [PostgresValue] {
        [
            selection.ids.isEmpty ? .null : .int8Array(selection.ids),
            .optional(selection.connector.map(storable)), .optional(selection.state),
            .optional(selection.environment.map(storable)),
            .optional(selection.event.map(storable)), .optional(selection.customer?.number),
            .optional(selection.since), .optional(selection.until),
        ]
    }
}
