internal import JSON
internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import TimeZones
internal import WorkflowDefinitions

// Run events for `outbound`: effects like any other, of an account of their own, that no run waits for.
extension TurnStore {
    /// Twenty ids of the customer are told, those that came as the person's own first.
    static let insertingOutbound = SQLStatement(
        "turn_insert_outbound",
        """
        with told as materialized (
            select n.customer, n.invocation, n.run, n.kind, n.number, n.environment, n.app,
                n.document::json as document, known.ids, known.first_id
            from unnest(
                $1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[],
                $7::text[], $8::text[]
            ) n (customer, invocation, run, kind, number, document, environment, app)
            cross join lateral (
                select json_agg(i.external_id) as ids,
                    (array_agg(i.external_id))[1] as first_id
                from (
                    select c.external_id
                    from journey.customer_ids c
                    where c.customer = n.customer
                    order by c.is_own desc, c.linked_at, c.external_id
                    limit 20
                ) i
            ) known
        ), stored as (
            insert into journey.effects (
                customer, invocation, run, step, attempt_group, tool, account, request,
                requested_at, deadline, attempt_timeout_ms, retry
            )
            select t.customer, t.invocation, t.run, t.kind, t.number, 'http', '$outbound',
                json_build_object(
                    'method', 'POST', 'json', json_build_object(
                        'type', t.kind, 'timestamp', $9::text, 'data', json_build_object(
                            'environment', t.environment, 'app', t.app,
                            'customer', json_build_object(
                                'id', t.first_id, 'ids', coalesce(t.ids, '[]'::json)),
                            'run', t.document))),
                $10, $11, $12, $13::json
            from told t
            on conflict do nothing
            returning customer, invocation, run
        )
        insert into journey.effect_queue (
            customer, invocation, run, tool, account, due_at, deadline, attempt_timeout_ms
        )
        select customer, invocation, run, 'http', '$outbound', $10, $11, $12 from stored
        """)
}

extension BatchWriter {
    /// As long as a receiver may be away before an event is given up: with the waits below about fifteen
    /// attempts.
    private static let outboundDeadline = Duration.seconds(3 * 86_400)
    private static let outboundTimeout = Duration.seconds(15)
    private static let outboundRetry = RetryPolicy(
        attempts: 20, backoff: .seconds(5), factor: JSONNumber(3), longest: .seconds(21_600))

    var insertOutbound: (SQLStatement, [PostgresValue]) {
        let told = results.flatMap { result in
            result.outbound.map { (result.customer, $0) }
        }
        return (
            TurnStore.insertingOutbound,
            [
                .int8Array(told.map(\.0.id.number)), .textArray(told.map(\.1.invocation.text)),
                .textArray(told.map(\.1.run.text)), .textArray(told.map(\.1.kind.rawValue)),
                .int4Array(told.map { Int32(clamping: $0.1.number) }),
                .textArray(told.map { JSONValue.object($0.1.document).text }),
                .textArray(told.map(\.0.environment)), .textArray(told.map(\.0.app)),
                .text(now.description), .timestamptz(now),
                .timestamptz(now + Self.outboundDeadline),
                .int8(Self.outboundTimeout.wholeMilliseconds),
                .text(JSONValue.object(Self.outboundRetry.stored).text),
            ]
        )
    }
}
