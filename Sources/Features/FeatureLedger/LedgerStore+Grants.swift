package import FeatureModel
package import JSON
internal import Postgres
internal import TimeZones

/// A purchase whose signature, app and environment were verified.
package struct VerifiedPurchase: Sendable, Hashable {
    /// What it says.
    package let transaction: AppStoreTransaction
    /// What was signed, as it is kept.
    package let payload: JSONValue

    /// The caller vouches for the signature.
    package init(transaction: AppStoreTransaction, payload: JSONValue) {
        self.transaction = transaction
        self.payload = payload
    }
}

/// Who changes something by hand, and why.
package struct Authorship: Sendable, Hashable {
    /// As the operating system names them.
    package let who: String
    /// In their words.
    package let reason: String

    /// As given.
    package init(who: String, reason: String) {
        self.who = who
        self.reason = reason
    }
}

extension LedgerStore {
    /// Takes in a verified purchase; the same one grants once.
    ///
    /// - Returns: the customer afterwards.
    /// - Throws: ``FeatureModel/PurchaseRefusal``; nothing is written then.
    package func record(
        _ purchase: VerifiedPurchase, for customer: CustomerKey,
        in environment: LedgerEnvironment
    ) async throws -> View {
        try await pool.withTransaction(retries: Self.retries) { tx in
            let (held, _) = try await lock(customer, environment, tx)
            let change = try await takeIn(purchase, held, tx)
            let statements = Self.write(change, held)
            if !statements.isEmpty { _ = try await tx.pipelineAndCommit(statements) }
            return View(account: change.account, catalogue: held.catalogue, now: held.now)
        }
    }

    /// Takes in what a purchase grants, and keeps the purchase; the account itself is the caller's to write.
    func takeIn(
        _ purchase: VerifiedPurchase, _ held: Held, _ tx: PostgresTransaction
    ) async throws -> AccountChange {
        let transaction = purchase.transaction
        guard let product = held.catalogue.product(appStore: transaction.productID) else {
            throw PurchaseRefusal.unknownProduct(transaction.productID)
        }
        let rows = try await tx.query(
            Self.lockPurchase, [.text(held.environment.rawValue), .text(transaction.id)])
        let seen = try rows.first.map { row in
            SeenPurchase(
                customer: CustomerKey(checked: try row.string("customer_id")),
                signedAt: Moment(try row.instant("signed_at")),
                wasGranted: try row.bool("granted"), isRevoked: try row.bool("revoked"))
        }
        if let seen, seen.customer != held.customer { throw PurchaseRefusal.otherCustomer }
        let change = try held.account.receiving(
            transaction, as: product, seen: seen, in: held.catalogue, at: held.now)
        let isStale = seen.map { transaction.signedAt <= $0.signedAt } ?? false
        if isStale { return change }
        let isGranting = change.entries.contains {
            if case .granted = $0.event { true } else { false }
        }
        let kept = try await tx.query(
            Self.upsertPurchase,
            [
                .text(held.environment.rawValue), .text(transaction.id), .text(held.customer.text),
                .text(transaction.originalID), .text(transaction.productID),
                .text(product.key.text), .timestamptz(Instant(transaction.signedAt)),
                .bool(isGranting), .text(purchase.payload.text),
            ])
        guard kept.affected == 1 else { throw PurchaseRefusal.otherCustomer }
        return change
    }

    // MARK: By hand

    /// Gives what an operator says.
    ///
    /// - Throws: ``FeatureModel/PurchaseRefusal`` when the customer can hold no more.
    package func grant(
        _ grant: OperatorGrant, to customer: CustomerKey, in environment: LedgerEnvironment,
        by author: Authorship
    ) async throws -> View {
        try await pool.withTransaction(retries: Self.retries) { tx in
            let (held, _) = try await lock(customer, environment, tx)
            let change = try held.account.granting(grant, in: held.catalogue, at: held.now)
            let audit = AuditRow(
                who: author.who, verb: "grant", reason: author.reason,
                detail: Self.detail(environment, customer, grant.id))
            _ = try await tx.pipelineAndCommit(Self.write(change, held) + [audit.insertion])
            return View(account: change.account, catalogue: held.catalogue, now: held.now)
        }
    }

    /// Ends everything of a grant for good, also of a purchase.
    ///
    /// - Returns: the customer afterwards; nil, and nothing is done, when they hold nothing of it.
    package func revoke(
        _ grant: GrantID, of customer: CustomerKey, in environment: LedgerEnvironment,
        by author: Authorship
    ) async throws -> View? {
        try await pool.withTransaction(retries: Self.retries) { tx in
            let (held, _) = try await lock(customer, environment, tx)
            guard let change = held.account.revoking(grant, at: held.now) else { return nil }
            var statements = Self.write(change, held)
            let store = "app_store:"
            if grant.text.hasPrefix(store) {
                statements.append(
                    (
                        Self.markRevoked,
                        Self.key(environment, customer) + [
                            .text(String(grant.text.dropFirst(store.count)))
                        ]
                    ))
            }
            let audit = AuditRow(
                who: author.who, verb: "revoke", reason: author.reason,
                detail: Self.detail(environment, customer, grant))
            _ = try await tx.pipelineAndCommit(statements + [audit.insertion])
            return View(account: change.account, catalogue: held.catalogue, now: held.now)
        }
    }

    /// Deletes everything about a customer. Their purchases stay without them, so that nobody is granted
    /// them again.
    ///
    /// - Returns: rows deleted or emptied; 0 when nothing was there.
    package func forget(
        _ customer: CustomerKey, in environment: LedgerEnvironment, by author: Authorship
    ) async throws -> Int {
        try await pool.withTransaction(retries: Self.retries) { tx in
            let row = try await tx.query(Self.forget, Self.key(environment, customer)).only()
            let deleted = Int(try row.int64("deleted"))
            if deleted > 0 {
                // Without their id: it would be the one thing left of them.
                let audit = AuditRow(
                    who: author.who, verb: "forget", reason: author.reason,
                    detail: [
                        "environment": .string(environment.rawValue), "rows": .integer(deleted),
                    ])
                _ = try await tx.pipelineAndCommit([audit.insertion])
            }
            return deleted
        }
    }

    private static func write(
        _ change: AccountChange, _ held: Held
    ) -> [(SQLStatement, [PostgresValue])] {
        AccountWrite(
            environment: held.environment, customer: held.customer, before: held.account,
            after: change.account, entries: change.entries
        ).statements
    }

    private static func detail(
        _ environment: LedgerEnvironment, _ customer: CustomerKey, _ grant: GrantID
    ) -> JSONValue {
        [
            "environment": .string(environment.rawValue), "customer": .string(customer.text),
            "grant": .string(grant.text),
        ]
    }
}
