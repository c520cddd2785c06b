internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import TimeZones
internal import WorkflowDefinitions

// What only some definitions ask for: without them not a statement is sent.
extension TurnStore {
    private typealias Statement = (SQLStatement, [PostgresValue])
    private typealias Take = (inout BatchReader, PostgresRows) throws(PostgresError) -> Void

    static func loadNeeds(
        of definitions: DefinitionSet, _ reader: inout BatchReader, _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        let ids = PostgresValue.int8Array(reader.customers.map(\.number))
        var asked: [(statement: Statement, take: Take)] = []
        func ask(
            _ statement: SQLStatement, _ values: [PostgresValue], _ take: @escaping Take
        ) {
            asked.append(((statement, values), take))
        }
        if !definitions.segments.isEmpty {
            ask(loadingSegments, [ids]) { (reader, rows) throws(PostgresError) in
                try reader.takeSegments(rows)
            }
        }
        if !definitions.needs.experiments.isEmpty {
            ask(loadingAssignments, [ids]) { (reader, rows) throws(PostgresError) in
                try reader.takeAssignments(rows)
            }
        }
        if !definitions.dated.isEmpty {
            let dated = PostgresValue.textArray(definitions.dated.map(\.workflow.text))
            ask(loadingDates, [ids, dated]) { (reader, rows) throws(PostgresError) in
                try reader.takeDates(rows)
            }
            ask(loadingDateCauses, [ids, dated]) { (reader, rows) throws(PostgresError) in
                try reader.takeCauses(rows)
            }
        }
        if let history = HistoryReach(definitions.needs, oldestRun: reader.oldestRun, reader.now) {
            let names = history.names.map { PostgresValue.textArray($0.sorted()) } ?? .null
            ask(
                loadingHistory,
                [
                    ids, .timestamptz(history.since ?? .earliest), names,
                    .int4(Int32(HistoryReach.limit)),
                ]
            ) { (reader, rows) throws(PostgresError) in
                try reader.takeHistory(rows, since: history.since, limit: HistoryReach.limit)
            }
            ask(RetentionStore.readingHorizon, [.text("events")]) {
                (reader, rows) throws(PostgresError) in
                if let since = try rows.first?.instant("since") { reader.takeHorizon(since) }
            }
        }
        if !asked.isEmpty {
            let answers = try await tx.pipeline(asked.map(\.statement))
            for (place, one) in asked.enumerated() { try one.take(&reader, answers[place]) }
        }
        if definitions.readsRaw { try await loadBodies(&reader, tx) }
    }

    private static func loadBodies(
        _ reader: inout BatchReader, _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        let events = reader.deliveredEvents
        if events.isEmpty { return }
        try reader.takeBodies(
            try await tx.query(
                loadingBodies,
                [
                    .textArray(events.map(\.id.text)), .textArray(events.map(\.connector)),
                    .int8(LoadLimits.bytesOfBatch), .textArray(events.map(\.providerEventID)),
                ]))
    }

    static func load(
        _ features: Set<String>, by door: FeatureDoor, _ reader: inout BatchReader,
        _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        let environments = reader.environments
        var ids: [CustomerID: [String]] = [:]
        let values = [PostgresValue.int8Array(reader.customers.map(\.number))]
        for row in try await tx.query(loadingIDs, values) {
            let customer = CustomerID(try row.int64("customer"))
            ids[customer, default: []].append(try row.string("external_id"))
        }
        let questions = ids.sorted { $0.key < $1.key }.map { customer, ids in
            FeatureQuestion(
                customer: customer, ids: Array(ids.prefix(IdentityLimits.aliases)),
                environment: environments[customer] ?? "")
        }
        if questions.isEmpty { return }
        do {
            reader.takeFeatures(try await door(questions, features))
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(
                kind: .cancelled, message: "the feature house does not answer: \(error)")
        }
    }
}

/// How far back the questions of a definition set reach.
struct HistoryReach {
    /// Events that may be counted of one customer.
    static let limit = 10_000
    /// An event may give itself a time up to a day later than it was recorded, and inputs are taken a
    /// little out of the order of recording.
    private static let slack = Duration.seconds(2 * 86_400)

    /// Names to load; nil for all.
    let names: Set<String>?
    /// Nil for everything that is kept.
    let since: Instant?

    /// Nil when nothing is asked.
    init?(_ needs: Needs, oldestRun: Instant?, _ now: Instant) {
        if needs.histories.isEmpty { return nil }
        var names: Set<String> = []
        var since: Instant? = now
        for history in needs.histories {
            names.formUnion(history.names)
            let start = Self.start(of: history.since, oldestRun: oldestRun, now)
            since = since.flatMap { known in start.map { min($0, known) } }
        }
        // A renewal that was a recovery is stored by that name.
        if names.contains("subscription.renewed") { names.insert("subscription.recovered") }
        self.names = names.contains { $0.hasPrefix("provider:") } ? nil : names
        self.since = since.map { $0 - Self.slack }
    }

    /// Nil for everything that is kept.
    private static func start(
        of since: EventHistory.Since, oldestRun: Instant?, _ now: Instant
    ) -> Instant? {
        switch since {
        case .within(let length): return now - length
        case .run: return oldestRun ?? now
        case .instant, .ever: return nil
        case .later(let left, let right):
            let both = [left, right].map { start(of: $0, oldestRun: oldestRun, now) }
            return both.compactMap(\.self).max()
        }
    }
}
