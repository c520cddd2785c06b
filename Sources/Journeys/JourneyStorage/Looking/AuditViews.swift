package import JSON
internal import Postgres
package import TimeZones

/// Which audit rows to list; every condition that is set must hold.
package struct AuditFilter: Sendable, Hashable {
    package var ids: [Int64]?
    package var who: String?
    package var verb: String?
    package var since: Instant?
    package var until: Instant?
    /// 1 to 1,000.
    package var limit = 100

    package init() {}
}

/// Who changed something, when, by which verb, and why.
package struct AuditView: Sendable, Hashable {
    package var id: Int64
    package var at: Instant
    package var who: String
    package var verb: String
    package var reason: String
    /// What was selected, as the verb wrote it.
    package var detail: JSONObject
    /// Commands that turns carried out, and refused, so far.
    package var done: Int
    package var refused: Int
}

extension LookStore {
    /// Audit rows, the newest first.
    package func audit(_ filter: AuditFilter) async throws -> [AuditView] {
        try await look { tx in
            let rows = try await tx.query(
                Self.listingAudit,
                [
                    filter.ids.map { .int8Array($0) } ?? .null, .optional(filter.who),
                    .optional(filter.verb), .optional(filter.since), .optional(filter.until),
                    Self.limit(filter.limit),
                ])
            return try rows.map { row in
                let id = try row.int64("id")
                return AuditView(
                    id: id, at: try row.instant("at"), who: try row.string("who"),
                    verb: try row.string("verb"), reason: try row.string("reason"),
                    detail: try row.jsonOrNil("detail").map {
                        try readObject($0, "detail of audit \(id)")
                    } ?? JSONObject(),
                    done: Int(try row.int64("done")), refused: Int(try row.int64("refused")))
            }
        }
    }

    static let listingAudit = SQLStatement(
        "look_audit",
        """
        select a.id, a.at, a.who, a.verb, a.reason, a.detail,
            (
                select count(*) from journey.command_outcomes o
                where o.audit = a.id and o.outcome = 'done'
            ) as done,
            (
                select count(*) from journey.command_outcomes o
                where o.audit = a.id and o.outcome <> 'done'
            ) as refused
        from journey.audit a
        where ($1::bigint[] is null or a.id = any ($1))
            and ($2::text is null or a.who = $2)
            and ($3::text is null or a.verb = $3)
            and ($4::timestamptz is null or a.at >= $4)
            and ($5::timestamptz is null or a.at < $5)
        order by a.id desc
        limit $6::integer
        """)
}
