internal import FailPoints
package import JourneyModel
package import JourneyTurns
package import Postgres

/// Runs turns: locks customers that have something to do, loads, has it decided, writes (S1).
package struct TurnStore: Sendable {
    /// Decides one customer's turn; pure. An error sets the customer aside, and nobody else; `Unserved`
    /// never for good.
    package typealias Decide = @Sendable (CustomerTurn, DefinitionSet) throws -> TurnResult

    /// What one call did.
    package struct Report: Sendable, Hashable {
        /// Turns that were written.
        package var turns = 0
        /// Inputs that those turns took.
        package var inputs = 0
        package var requestedEffects = 0
        /// Customers whose turn failed and was put off, each with the sentence that says why.
        package var failed: [CustomerID: String] = [:]
        /// Those of ``failed`` who wait for what this process lacks (`Unserved`).
        package var unserved: Set<CustomerID> = []
        /// Customers that were locked; 0 means that nothing is to do now.
        package var claimed = 0

        package init() {}
    }

    private let pool: PostgresPool
    private let definitions: DefinitionCache
    private let features: FeatureDoor?

    /// Customers that one batch may lock.
    package static let batchLimit = 500
    /// Turns of one customer that may fail in a row before it is stuck.
    package static let attemptLimit = 5
    /// Unread rows looked at for each customer wanted, before others are found from customer to customer.
    private static let rowsPerCustomer = 16
    /// How often a batch that met a deadlock is tried again.
    private static let retryLimit = 3
    /// How often time may run out within one call before it gives up on all that is left.
    private static let timeoutLimit = 5

    /// - Parameter features: the door to the feature house; without one nothing is known of features.
    package init(
        pool: PostgresPool, definitions: DefinitionCache, features: FeatureDoor? = nil
    ) {
        self.pool = pool
        self.definitions = definitions
        self.features = features
    }

    /// Takes the turns of up to `limit` customers, oldest inputs and timers first, in one transaction.
    ///
    /// When the batch cannot be written, it is parted until the customer to blame stands alone; that one
    /// is retried after a growing pause and, after ``attemptLimit`` failures, set aside as stuck (S18).
    /// Neighbours of a customer whose turn takes too long come first: parts that run out of time are put
    /// behind the others.
    ///
    /// The unread rows of a stuck customer stay at the head of the backlog: each claim steps over all of
    /// them, with one look at an index for each. Some thousands cost it milliseconds; a stuck customer
    /// with very many is to be retried, or its inputs discarded, before claims get slow.
    /// - Throws: `PostgresError` when the database is out of reach, refuses for reasons that lie with
    ///   no customer, or is too slow for several; then nothing of the part in hand was written.
    package func turn(limit: Int, decide: Decide) async throws -> Report {
        precondition((1...Self.batchLimit).contains(limit), "a batch of \(limit)")
        var report = Report()
        #if DEBUG
            if TurnJournal.isKept { try await TurnJournal.open(pool) }
        #endif
        do {
            try await run(.oldest(limit), decide, &report)
        } catch let slow as SlowPart {
            var timeouts = 1
            try await part(slow.customers, slow.error, decide, &report, &timeouts)
        }
        return report
    }

    enum Selection {
        case oldest(Int)
        case these([CustomerID])
    }

    /// Several customers for whom time ran out: any of them may be to blame.
    private struct SlowPart: Error {
        let customers: [CustomerID]
        let error: PostgresError
    }

    /// Runs one batch. One that fails for reasons that may lie with one customer is parted at once, but
    /// where time runs out the caller is told, so that it can let others go first.
    private func run(
        _ selection: Selection, _ decide: Decide, _ report: inout Report
    ) async throws {
        var selection = selection
        var tries = 0
        while true {
            var claimed: [CustomerID] = []
            do {
                let done = try await pool.withTransaction { tx in
                    claimed = []
                    return try await attempt(selection, decide, &claimed, tx)
                }
                report.add(done)
                return
            } catch let error as PostgresError
                where tries < Self.retryLimit
                && (error.isRetryable || error.isTakenValue
                    || error.isKnownEvent && claimed.count == 1)
            {
                // Whose event id another turn has just placed reads that event now.
                tries += 1
                if !claimed.isEmpty { selection = .these(claimed) }
            } catch let error as PostgresError where error.mayLieWithOneCustomer {
                if claimed.isEmpty { throw error }
                if claimed.count == 1 { return try await setAside(claimed[0], error, &report) }
                if error.kind == .timedOut { throw SlowPart(customers: claimed, error: error) }
                for half in claimed.parts(of: (claimed.count + 1) / 2) {
                    try await run(.these(half), decide, &report)
                }
                return
            }
        }
    }

    /// Takes the customers of a batch that ran out of time in parts; whoever stands in a part that runs
    /// out of time again is tried alone, after all the others.
    private func part(
        _ customers: [CustomerID], _ error: PostgresError, _ decide: Decide,
        _ report: inout Report, _ timeouts: inout Int
    ) async throws {
        let size = customers.count > 32 ? Int(Double(customers.count).squareRoot()) : 1
        var slow: [SlowPart] = []
        for part in customers.parts(of: size) {
            let failed = report.failed.count
            do {
                try await run(.these(part), decide, &report)
            } catch let again as SlowPart {
                timeouts += 1
                slow.append(again)
            }
            if size == 1, report.failed.count > failed { timeouts += 1 }
            // Time runs out for everybody: that lies with no customer.
            if timeouts > Self.timeoutLimit { throw error }
        }
        for again in slow {
            try await self.part(again.customers, again.error, decide, &report, &timeouts)
        }
    }

    private func setAside(
        _ customer: CustomerID, _ error: PostgresError, _ report: inout Report
    ) async throws {
        // Time may run out for everybody on a slow day: that alone makes nobody stuck.
        let attempts = error.kind == .timedOut ? Int.max : Self.attemptLimit
        let values = Self.settingAsideValues([customer: error.description], attempts: attempts)
        _ = try await pool.query(Self.settingAside, values)
        report.failed[customer] = error.description
        report.claimed += 1
    }

    /// One transaction. `claimed` tells the caller whom it held when it throws.
    private func attempt(
        _ selection: Selection, _ decide: Decide, _ claimed: inout [CustomerID],
        _ tx: PostgresTransaction
    ) async throws -> Report {
        var report = Report()
        let revision: Int64
        (claimed, revision) = try await Self.claim(selection, tx)
        report.claimed = claimed.count
        if claimed.isEmpty { return report }
        failPoint("turn.locked")
        let (batch, set) = try await Self.load(
            claimed, revision: revision, definitions, tx, features: features)
        failPoint("turn.loaded")
        var results = Self.decide(batch.turns, set, decide, &report)
        report.failed.merge(batch.unreadable) { $1 }
        try await Self.settleClaims(&results, batch, set, decide, &report, tx)
        failPoint("turn.decided")
        _ = try await tx.pipelineAndCommit(
            Self.writing(
                results, batch, set, failed: report.failed, unserved: report.unserved))
        failPoint("turn.committed")
        report.turns = results.count
        report.inputs = results.reduce(0) { $0 + $1.takenInputs.count }
        report.requestedEffects = results.reduce(0) { $0 + $1.requests.count + $1.outbound.count }
        return report
    }

    /// Locks customers, and reads which definitions are current. Nothing else is read here: this
    /// statement's snapshot is older than its locks.
    static func claim(
        _ selection: Selection, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> (customers: [CustomerID], revision: Int64) {
        let claim: (SQLStatement, [PostgresValue]) =
            switch selection {
            case .oldest(let limit):
                (
                    claiming,
                    [
                        .int4(Int32(limit)), .int4(Int32(limit * rowsPerCustomer)),
                        .double(Double.random(in: 0...1)),
                    ]
                )
            case .these(let customers):
                (claimingThese, [.int8Array(customers.map(\.number))])
            }
        let answers = try await tx.pipeline([claim, (readingRevision, [])])
        var customers: [CustomerID] = []
        for row in answers[0] { customers.append(CustomerID(try row.int64("id"))) }
        return (customers.sorted(), try answers[1].only().int64("revision"))
    }

    static func decide(
        _ turns: [CustomerTurn], _ set: DefinitionSet, _ decide: Decide, _ report: inout Report
    ) -> [TurnResult] {
        var results: [TurnResult] = []
        for turn in turns {
            do {
                let result = try decide(turn, set)
                let loaded = turn.inputs.map(\.sequence).sorted()
                if result.takenInputs.sorted() == loaded, result.customer.id == turn.customer.id {
                    results.append(result)
                } else {
                    report.failed[turn.customer.id] =
                        "the turn did not take exactly the inputs it was given; report this fault"
                }
            } catch {
                report.failed[turn.customer.id] = String(describing: error)
                if error is Unserved { report.unserved.insert(turn.customer.id) }
            }
        }
        return results
    }

    static func writing(
        _ results: [TurnResult], _ batch: LoadedBatch, _ set: DefinitionSet,
        failed: [CustomerID: String], unserved: Set<CustomerID> = []
    ) -> [(SQLStatement, [PostgresValue])] {
        var statements: [(SQLStatement, [PostgresValue])] = []
        if !results.isEmpty {
            statements += BatchWriter(results, of: batch, set).statements
            #if DEBUG
                if let journal = TurnJournal.writing(results, batch, set) {
                    statements.append(journal)
                }
            #endif
        }
        if !batch.forwards.isEmpty {
            let forwards = batch.forwards.sorted { $0.key < $1.key }
            let merged = PostgresValue.int8Array(forwards.map(\.key.number))
            statements.append(
                (forwardingInputs, [merged, .int8Array(forwards.map(\.value.number))]))
            statements.append((droppingForwardedTimers, [merged]))
        }
        let recovered = results.map(\.customer.id).filter(batch.retried.contains)
        if !recovered.isEmpty {
            statements.append((clearingSetAside, [.int8Array(recovered.map(\.number))]))
        }
        if !failed.isEmpty {
            statements.append((settingAside, settingAsideValues(failed, unserved: unserved)))
        }
        return statements
    }

    private static func settingAsideValues(
        _ failed: [CustomerID: String], unserved: Set<CustomerID> = [],
        attempts: Int = attemptLimit
    ) -> [PostgresValue] {
        let sorted = failed.sorted { $0.key < $1.key }
        return [
            .int8Array(sorted.map(\.key.number)),
            .textArray(sorted.map { storable(String($0.value.prefix(2_000))) }),
            .int4(Int32(clamping: attempts)), .boolArray(sorted.map { unserved.contains($0.key) }),
        ]
    }
}

extension TurnStore.Report {
    fileprivate mutating func add(_ other: Self) {
        turns += other.turns
        inputs += other.inputs
        requestedEffects += other.requestedEffects
        failed.merge(other.failed) { $1 }
        unserved.formUnion(other.unserved)
        claimed += other.claimed
    }
}

extension [CustomerID] {
    fileprivate func parts(of size: Int) -> [[CustomerID]] {
        stride(from: 0, to: count, by: Swift.max(size, 1)).map {
            Array(self[$0..<Swift.min($0 + Swift.max(size, 1), count)])
        }
    }
}

extension PostgresError {
    /// Whether a value of `once_per` was taken by somebody else after this turn had looked for it.
    fileprivate var isTakenValue: Bool {
        sqlState == "JW001" && statement == TurnStore.claimingValues.name
    }

    /// Whether an event id was placed by somebody else after this turn had looked for it.
    fileprivate var isKnownEvent: Bool {
        sqlState == "JW001" && statement == TurnStore.insertingEvents.name
    }

    /// Whether the values of one customer may be the cause: data, integrity, size, a check of ours, or
    /// time. Missing tables, rights, disk or connections are nobody's in particular.
    fileprivate var mayLieWithOneCustomer: Bool {
        if outcomeUnknown { return false }
        if kind == .timedOut || isRetryable { return true }
        guard kind == .server, let sqlState else { return false }
        return ["21", "22", "23", "54", "P0", "JW"].contains(String(sqlState.prefix(2)))
    }
}
