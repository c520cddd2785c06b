package import FeatureModel
package import JSON
package import Postgres
internal import TimeZones

/// The only writer of feature access.
///
/// Lock order: a customer's row of `accounts` first, then a row of `purchases`; nothing else is locked, and
/// no transaction locks two customers. So writers of one customer follow each other, writers of different
/// ones never wait except for the same store transaction, and no circle of waits can form.
/// The lock is taken in one statement and everything else is read in later ones, whose snapshots are then
/// as new as the lock.
package struct LedgerStore: Sendable {
    let pool: PostgresPool
    let catalogues: CatalogueStore
    /// Nil takes the database's clock, which all servers share.
    let clock: (@Sendable () -> Moment)?
    private let reads: AccountReads

    /// How often a transaction is tried again after a serialization failure or a deadlock.
    static let retries = 3

    /// - Parameters:
    ///   - pool: of the role `feature_server`.
    ///   - clock: for tests that live at another time.
    package init(
        pool: PostgresPool, catalogues: CatalogueStore, clock: (@Sendable () -> Moment)? = nil
    ) {
        self.pool = pool
        self.catalogues = catalogues
        self.clock = clock
        reads = AccountReads(pool: pool)
    }

    /// A customer's account with what it is to be read by.
    package struct View: Sendable {
        /// Empty for a customer of whom nothing is known.
        package let account: CustomerAccount
        /// The live catalogue.
        package let catalogue: Catalogue
        /// The database's time.
        package let now: Moment
    }

    /// Reads an account; locks nothing.
    package func view(
        of customer: CustomerKey, in environment: LedgerEnvironment
    ) async throws -> View {
        let answer = try await reads.read(customer, in: environment)
        let published = try await catalogues.catalogue(answer.version) {
            (statement, values) async throws(PostgresError) in
            try await pool.query(statement, values)
        }
        return View(
            account: answer.account, catalogue: published.catalogue, now: clock?() ?? answer.now)
    }

    // MARK: Consuming

    /// What became of a command.
    package enum ConsumeOutcome: Sendable, Hashable {
        /// Accepted or denied, now or (as a replay) earlier.
        case decided(Receipt, isReplay: Bool)
        /// The id was used for another command.
        case conflict
    }

    /// Decides a command once, and keeps the decision under its operation id.
    ///
    /// - Parameters:
    ///   - purchase: verified; it is taken in first and stands, whatever is decided then.
    ///   - metadata: kept with the decision.
    /// - Throws: ``FeatureModel/PurchaseRefusal``; nothing is written then.
    package func consume(
        _ command: ConsumeCommand, purchase: VerifiedPurchase? = nil, metadata: JSONValue? = nil,
        in environment: LedgerEnvironment
    ) async throws -> ConsumeOutcome {
        try await pool.withTransaction(retries: Self.retries) { tx in
            let find: (SQLStatement, [PostgresValue]) = (
                Self.findOperation,
                Self.key(environment, command.customer) + [.text(command.operation.text)]
            )
            let (held, rows) = try await lock(command.customer, environment, tx, also: [find])
            var account = held.account
            var writes: [AccountEntry] = []
            if let purchase {
                let change = try await takeIn(purchase, held, tx)
                account = change.account
                writes = change.entries
            }
            let outcome: ConsumeOutcome
            var statements: [(SQLStatement, [PostgresValue])] = []
            if let saved = rows[0].first {
                outcome = try Self.saved(saved, command)
            } else {
                let decision = account.deciding(command, in: held.catalogue, at: held.now)
                account = decision.account
                writes += decision.entries
                outcome = .decided(decision.receipt, isReplay: false)
                statements.append(
                    Self.insertion(of: decision.receipt, metadata: metadata, environment))
            }
            let write = AccountWrite(
                environment: environment, customer: command.customer, before: held.account,
                after: account, entries: writes)
            statements = write.statements + statements
            if !statements.isEmpty { _ = try await tx.pipelineAndCommit(statements) }
            return outcome
        }
    }

    /// The decision under an id that is taken.
    private static func saved(
        _ row: PostgresRow, _ command: ConsumeCommand
    ) throws -> ConsumeOutcome {
        guard try row.string("fingerprint") == command.fingerprint else { return .conflict }
        let json = try JSONParser.parse(try row.json("receipt"))
        guard let receipt = Receipt(wire: json, mode: command.mode) else {
            throw AccountDefect(
                description: "the saved receipt of an operation cannot be read; run the version of "
                    + "feature-server that wrote it")
        }
        return .decided(receipt, isReplay: true)
    }

    private static func insertion(
        of receipt: Receipt, metadata: JSONValue?, _ environment: LedgerEnvironment
    ) -> (SQLStatement, [PostgresValue]) {
        (
            insertOperation,
            key(environment, receipt.command.customer) + [
                .text(receipt.command.operation.text), .timestamptz(Instant(receipt.occurredAt)),
                .text(receipt.command.fingerprint), .text(receipt.wire(isReplay: false).text),
                .optional(metadata.map(\.text)),
            ]
        )
    }

    // MARK: Locking

    /// A customer whose row is locked until the transaction ends.
    struct Held {
        let customer: CustomerKey
        let environment: LedgerEnvironment
        let account: CustomerAccount
        let catalogue: Catalogue
        let now: Moment
    }

    /// Locks a customer's account, making it when it is not there.
    ///
    /// - Parameter more: read in the same round trip, after the lock.
    func lock(
        _ customer: CustomerKey, _ environment: LedgerEnvironment, _ tx: PostgresTransaction,
        also more: [(SQLStatement, [PostgresValue])] = []
    ) async throws -> (Held, [PostgresRows]) {
        let key = Self.key(environment, customer)
        let asks = [(Self.lockAccount, key), (CatalogueStore.newest, [])] + more
        var rows = try await tx.pipeline(asks)
        if rows[0].isEmpty {
            rows = try await tx.pipeline([(Self.makeAccount, key)] + asks)
            rows.removeFirst()
        }
        let row = try rows[0].only()
        let version = Int(try rows[1].only().int32("version"))
        let published = try await catalogues.catalogue(version) {
            (statement, values) async throws(PostgresError) in
            try await tx.query(statement, values)
        }
        let held = Held(
            customer: customer, environment: environment, account: try Self.account(row),
            catalogue: published.catalogue, now: try clock?() ?? Moment(row.instant("now")))
        return (held, Array(rows.dropFirst(2)))
    }

    static func key(
        _ environment: LedgerEnvironment, _ customer: CustomerKey
    ) -> [PostgresValue] {
        [.text(environment.rawValue), .text(customer.text)]
    }

    static func account(_ row: PostgresRow) throws -> CustomerAccount {
        guard let state = try row.jsonOrNil("state") else { return .empty }
        return try CustomerAccount(document: try JSONParser.parse(state))
    }
}
