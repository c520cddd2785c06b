package import FeatureModel
internal import JSON
package import Postgres
internal import TimeZones

/// Compares what is kept with what the ledger says, and makes it anew from there.
package struct LedgerAuditor: Sendable {
    private let pool: PostgresPool

    /// - Parameter pool: of the role `feature_server`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// A customer of one environment.
    package struct Subject: Sendable, Hashable {
        /// Where.
        package let environment: LedgerEnvironment
        /// Who.
        package let customer: CustomerKey

        /// As named.
        package init(environment: LedgerEnvironment, customer: CustomerKey) {
            self.environment = environment
            self.customer = customer
        }
    }

    /// Entries and accounts read at once.
    private static let page = 1_000

    /// Customers with an account or entries, in order, at most 1,000.
    package func subjects(
        in environment: LedgerEnvironment, after last: CustomerKey?
    ) async throws -> [Subject] {
        let rows = try await pool.query(
            Self.customers,
            [
                .text(environment.rawValue), .text(last?.text ?? ""), .int4(Int32(Self.page)),
            ])
        return try rows.map { row in
            Subject(
                environment: environment,
                customer: CustomerKey(checked: try row.string("customer_id")))
        }
    }

    /// What does not agree with the ledger, one sentence each; nothing when all does.
    package func check(_ subject: Subject) async throws -> [String] {
        try await pool.withTransaction(.repeatableRead) { tx in
            let key = LedgerStore.key(subject.environment, subject.customer)
            let stored = try await tx.query(Self.state, key).first
            let steps = try await Self.storedSteps(key, tx)
            var findings: [String] = []
            let orphans = try await tx.query(Self.orphans, key).only().int64("count")
            if orphans > 0 {
                findings.append("\(orphans) entries belong to operations that are not kept")
            }
            let account: CustomerAccount
            do {
                account = try await Self.replay(key, tx)
            } catch let defect as AccountDefect {
                return findings + [defect.description]
            }
            let state = try stored.map { try $0.json("state") } ?? []
            if state != account.document.bytes, stored != nil || account.revision > 0 {
                findings.append(
                    "the account is not what its \(account.revision) entries make; run rebuild")
            }
            if steps != Self.madeSteps(account) {
                findings.append("the access steps are not what the account gives; run rebuild")
            }
            return findings
        }
    }

    /// Makes account and steps anew from the entries.
    ///
    /// - Parameter author: kept with what was rebuilt.
    /// - Returns: whether anything was different.
    /// - Throws: ``FeatureModel/AccountDefect`` when the entries themselves are broken.
    package func rebuild(_ subject: Subject, by author: Authorship) async throws -> Bool {
        try await pool.withTransaction(retries: LedgerStore.retries) { tx in
            let key = LedgerStore.key(subject.environment, subject.customer)
            _ = try await tx.pipeline([
                (LedgerStore.makeAccount, key), (LedgerStore.lockAccount, key),
            ])
            let stored = try await tx.query(Self.state, key).only().json("state")
            let steps = try await Self.storedSteps(key, tx)
            let account = try await Self.replay(key, tx)
            if stored == account.document.bytes, steps == Self.madeSteps(account) { return false }
            let written = AccountWrite.steps(
                of: account.known, in: account, replacing: nil, subject.environment,
                subject.customer)
            _ = try await tx.pipelineAndCommit(
                [
                    (
                        Self.replaceState,
                        key + [.int8(account.revision), .text(account.document.text)]
                    ),
                    (Self.clearSteps, key),
                ] + written + [
                    AuditRow(
                        who: author.who, verb: "rebuild", reason: author.reason,
                        detail: [
                            "environment": .string(subject.environment.rawValue),
                            "customer": .string(subject.customer.text),
                        ]
                    ).insertion
                ])
            return true
        }
    }

    // MARK: Reading

    private static func replay(
        _ key: [PostgresValue], _ tx: PostgresTransaction
    ) async throws -> CustomerAccount {
        var account = CustomerAccount.empty
        while true {
            let rows = try await tx.query(
                entries, key + [.int8(account.revision), .int4(Int32(page))])
            for row in rows {
                let number = try row.int64("number")
                guard number == account.revision + 1 else {
                    throw AccountDefect(
                        description: "entry \(account.revision + 1) is missing from the ledger")
                }
                try account.apply(try entry(row))
            }
            if rows.count < page { return account }
        }
    }

    private static func entry(_ row: PostgresRow) throws -> AccountEntry {
        let feature = FeatureKey(checked: try row.string("feature_id"))
        let name = try row.string("entity_id")
        let entity = name.isEmpty ? nil : EntityKey(checked: name)
        return AccountEntry(
            event: try AccountEvent(
                kind: try row.string("kind"), feature: feature, entity: entity,
                document: try JSONParser.parse(try row.json("document"))),
            feature: feature, entity: entity, amount: try row.int64("amount"),
            recordedAt: Moment(try row.instant("recorded_at")),
            operation: try row.stringOrNil("operation_id").map(OperationID.init(checked:)))
    }

    /// A step with its place, as kept.
    private struct PlacedStep: Hashable {
        let feature: String
        let entity: String
        let number: Int
        let step: AccessStep
    }

    private static func storedSteps(
        _ key: [PostgresValue], _ tx: PostgresTransaction
    ) async throws -> Set<PlacedStep> {
        var steps: Set<PlacedStep> = []
        for row in try await tx.query(self.steps, key) {
            let type = FeatureType(rawValue: try row.string("type"))
            steps.insert(
                PlacedStep(
                    feature: try row.string("feature_id"), entity: try row.string("entity_id"),
                    number: Int(try row.int32("step")),
                    step: AccessStep(
                        validFrom: try row.instantOrNil("valid_from").map(Moment.init(_:)),
                        validUntil: try row.instantOrNil("valid_until").map(Moment.init(_:)),
                        changedAt: Moment(try row.instant("changed_at")),
                        access: FeatureAccess(
                            allowed: try row.bool("allowed"), unlimited: try row.bool("unlimited"),
                            balance: try row.int64OrNil("balance").map { Int($0) },
                            type: type ?? .boolean))))
        }
        return steps
    }

    private static func madeSteps(_ account: CustomerAccount) -> Set<PlacedStep> {
        var steps: Set<PlacedStep> = []
        for known in account.known {
            for (number, step) in account.timeline(of: known).enumerated() {
                steps.insert(
                    PlacedStep(
                        feature: known.feature.text, entity: known.entity?.text ?? "",
                        number: number, step: step))
            }
        }
        return steps
    }
}

