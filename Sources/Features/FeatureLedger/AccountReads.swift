internal import FeatureModel
internal import JSON
internal import Postgres
internal import Reactor
internal import TimeZones

/// Reads accounts for many askers at once, each as it is after they asked.
///
/// While some are being read the next ones gather, so that one statement answers as many as came
/// meanwhile; no clock decides. An account that stands as it was read last time is not sent and not
/// parsed again: its row's version says so. So nothing here is ever older than the question.
actor AccountReads {
    /// What one asker hears.
    struct Answer: Sendable {
        let account: CustomerAccount
        /// Of the live catalogue; 0 for none.
        let version: Int
        /// The database's time, after the question.
        let now: Moment
    }

    private struct Key: Hashable {
        let environment: LedgerEnvironment
        let customer: CustomerKey
    }

    private struct Waiter {
        let key: Key
        let continuation: CheckedContinuation<Result<Answer, any Error>, Never>
    }

    /// An account as it stood in one version of its row.
    private struct Known {
        let account: CustomerAccount
        let rowVersion: Int64
    }

    /// Askers in one statement.
    private static let group = 100
    /// Places in a statement at the least, with empty ones past the askers: for fewer than the ten that the
    /// planner takes unknown arrays for, it would plan each time anew, which costs more than reading.
    private static let leastPlaces = 12
    /// Statements under way at once: two keep a core of the database busy and leave the pool to writers.
    private static let statements = 2
    /// Accounts kept, twice: what is asked for again outlives the older half.
    private static let mostKnown = 4_096

    private let pool: PostgresPool
    private let loop: EventLoop
    private var waiting: [Waiter] = []
    private var statementsUnderWay = 0
    private var young: [Key: Known] = [:]
    private var old: [Key: Known] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(pool: PostgresPool) {
        self.pool = pool
        loop = pool.loop
    }

    /// The account as it is now; locks nothing. Who asks bounds how many wait.
    func read(_ customer: CustomerKey, in environment: LedgerEnvironment) async throws -> Answer {
        let key = Key(environment: environment, customer: customer)
        let result = await withCheckedContinuation { continuation in
            waiting.append(Waiter(key: key, continuation: continuation))
            startStatements()
        }
        return try result.get()
    }

    private func startStatements() {
        while statementsUnderWay < Self.statements, !waiting.isEmpty {
            let group = Array(waiting.prefix(Self.group))
            waiting.removeFirst(group.count)
            statementsUnderWay += 1
            Task(executorPreference: loop.tasks) { await self.answer(group) }
        }
    }

    private func answer(_ group: [Waiter]) async {
        do {
            let known = group.map { self.known($0.key) }
            let empty = max(0, Self.leastPlaces - group.count)
            let nobody = [String?](repeating: "", count: empty)
            let rows = try await pool.query(
                Self.select,
                [
                    .textArray(group.map(\.key.environment.rawValue) + nobody),
                    .textArray(group.map(\.key.customer.text) + nobody),
                    .int8Array(
                        known.map { $0?.rowVersion ?? 0 } + [Int64?](repeating: 0, count: empty)),
                ])
            guard rows.count == group.count + empty else {
                throw PostgresError(
                    kind: .decoding,
                    message: "\(group.count) accounts were asked for and \(rows.count) came")
            }
            for (index, row) in rows.enumerated() where index < group.count {
                let result: Result<Answer, any Error>
                do {
                    result = .success(try answer(row, group[index].key, known[index]))
                } catch {
                    result = .failure(error)
                }
                group[index].continuation.resume(returning: result)
            }
        } catch {
            for waiter in group { waiter.continuation.resume(returning: .failure(error)) }
        }
        statementsUnderWay -= 1
        startStatements()
    }

    private func answer(_ row: PostgresRow, _ key: Key, _ known: Known?) throws -> Answer {
        let rowVersion = try row.int64OrNil("row_version")
        let account: CustomerAccount
        if let rowVersion, let known, known.rowVersion == rowVersion {
            account = known.account
        } else {
            account = try LedgerStore.account(row)
            if let rowVersion { keep(Known(account: account, rowVersion: rowVersion), key) }
        }
        return Answer(
            account: account, version: Int(try row.int32("version")),
            now: Moment(try row.instant("now")))
    }

    private func known(_ key: Key) -> Known? {
        if let found = young[key] { return found }
        guard let found = old[key] else { return nil }
        keep(found, key)
        return found
    }

    private func keep(_ known: Known, _ key: Key) {
        if young.count >= Self.mostKnown {
            old = young
            young = [:]
        }
        young[key] = known
    }

    /// In the order of the questions. `xmin` alone comes again once in four thousand million transactions,
    /// and `revision` alone after a customer was forgotten: both together tell one state from another.
    private static let select = SQLStatement(
        "accounts_read",
        """
        select a.row_version, case when a.row_version = w.known then null else a.state end as state,
            (select coalesce(max(version), 0) from features.catalogues) as version,
            clock_timestamp() as now
        from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality
                as w(environment, customer_id, known, place)
            left join lateral (
                select state, ((revision & 2147483647) << 32) | xmin::text::bigint as row_version
                from features.accounts
                where environment = w.environment and customer_id = w.customer_id
                limit 1
            ) as a on true
        order by w.place
        """)
}
