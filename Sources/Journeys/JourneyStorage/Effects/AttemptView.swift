internal import JSON
package import JourneyEngine
package import JourneyModel
internal import Postgres
package import TimeZones

/// One attempt of an effect, as it was made: what a run's history calls `attempted`. It is written when the
/// attempt starts and ends, outside any turn, and so stands beside the decisions.
package struct AttemptView: Sendable, Hashable {
    package var invocation: InvocationID
    package var step: StepID
    /// Counts the effect's leases from 1.
    package var number: Int
    package var fence: Int64
    package var startedAt: Instant
    /// Nil while it is under way.
    package var endedAt: Instant?
    /// `succeeded`, or the error's word.
    package var outcome: String?
    package var isAmbiguous: Bool
    /// Whether the account was known to honour the key as it started; nil where that is not known.
    package var isIdempotent: Bool?
    /// The beginning of what came back, at most 4 KB.
    package var excerpt: String?
    /// When it came back after its lease was lost: it changed nothing then.
    package var lateAt: Instant?

    /// As `history.md` has it.
    package var entry: HistoryEntry {
        var members = JSONObject([
            ("step", .string(step.text)), ("invocation", .string(invocation.text)),
            ("number", .integer(number)), ("fence", .integer(fence)),
            ("started_at", .string(startedAt.description)),
        ])
        members["ended_at"] = endedAt.map { .string($0.description) }
        members["outcome"] = outcome.map { .string($0) }
        if isAmbiguous { members["ambiguous"] = true }
        members["idempotent"] = isIdempotent.map { .bool($0) }
        members["excerpt"] = excerpt.map { .string($0) }
        members["late_at"] = lateAt.map { .string($0.description) }
        return HistoryEntry(.attempted, members)
    }
}

extension LookStore {
    /// A run's attempts in order. A lease that was lost or handed back is none: nobody knows, or it is known
    /// not to have been made. One that came back late is.
    package func attempts(of run: RunID) async throws -> [AttemptView] {
        try await attempts(of: [run])[run] ?? []
    }

    /// The attempts of these runs, each run's in order, at most 10,000 a call.
    package func attempts(of runs: [RunID]) async throws -> [RunID: [AttemptView]] {
        if runs.isEmpty { return [:] }
        return try await look { tx in
            var found: [RunID: [AttemptView]] = [:]
            for row in try await tx.query(Self.listingAttempts, [.textArray(runs.map(\.text))]) {
                found[RunID(try row.string("run")), default: []].append(
                    AttemptView(
                        invocation: InvocationID(try row.string("invocation")),
                        step: StepID(try row.string("step")),
                        number: Int(try row.int32("number")), fence: try row.int64("fence"),
                        startedAt: try row.instant("started_at"),
                        endedAt: try row.instantOrNil("ended_at"),
                        outcome: try row.stringOrNil("outcome"),
                        isAmbiguous: try row.bool("ambiguous"),
                        isIdempotent: try row.boolOrNil("is_idempotent"),
                        excerpt: try row.bytesOrNil("excerpt").map {
                            String(decoding: $0, as: UTF8.self)
                        }, lateAt: try row.instantOrNil("late_at")))
            }
            return found
        }
    }

    static let listingAttempts = SQLStatement(
        "look_attempts",
        """
        select e.run, a.invocation, e.step, a.number, a.fence, a.started_at, a.ambiguous,
            a.is_idempotent, a.excerpt, a.late_at, coalesce(a.late_at, a.ended_at) as ended_at,
            coalesce(a.late_outcome, a.outcome) as outcome
        from (
            select r.customer, r.id
            from unnest($1::text[]) k (id)
            join journey.runs r on r.id = k.id
        ) r
        join journey.effects e on e.customer = r.customer and e.run = r.id
        join journey.effect_attempts a
            on a.customer = e.customer and a.invocation = e.invocation
        where a.outcome is null or a.outcome <> 'handed_back'
            and (a.outcome <> 'lease_lost' or a.late_at is not null)
        order by a.started_at, a.fence
        limit 10000
        """)
}