extension LedgerAuditor {
    private static let customers = SQLStatement(
        "audit_customers",
        """
        (select customer_id from features.accounts
            where environment = $1 and customer_id > $2 order by customer_id limit $3)
        union
        (select distinct customer_id from features.entries
            where environment = $1 and customer_id > $2 order by customer_id limit $3)
        order by customer_id limit $3
        """, timeout: .seconds(60))

    private static let state = SQLStatement(
        "audit_state",
        "select state from features.accounts where environment = $1 and customer_id = $2")

    private static let entries = SQLStatement(
        "audit_entries",
        """
        select number, recorded_at, kind, feature_id, entity_id, amount, operation_id, document
        from features.entries
        where environment = $1 and customer_id = $2 and number > $3
        order by number limit $4
        """, timeout: .seconds(60))

    private static let steps = SQLStatement(
        "audit_steps",
        """
        select feature_id, entity_id, step::integer as step,
            nullif(valid_from, '-infinity') as valid_from,
            nullif(valid_until, 'infinity') as valid_until, changed_at, allowed, unlimited, balance,
            type
        from features.access_steps
        where environment = $1 and customer_id = $2
        """)

    private static let orphans = SQLStatement(
        "audit_orphans",
        """
        select count(*) as count from features.entries as e
        where e.environment = $1 and e.customer_id = $2 and e.operation_id is not null
            and not exists (
                select from features.operations as o
                where o.environment = e.environment and o.customer_id = e.customer_id
                    and o.operation_id = e.operation_id)
        """, timeout: .seconds(60))

    private static let replaceState = SQLStatement(
        "audit_replace_state",
        """
        update features.accounts set revision = $3, state = $4::text::json
        where environment = $1 and customer_id = $2
        """)

    private static let clearSteps = SQLStatement(
        "audit_clear_steps",
        "delete from features.access_steps where environment = $1 and customer_id = $2")
}
