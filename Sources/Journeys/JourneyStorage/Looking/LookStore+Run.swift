internal import JSON
internal import JourneyEngine
package import JourneyModel
internal import Postgres

extension LookStore {
    /// One run with all that says why it stands; nil when there is none.
    package func run(_ id: RunID) async throws -> RunView? {
        try await look { tx in
            guard let row = try await tx.query(Self.showingRun, [.text(id.text)]).first else {
                return nil
            }
            let summary = try Self.readSummary(row)
            let run = try Run(state: try readObject(try row.json("state"), "run \(id)"))
            let customer = PostgresValue.int8(summary.customer.number)
            var awaited = PostgresValue.null
            if case .effect(let invocation, requestedOrdinal: _)? = run.position?.waiting {
                awaited = .text(invocation.text)
            }
            let answers = try await tx.pipeline([
                (
                    Self.listingEffects,
                    [
                        customer, .text(id.text), .null, .null, .null, .null, .null,
                        Self.limit(Self.listLimit), .null,
                    ]
                ),
                (Self.standing, [customer]),
                (Self.standingInQueue, [customer, awaited]),
                (ProcessStore.listing, [.int4(ProcessStore.listLimit)]),
            ])
            let standing = try answers[1].only()
            return RunView(
                summary: summary, run: run, effects: try answers[0].map(Self.readEffect),
                standing: try Self.readStanding(standing),
                queue: try answers[2].first.map { try Self.readQueue($0) },
                processes: try answers[3].map { try ProcessStore.read($0) },
                now: try standing.instant("now"))
        }
    }

    private static func readQueue(
        _ row: PostgresRow
    ) throws(PostgresError) -> RunView.QueueStanding {
        RunView.QueueStanding(
            accountUnderWay: Int(try row.int64("account_under_way")),
            underWay: Int(try row.int64("under_way")), ahead: Int(try row.int64("ahead")),
            rateFrom: try row.instantOrNil("rate_from"),
            lastOutcome: try row.stringOrNil("last_outcome"))
    }

    static let standingInQueue = SQLStatement(
        "look_queue",
        """
        select
            (
                select count(*) from journey.effect_queue o
                where o.tool = q.tool and o.account = q.account and o.lease_until is not null
                    and o.lease_until > clock_timestamp()
            ) as account_under_way,
            (
                select count(*) from journey.effect_queue o
                where o.lease_until is not null and o.lease_until > clock_timestamp()
            ) as under_way,
            (
                select count(*)
                from (
                    select from journey.effect_queue o
                    where o.tool = q.tool and o.account = q.account and o.due_at < q.due_at
                        and o.due_at <= clock_timestamp() and o.lease_until is null
                    limit 10000
                ) n
            ) as ahead,
            (
                select m.rate_from from journey.account_limits m
                where m.tool = q.tool and m.account = q.account
            ) as rate_from,
            (
                select coalesce(a.late_outcome, a.outcome) from journey.effect_attempts a
                where a.customer = q.customer and a.invocation = q.invocation
                    and a.outcome is not null
                order by a.fence desc
                limit 1
            ) as last_outcome
        from journey.effect_queue q
        where q.customer = $1 and q.invocation = $2::text
        """)
}
