internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Postgres

// What a turn writes when an operator has an effect attempted again, and what it made of commands.
extension TurnStore {
    /// The effect lives again under its old name; its fences go on from the last, so that an attempt of
    /// before can change nothing. One that is not dead stops the transaction: the run would wait for ever.
    static let requeuingEffects = SQLStatement(
        "turn_requeue_effects",
        """
        with wanted as materialized (
            select * from unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[])
                w (customer, invocation, due_at, deadline)
        ), living as (
            update journey.effects e
            set status = 'pending', reason = null, result = null, ended_at = null,
                deadline = w.deadline, retries = e.retries + 1, discarded = null
            from wanted w
            where e.customer = w.customer and e.invocation = w.invocation
                and e.status in ('failed', 'timed_out', 'expired', 'unknown')
            returning e.*, w.due_at as again_at
        ), queued as (
            insert into journey.effect_queue (
                customer, invocation, run, tool, account, due_at, deadline, attempt_timeout_ms, fence,
                attempts, attempts_before, send_window
            )
            select customer, invocation, run, tool, coalesce(account, ''), again_at, deadline,
                attempt_timeout_ms, fence, attempts, attempts, send_window
            from living
            returning 1
        )
        select journey.require(count(*) = cardinality($2::text[]), 'every renewed effect is dead')
        from queued
        """)

    static let insertingOutcomes = SQLStatement(
        "turn_insert_outcomes",
        """
        insert into journey.command_outcomes (audit, customer, run, at, outcome, sentence)
        select n.audit, n.customer, n.run, $6, n.outcome, n.sentence
        from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
            n (audit, customer, run, outcome, sentence)
        on conflict do nothing
        """)
}

extension BatchWriter {
    var requeueEffects: (SQLStatement, [PostgresValue]) {
        let renewals = results.flatMap { result in
            result.renewals.map { (result.customer.id.number, $0) }
        }
        return (
            TurnStore.requeuingEffects,
            [
                .int8Array(renewals.map(\.0)), .textArray(renewals.map(\.1.invocation.text)),
                .timestamptzArray(renewals.map(\.1.notBefore)),
                .timestamptzArray(renewals.map(\.1.deadline)),
            ]
        )
    }

    var insertOutcomes: (SQLStatement, [PostgresValue]) {
        let commands = results.flatMap { result in
            result.commands.map { (result.customer.id.number, $0) }
        }
        return (
            TurnStore.insertingOutcomes,
            [
                .int8Array(commands.map(\.1.audit)), .int8Array(commands.map(\.0)),
                .textArray(commands.map(\.1.run.text)),
                .textArray(commands.map { $0.1.refusal == nil ? "done" : "refused" }),
                .textArray(commands.map { $0.1.refusal.map(storable) }), .timestamptz(now),
            ]
        )
    }
}
