internal import JSON
internal import JourneyModel
internal import Postgres

// An operator's word that two ids are one person: an unrouted input like the app's own, so that whatever
// arrives meanwhile keeps its place behind it (S10).
extension CommandStore {
    /// Stores the word; routing merges the records, identified or not, and then says that it was done.
    ///
    /// - Returns: the audit's number, under which ``outcomes(of:)`` tells that it was done.
    package func alias(
        _ id: String, _ other: String, environment: String, app: String?, _ request: Request
    ) async throws -> Int64 {
        try await pool.withTransaction { tx in
            let audit = try await Self.record(request, tx)
            _ = try await tx.query(
                Self.aliasing,
                [
                    .int8(audit), .text(storable(environment)), .optional(app.map(storable)),
                    .text(storable(id)), .text(storable(other)),
                ])
            return audit
        }
    }

    static let aliasing = SQLStatement(
        "command_alias",
        """
        with queued as (
            insert into journey.inbox (
                kind, payload, environment, app, person_id, person_is_anonymous, aliases, joins
            )
            values (
                'alias', json_build_object('audit', $1::bigint), $2, $3, $4, false,
                array[$5::text], true
            )
            returning sequence
        )
        insert into journey.unrouted_ids (environment, app, external_id, sequence)
        select $2, coalesce($3::text, ''), w.external_id, q.sequence
        from queued q
        cross join (select $4::text as external_id union select $5::text) w
        order by 1, 2, 3, 4
        """)
}
