internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import WorkflowDefinitions

extension TurnStore {
    /// Bounds on what one batch reads.
    enum LoadLimits {
        static let bytesOfCustomer: Int64 = 4 << 20
        static let bytesOfBatch: Int64 = 32 << 20
        static let log: Int32 = 1_000
    }

    /// Loads everything that the turns of `customers` will read; this transaction has locked them.
    ///
    /// - Parameter takesInputs: false for a merge, which leaves unread inputs unread.
    static func load(
        _ customers: [CustomerID], revision: Int64, _ cache: DefinitionCache,
        _ tx: PostgresTransaction, features: FeatureDoor? = nil, takesInputs: Bool = true
    ) async throws(PostgresError) -> (LoadedBatch, DefinitionSet) {
        var definitions = try await DefinitionStore.definitions(revision: revision, in: cache, tx)
        var reader = BatchReader()
        try await loadRows(customers, definitions, &reader, tx, takesInputs: takesInputs)
        try await loadByInput(&reader, tx)
        // The live versions stay those that the rows were loaded for, whatever the cache has met since.
        let older = reader.versions.filter {
            definitions.version($0.version, of: $0.workflow) == nil
        }
        if !older.isEmpty {
            let missing = cache.missing(older)
            if !missing.isEmpty { try await DefinitionStore.load(missing, into: cache, tx) }
            definitions = cache.set(definitions, with: older)
        }
        try await loadNeeds(of: definitions, &reader, tx)
        if let features, !definitions.needs.features.isEmpty {
            try await load(definitions.needs.features, by: features, &reader, tx)
        }
        return (reader.finished(), definitions)
    }

    private static func loadRows(
        _ customers: [CustomerID], _ definitions: DefinitionSet, _ reader: inout BatchReader,
        _ tx: PostgresTransaction, takesInputs: Bool
    ) async throws(PostgresError) {
        let ids = PostgresValue.int8Array(customers.map(\.number))
        let limited = definitions.live.filter { $0.definition.entry.reentry != .everyTime }
        let answers = try await tx.pipeline([
            (loadingCustomers, [ids]),
            (
                loadingInputs,
                [
                    ids, .int4(takesInputs ? Int32(CustomerTurn.inputLimit) : 0),
                    .int8(LoadLimits.bytesOfCustomer),
                    .int8(LoadLimits.bytesOfBatch),
                ]
            ),
            (loadingRuns, [ids]),
            (loadingEntries, [ids, .textArray(limited.map(\.workflow.text))]),
            (loadingLog, [ids, .int4(LoadLimits.log)]), (loadingSubscriptions, [ids]),
        ])
        try reader.takeCustomers(answers[0])
        if takesInputs { try reader.takeInputs(answers[1]) }
        try reader.takeRuns(answers[2])
        try reader.takeEntries(answers[3])
        try reader.takeLog(answers[4])
        try reader.takeSubscriptions(answers[5])
    }

    /// What the inputs' events were before, and the ended runs that results are for: known only when the
    /// inputs are.
    private static func loadByInput(
        _ reader: inout BatchReader, _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        let arriving = reader.arrivingEvents
        let causes = reader.arrivingCauses
        let resultRuns = reader.resultRuns
        let replayed = reader.replayedCustomers
        let events = PostgresValue.textArray(arriving.map(\.event.text))
        var statements: [(SQLStatement, [PostgresValue])] = []
        if !causes.isEmpty {
            statements = [
                (loadingEarlier, [events]),
                (
                    loadingCauses,
                    [
                        .int8Array(causes.map(\.customer.number)),
                        .textArray(causes.map { storable($0.cause) }),
                    ]
                ),
            ]
        }
        if !resultRuns.isEmpty {
            statements.append(
                (
                    loadingResultRuns,
                    [
                        .int8Array(resultRuns.map(\.customer.number)),
                        .textArray(resultRuns.map(\.run.text)),
                    ]
                ))
        }
        if !replayed.isEmpty {
            statements.append(
                (
                    loadingSubscribed,
                    [.int8Array(replayed.map(\.number)), .int4(LoadLimits.log)]
                ))
        }
        if statements.isEmpty { return }
        let answers = try await tx.pipeline(statements)
        if !causes.isEmpty {
            try reader.takeEarlier(answers[0])
            try reader.takeCauses(answers[1])
        }
        if !replayed.isEmpty, let rows = answers.last { try reader.takeLog(rows) }
        if !resultRuns.isEmpty {
            try reader.takeRuns(answers[causes.isEmpty ? 0 : 2])
        }
    }
}
