internal import FailPoints
package import JourneyEngine
internal import JourneyModel
package import Postgres
package import TimeZones

/// Gives inputs that arrived under unknown or ambiguous ids to a customer's record (S10).
package struct RoutingStore: Sendable {
    /// What one call did.
    package struct Report: Sendable, Hashable {
        /// Inputs that belong to a customer now.
        package var routed = 0
        /// Inputs that carry no usable id: kept aside as `unassigned`.
        package var unassigned = 0
        package var newCustomers = 0
        /// Records that must be merged before inputs that wait for it can be routed (``MergeStore``).
        package var merges: [RecordPair] = []
        /// Inputs that wait for a merge, or for records that this call has just made.
        package var waiting = 0
        /// Another session is routing; nothing was done.
        package var isElsewhere = false

        package init() {}
    }

    /// Which subscription a delivery without a usable id is about: its connector, its provider's event id,
    /// its body and when it was received; nil for one that names none.
    package typealias Reading =
        @Sendable (_ connector: String, _ eventID: String, _ body: [UInt8], _ at: Instant) ->
        SubscriptionID?

    private let pool: PostgresPool
    private let reading: Reading

    /// What `journey.require` raises.
    private static let requirementFailed = "JW001"

    package init(
        pool: PostgresPool, reading: @escaping Reading = { _, _, _, _ in nil }
    ) {
        self.pool = pool
        self.reading = reading
    }

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
            return try await pool.withTransaction { tx in try await route(limit, tx) }
        } catch let error as PostgresError
            where error.sqlState == Self.requirementFailed || error.isRetryable
        {
            return nil
        }
    }

    private func route(
        _ limit: Int, _ tx: PostgresTransaction
    ) async throws(PostgresError) -> Report {
        var report = Report()
        guard try await tx.query(Self.electing, []).only().bool("is_ours") else {
            report.isElsewhere = true
            return report
        }
        let rows = try await tx.pipeline([
            (Self.claiming, [.int4(Int32(clamping: limit))]), (Self.rechecking, []),
        ])[0]
        if rows.isEmpty { return report }
        var unrouted: [RoutingPlan.Row] = []
        for row in rows { unrouted.append(try Self.read(row)) }
        let keys = try await subscriptions(of: rows, unrouted, tx)
        try await Self.findOwners(keys, &unrouted, tx)
        let plan = try await Self.plan(unrouted, tx)
        report.routed = plan.assigned.count
        report.unassigned = plan.unassigned.count
        report.newCustomers = plan.newRecords.count
        report.waiting = plan.waiting.count
        report.merges = plan.merges.map {
            RecordPair(one: CustomerID($0.one), other: CustomerID($0.other), input: $0.input)
        }
        try await Self.write(plan, keys, tx)
        return report
    }

    /// What inputs without an id are about, by their numbers.
    private func subscriptions(
        of rows: PostgresRows, _ unrouted: [RoutingPlan.Row], _ tx: PostgresTransaction
    ) async throws(PostgresError) -> [Int64: SubscriptionID] {
        let nameless = Set(
            unrouted.filter { $0.person.id == nil && $0.person.aliases.isEmpty }.map(\.sequence))
        if nameless.isEmpty { return [:] }
        var asked: [(sequence: Int64, delivery: Int64, receivedAt: Instant?)] = []
        for row in rows {
            let sequence = try row.int64("sequence")
            guard nameless.contains(sequence), let delivery = try row.int64OrNil("delivery") else {
                continue
            }
            asked.append((sequence, delivery, try row.instantOrNil("delivery_received_at")))
        }
        var found: [Int64: SubscriptionID] = [:]
        for part in stride(from: 0, to: asked.count, by: Self.bodiesAtOnce) {
            let asked = asked[part..<min(part + Self.bodiesAtOnce, asked.count)]
            let bodies = try await tx.query(
                Self.readingBodies,
                [
                    .int8Array(asked.map(\.sequence)), .int8Array(asked.map(\.delivery)),
                    .timestamptzArray(asked.map(\.receivedAt)),
                ])
            for row in bodies {
                found[try row.int64("sequence")] = reading(
                    try row.string("connector"), try row.string("provider_event_id"),
                    try row.bytes("body"), try row.instant("received_at"))
            }
        }
        return found
    }

    /// Bodies held in memory together, each at most as large as a request's.
    private static let bodiesAtOnce = 16

    private static func findOwners(
        _ keys: [Int64: SubscriptionID], _ rows: inout [RoutingPlan.Row],
        _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        let asked = rows.compactMap { row in keys[row.sequence].map { (row, $0) } }
        if asked.isEmpty { return }
        let answers = try await tx.query(
            findingOwners,
            [
                .int8Array(asked.map(\.0.sequence)), .textArray(asked.map(\.1.connector)),
                .textArray(asked.map { storable($0.1.key) }),
                .textArray(asked.map(\.0.environment)), .textArray(asked.map(\.0.app)),
            ])
        var owners: [Int64: Int64] = [:]
        for row in answers { owners[try row.int64("sequence")] = try row.int64("customer") }
        for place in rows.indices { rows[place].owner = owners[rows[place].sequence] }
    }

    private static func read(_ row: PostgresRow) throws(PostgresError) -> RoutingPlan.Row {
        RoutingPlan.Row(
            sequence: try row.int64("sequence"), environment: try row.string("environment"),
            app: try row.stringOrNil("app"),
            person: Event.Person(
                id: try row.stringOrNil("person_id"),
                aliases: try row.strings("aliases").compactMap { $0 },
                isAnonymous: try row.bool("person_is_anonymous")),
            joins: try row.bool("joins"))
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
        let answers = try await tx.pipeline([
            (
                looking,
                [
                    .textArray(sorted.map(\.environment)), .textArray(sorted.map(\.app)),
                    .textArray(sorted.map(\.id)),
                ]
            ), (holding, []),
        ])
        let known = answers[0]
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
        var heldKeys: Set<RoutingPlan.Key> = []
        var heldRecords: Set<RoutingPlan.Record> = []
        for row in answers[1] {
            heldKeys.insert(
                RoutingPlan.Key(
                    environment: try row.string("environment"), app: try row.string("app"),
                    id: try row.string("external_id")))
            if let customer = try row.int64OrNil("customer") {
                heldRecords.insert(.existing(customer))
            }
        }
        return RoutingPlan(
            rows: rows, links: links, identified: identified, heldKeys: heldKeys,
            heldRecords: heldRecords)
    }

    private static func write(
        _ plan: RoutingPlan, _ keys: [Int64: SubscriptionID], _ tx: PostgresTransaction
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
            let about = plan.unassigned.map { keys[$0] }
            statements.append(
                (
                    settingAside,
                    [
                        .int8Array(plan.unassigned), .textArray(about.map { $0?.connector }),
                        .textArray(about.map { $0.map { storable($0.key) } }),
                    ]
                ))
        }
        if !plan.conflicts.isEmpty {
            statements.append(
                (
                    counting,
                    [
                        .int8Array(plan.conflicts.map { number($0.one) }),
                        .int8Array(plan.conflicts.map { number($0.other) }),
                        .int8Array(plan.conflicts.map(\.input)),
                    ]
                ))
        }
        _ = try await tx.pipeline(statements)
        failPoint("route.written")
    }
}
