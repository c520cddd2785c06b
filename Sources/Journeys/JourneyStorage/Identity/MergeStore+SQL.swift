internal import Postgres

// What is keyed by the record that goes is keyed by the survivor from now on. Both customers' rows are
// locked; only queue rows may be another session's for a moment, those in (customer, invocation) order.
extension MergeStore {
    static let identifying = SQLStatement(
        "merge_identify",
        """
        select distinct i.customer
        from journey.customer_ids i
        where i.customer = any ($1::bigint[]) and i.is_own
        """)

    /// First: the survivor may have no two live runs in one place, not even for a moment.
    static let endingRivals = SQLStatement(
        "merge_end_rivals",
        """
        update journey.runs r
        set ended_at = $3
        where r.customer in ($1::bigint, $2::bigint) and r.id = any ($4::text[])
        """)

    /// A cause that started runs of both counts on among the survivor's reruns.
    static let movingRuns = SQLStatement(
        "merge_move_runs",
        """
        update journey.runs r
        set customer = $2, slot = coalesce(n.slot, r.slot), rerun = r.rerun + coalesce(
            (
                select max(o.rerun) + 1
                from journey.runs o
                where o.customer = $2 and o.cause = r.cause and o.workflow = r.workflow
            ), 0)
        from journey.runs m
        left join unnest($3::text[], $4::integer[]) n (id, slot) on n.id = m.id
        where m.customer = $1::bigint and r.customer = m.customer and r.id = m.id
        """)

    static let movingHistory = SQLStatement(
        "merge_move_history",
        """
        update journey.history h set customer = $2::bigint where h.customer = $1::bigint
        """)

    static let movingEventIDs = SQLStatement(
        "merge_move_event_ids",
        """
        update journey.event_ids i
        set customer = $2::bigint, ordinal = i.ordinal + $3::bigint
        from journey.events e
        where e.customer = $1::bigint and i.id = e.id and i.customer = e.customer
        """)

    static let movingEvents = SQLStatement(
        "merge_move_events",
        """
        update journey.events e
        set customer = $2::bigint, ordinal = e.ordinal + $3::bigint
        where e.customer = $1::bigint
        """)

    static let movingEffects = SQLStatement(
        "merge_move_effects",
        """
        update journey.effects e set customer = $2::bigint where e.customer = $1::bigint
        """)

    static let movingQueue = SQLStatement(
        "merge_move_queue",
        """
        with waiting as materialized (
            select q.customer, q.invocation
            from journey.effect_queue q
            where q.customer = $1::bigint
            order by q.customer, q.invocation
            for update of q
        )
        update journey.effect_queue q
        set customer = $2::bigint
        from waiting w
        where q.customer = w.customer and q.invocation = w.invocation
        """)

    static let movingAttempts = SQLStatement(
        "merge_move_attempts",
        """
        update journey.effect_attempts a set customer = $2::bigint where a.customer = $1::bigint
        """)

    static let movingInputs = SQLStatement(
        "merge_move_inputs",
        """
        update journey.inbox i set customer = $2::bigint where i.customer = $1::bigint
        """)

    static let movingValues = SQLStatement(
        "merge_move_values",
        """
        update journey.entry_values v set customer = $2::bigint where v.customer = $1::bigint
        """)

    static let movingIDs = SQLStatement(
        "merge_move_ids",
        """
        update journey.customer_ids i set customer = $2::bigint where i.customer = $1::bigint
        """)

    static let movingTransfers = SQLStatement(
        "merge_move_transfers",
        """
        with moved as (
            update journey.transfers t
            set giver = case when t.giver = $1::bigint then $2::bigint else t.giver end,
                receiver = case when t.receiver = $1::bigint then $2::bigint else t.receiver end
            where t.giver = $1::bigint or t.receiver = $1::bigint
        )
        update journey.customers c
        set given_until = greatest(c.given_until, m.given_until)
        from journey.customers m
        where c.id = $2::bigint and m.id = $1::bigint and m.given_until is not null
        """)

    /// What the survivor's turn writes anew, joined.
    static let droppingState = SQLStatement(
        "merge_drop_state",
        """
        with subscriptions as (
            delete from journey.subscriptions s where s.customer = $1::bigint
        ), segments as (
            delete from journey.segment_members m where m.customer = $1::bigint
        ), assignments as (
            delete from journey.assignments a where a.customer = $1::bigint
        ), dates as (
            delete from journey.date_entries d where d.customer = $1::bigint
        ), timers as (
            delete from journey.timers t where t.customer = $1::bigint
        )
        delete from journey.set_aside s where s.customer = $1::bigint
        """)

    /// Records that went into this one before go on with it: the way stays one step long.
    static let forwarding = SQLStatement(
        "merge_forward",
        """
        update journey.customers c
        set forwards_to = $2::bigint,
            attributes = case when c.id = $1::bigint then '{}' else c.attributes end,
            attribute_setters = case when c.id = $1::bigint then '{}' else c.attribute_setters end
        where c.id = $1::bigint or c.forwards_to = $1::bigint
        """)

    static let logging = SQLStatement(
        "merge_log",
        """
        with failures as (
            delete from journey.merge_failures f
            where f.one in ($1::bigint, $2::bigint) and f.other in ($1::bigint, $2::bigint)
        ), conflicts as (
            delete from journey.identity_conflicts c
            where c.one in ($1::bigint, $2::bigint) and c.other in ($1::bigint, $2::bigint)
        )
        insert into journey.merges (survivor, merged, input, delivery, audit)
        select $2::bigint, $1::bigint, $3::bigint, i.delivery,
            case when i.kind = 'alias' then (i.payload ->> 'audit')::bigint end
        from (values (1)) one (n)
        left join journey.inbox i on i.sequence = $3::bigint
        """)

    /// The pause grows from a second to an hour; what waits for the merge waits with it.
    static let puttingOff = SQLStatement(
        "merge_put_off",
        """
        with failed as (
            insert into journey.merge_failures (one, other, since, attempts, error, retry_at)
            select $1::bigint, $2::bigint, b.now, 1, $3::text, b.now + interval '1 second'
            from (select date_trunc('milliseconds', clock_timestamp()) as now) b
            on conflict (one, other) do update
            set attempts = merge_failures.attempts + 1, error = excluded.error,
                retry_at = excluded.since + interval '1 second'
                    * least(power(2, least(merge_failures.attempts, 12)), 3600)
            returning retry_at
        )
        update journey.inbox i
        set route_after = f.retry_at
        from failed f
        where i.sequence = $4::bigint and i.customer is null
        """)
}
