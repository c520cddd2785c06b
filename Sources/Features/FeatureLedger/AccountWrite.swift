internal import FeatureModel
internal import JSON
internal import Postgres
internal import TimeZones

/// Writes what a decision made: the entries, the state they give, and the steps that others read.
struct AccountWrite {
    let environment: LedgerEnvironment
    let customer: CustomerKey
    let before: CustomerAccount
    let after: CustomerAccount
    let entries: [AccountEntry]

    /// Nothing when there are no entries. The account's row is locked by the transaction they run in.
    var statements: [(SQLStatement, [PostgresValue])] {
        if entries.isEmpty { return [] }
        // By what was touched, not by the time: two writes may fall into one millisecond.
        let changed = after.known.filter { known in
            entries.contains { $0.feature == known.feature && $0.entity == known.entity }
        }
        return [stateUpdate, insertion]
            + Self.steps(
                of: changed, in: after, replacing: before, environment, customer)
    }

    private var keys: [PostgresValue] { [.text(environment.rawValue), .text(customer.text)] }

    private var stateUpdate: (SQLStatement, [PostgresValue]) {
        (
            Self.update,
            keys + [.int8(after.revision), .text(after.document.text)]
        )
    }

    private var insertion: (SQLStatement, [PostgresValue]) {
        let first = after.revision - Int64(entries.count) + 1
        return (
            Self.insert,
            keys + [
                .int8Array(entries.indices.map { first + Int64($0) }),
                .timestamptzArray(entries.map { Instant($0.recordedAt) }),
                .textArray(entries.map(\.event.kind)), .textArray(entries.map(\.feature.text)),
                .textArray(entries.map { $0.entity?.text ?? "" }),
                .int8Array(entries.map(\.amount)), .textArray(entries.map { $0.operation?.text }),
                .textArray(entries.map { $0.event.document.text }),
            ]
        )
    }

    /// Puts the steps of some features in the place of those that stand there.
    ///
    /// - Parameter before: whose steps stand there; nil removes whatever is past the new ones.
    static func steps(
        of changed: [CustomerAccount.Known], in account: CustomerAccount,
        replacing before: CustomerAccount?, _ environment: LedgerEnvironment,
        _ customer: CustomerKey
    ) -> [(SQLStatement, [PostgresValue])] {
        if changed.isEmpty { return [] }
        var rows = StepRows()
        var surplus: [(known: CustomerAccount.Known, count: Int)] = []
        for known in changed {
            let steps = account.timeline(of: known)
            for (number, step) in steps.enumerated() { rows.add(known, number, step) }
            let old = before.map { before in
                before.known.first { $0.feature == known.feature && $0.entity == known.entity }
                    .map { before.timeline(of: $0).count } ?? 0
            }
            if old.map({ $0 > steps.count }) ?? true { surplus.append((known, steps.count)) }
        }
        let keys: [PostgresValue] = [.text(environment.rawValue), .text(customer.text)]
        var statements = [(upsertSteps, keys + rows.values)]
        if !surplus.isEmpty {
            statements.append(
                (
                    deleteSteps,
                    keys + [
                        .textArray(surplus.map(\.known.feature.text)),
                        .textArray(surplus.map { $0.known.entity?.text ?? "" }),
                        .int4Array(surplus.map { Int32($0.count) }),
                    ]
                ))
        }
        return statements
    }

    private static let update = SQLStatement(
        "account_update",
        """
        update features.accounts set revision = $3, state = $4::text::json
        where environment = $1 and customer_id = $2
        """)

    private static let insert = SQLStatement(
        "entries_insert",
        """
        insert into features.entries (environment, customer_id, number, recorded_at, kind, feature_id,
            entity_id, amount, operation_id, document)
        select $1, $2, number, recorded_at, kind, feature_id, entity_id, amount, operation_id,
            document::json
        from unnest($3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $7::text[],
            $8::bigint[], $9::text[], $10::text[])
            as e(number, recorded_at, kind, feature_id, entity_id, amount, operation_id, document)
        """)

    private static let upsertSteps = SQLStatement(
        "access_steps_upsert",
        """
        insert into features.access_steps (environment, customer_id, feature_id, entity_id, step,
            valid_from, valid_until, changed_at, allowed, unlimited, balance, type)
        select $1, $2, feature_id, entity_id, step, coalesce(valid_from, '-infinity'),
            coalesce(valid_until, 'infinity'), changed_at, allowed, unlimited, balance, type
        from unnest($3::text[], $4::text[], $5::integer[], $6::timestamptz[], $7::timestamptz[],
            $8::timestamptz[], $9::boolean[], $10::boolean[], $11::bigint[], $12::text[])
            as s(feature_id, entity_id, step, valid_from, valid_until, changed_at, allowed, unlimited,
                balance, type)
        on conflict (environment, customer_id, feature_id, entity_id, step) do update set
            valid_from = excluded.valid_from, valid_until = excluded.valid_until,
            changed_at = excluded.changed_at, allowed = excluded.allowed,
            unlimited = excluded.unlimited, balance = excluded.balance, type = excluded.type
        """)

    private static let deleteSteps = SQLStatement(
        "access_steps_delete",
        """
        delete from features.access_steps as s
        using unnest($3::text[], $4::text[], $5::integer[]) as k(feature_id, entity_id, count)
        where s.environment = $1 and s.customer_id = $2 and s.feature_id = k.feature_id
            and s.entity_id = k.entity_id and s.step >= k.count
        """)
}

/// Steps by column.
private struct StepRows {
    var features: [String?] = []
    var entities: [String?] = []
    var numbers: [Int32?] = []
    var starts: [Instant?] = []
    var ends: [Instant?] = []
    var changes: [Instant?] = []
    var allowed: [Bool?] = []
    var unlimited: [Bool?] = []
    var balances: [Int64?] = []
    var types: [String?] = []

    mutating func add(_ known: CustomerAccount.Known, _ number: Int, _ step: AccessStep) {
        features.append(known.feature.text)
        entities.append(known.entity?.text ?? "")
        numbers.append(Int32(clamping: number))
        starts.append(step.validFrom.map(Instant.init(_:)))
        ends.append(step.validUntil.map(Instant.init(_:)))
        changes.append(Instant(step.changedAt))
        allowed.append(step.access.allowed)
        unlimited.append(step.access.unlimited)
        balances.append(step.access.balance.map { Int64($0) })
        types.append(step.access.type.rawValue)
    }

    var values: [PostgresValue] {
        [
            .textArray(features), .textArray(entities), .int4Array(numbers),
            .timestamptzArray(starts), .timestamptzArray(ends), .timestamptzArray(changes),
            .boolArray(allowed), .boolArray(unlimited), .int8Array(balances), .textArray(types),
        ]
    }
}

extension Instant {
    init(_ moment: Moment) { self.init(milliseconds: moment.milliseconds) }
}

extension Moment {
    init(_ instant: Instant) { self.init(milliseconds: instant.milliseconds) }
}
