internal import FailPoints
internal import JourneyModel
package import Postgres

/// Gives inputs that arrived under unknown or ambiguous ids to a customer's record (S10).
package struct RoutingStore: Sendable {
    /// What one call did.
    package struct Report: Sendable, Hashable {
        /// Inputs that belong to a customer now.
        package var routed = 0
        /// Inputs that carry no usable id: kept aside as `unassigned`.
        package var unassigned = 0
        package var newCustomers = 0
        /// Another session is routing; nothing was done.
        package var isElsewhere = false

        package init() {}
    }

    private let pool: PostgresPool

    /// What `journey.require` raises.
    private static let requirementFailed = "JW001"

    package init(pool: PostgresPool) { self.pool = pool }

    /// Routes up to `limit` of the oldest inputs without a customer.
    ///
    /// One session routes at a time, so that the inputs of one new customer keep their order. An id that
    /// somebody else linked meanwhile is read again, at most three times.
    package func route(limit: Int) async throws -> Report {
        var tries = 0
        while true {
            if let report = try await attempt(limit) { return report }
            tries += 1
            if tries == 3 {
                throw PostgresError(
                    kind: .server, message: "ids were linked by others three times while routing",
                    sqlState: "40001", statement: Self.linking.name)
            }
        }
    }

    /// Nil when another session linked one of the ids first: everything is taken back.
    private func attempt(_ limit: Int) async throws -> Report? {
        do {
            return try await pool.withTransaction { tx in try await Self.route(limit, tx) }
        } catch let error as PostgresError
            where error.sqlState == Self.requirementFailed || error.isRetryable
        {
            return nil
        }
    }

    private static func route(
        _ limit: Int, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> Report {
        var report = Report()
        guard try await tx.query(electing, []).only().bool("is_ours") else {
            report.isElsewhere = true
            return report
        }
        let rows = try await tx.query(claiming, [.int4(Int32(clamping: limit))])
        if rows.isEmpty { return report }
        var unrouted: [RoutingPlan.Row] = []
        for row in rows { unrouted.append(try read(row)) }
        let plan = try await plan(unrouted, tx)
        report.routed = plan.assigned.count
        report.unassigned = plan.unassigned.count
        report.newCustomers = plan.newRecords.count
        try await write(plan, tx)
        return report
    }

    private static func read(_ row: PostgresRow) throws(PostgresError) -> RoutingPlan.Row {
        RoutingPlan.Row(
            sequence: try row.int64("sequence"), environment: try row.string("environment"),
            app: try row.stringOrNil("app"),
            person: Event.Person(
                id: try row.stringOrNil("person_id"),
                aliases: try row.strings("aliases").compactMap { $0 },
                isAnonymous: try row.bool("person_is_anonymous")))
    }

    private static func plan(
        _ rows: [RoutingPlan.Row], _ tx: PostgresTransaction
    ) async throws(PostgresError) -> RoutingPlan {
        var keys: Set<RoutingPlan.Key> = []
        for row in rows {
            for id in row.person.aliases + (row.person.id.map { [$0] } ?? []) {
                keys.insert(
                    RoutingPlan.Key(environment: row.environment, app: row.app ?? "", id: id))
            }
        }
        let sorted = keys.sorted()
        let known = try await tx.query(
            looking,
            [
                .textArray(sorted.map(\.environment)), .textArray(sorted.map(\.app)),
                .textArray(sorted.map(\.id)),
            ])
        var links: [RoutingPlan.Key: RoutingPlan.Link] = [:]
        var identified: Set<RoutingPlan.Record> = []
        for row in known {
            let key = RoutingPlan.Key(
                environment: try row.string("environment"), app: try row.string("app"),
                id: try row.string("external_id"))
            let record = RoutingPlan.Record.existing(try row.int64("customer"))
            links[key] = RoutingPlan.Link(record: record, isOwn: try row.bool("is_own"))
            if try row.bool("is_identified") { identified.insert(record) }
        }
        return RoutingPlan(rows: rows, links: links, identified: identified)
    }

    private static func write(
        _ plan: RoutingPlan, _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        let realms = plan.newRecords
        var made: [Int64] = []
        for row in try await tx.query(
            making,
            [.textArray(realms.map(\.environment)), .textArray(realms.map { $0.app })])
        {
            made.append(try row.int64("id"))
        }
        func number(_ record: RoutingPlan.Record) -> Int64 {
            switch record {
            case .existing(let number): number
            case .new(let place): made[place]
            }
        }
        func columns(_ links: [RoutingPlan.Key: RoutingPlan.Link]) -> [PostgresValue] {
            let sorted = links.sorted { $0.key < $1.key }
            return [
                .textArray(sorted.map(\.key.environment)), .textArray(sorted.map(\.key.app)),
                .textArray(sorted.map(\.key.id)),
                .int8Array(sorted.map { number($0.value.record) }),
                .boolArray(sorted.map(\.value.isOwn)),
            ]
        }
        let assigned = plan.assigned.sorted { $0.key < $1.key }
        var statements = [
            (linking, columns(plan.added)),
            (
                assigning,
                [
                    PostgresValue.int8Array(assigned.map(\.key)),
                    .int8Array(assigned.map { number($0.value) }),
                ]
            ),
        ]
        if !plan.raised.isEmpty { statements.append((raising, columns(plan.raised))) }
        if !plan.unassigned.isEmpty {
            statements.append((settingAside, [.int8Array(plan.unassigned)]))
        }
        if plan.conflicts > 0 {
            statements.append((counting, [.int8(Int64(plan.conflicts))]))
        }
        _ = try await tx.pipeline(statements)
        failPoint("route.written")
    }
}
