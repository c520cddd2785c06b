internal import Postgres

// Everything a turn writes goes to rows of customers that its transaction has locked, except queue rows,
// which the dispatcher locks too: those in (customer, invocation) order.
extension TurnStore {
    /// Deletes exactly what was loaded, or stops the transaction.
    static let takingInputs = SQLStatement(
        "turn_take_inputs",
        """
        with taken as (
            delete from journey.inbox i where i.sequence = any ($1::bigint[]) returning 1
        )
        select journey.require(count(*) = $2, 'every loaded input is unread') from taken
        """)

    static let updatingCustomers = SQLStatement(
        "turn_update_customers",
        """
        update journey.customers c
        set attributes = case when c.attributes::text = r.attributes then c.attributes
                else r.attributes::json end,
            attribute_setters = case when c.attribute_setters::text = r.setters
                then c.attribute_setters else r.setters::json end,
            inputs_taken = r.inputs_taken, definitions_seen = r.definitions_seen
        from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[])
            r (id, attributes, inputs_taken, setters, definitions_seen)
        where c.id = r.id
            and (
                c.definitions_seen <> r.definitions_seen or
                c.inputs_taken <> r.inputs_taken or c.attributes::text <> r.attributes
                or c.attribute_setters::text <> r.setters
            )
        """)

    static let updatingRuns = SQLStatement(
        "turn_update_runs",
        """
        with updated as (
            update journey.runs r
            set status = n.status, reason = n.reason, step = n.step, ended_at = n.ended_at,
                wake_at = n.wake_at, decisions = n.decisions, look_back = n.look_back,
                look_back_at = n.look_back_at, state = n.state::json, open_until = n.open_until
            from unnest(
                $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[],
                $7::timestamptz[], $8::integer[], $9::bigint[], $10::timestamptz[], $11::text[],
                $12::timestamptz[]
            ) n (
                customer, id, status, reason, step, ended_at, wake_at, decisions, look_back,
                look_back_at, state, open_until
            )
            where r.customer = n.customer and r.id = n.id
            returning 1
        )
        select journey.require(count(*) = cardinality($2::text[]), 'every changed run exists')
        from updated
        """)

    static let insertingRuns = SQLStatement(
        "turn_insert_runs",
        """
        insert into journey.runs (
            customer, id, status, reason, step, ended_at, wake_at, decisions, look_back,
            look_back_at, state, open_until, workflow, version, digest, key, slot, cause, rerun, environment,
            entered_at
        )
        select n.customer, n.id, n.status, n.reason, n.step, n.ended_at, n.wake_at, n.decisions,
            n.look_back, n.look_back_at, n.state::json, n.open_until, n.workflow, n.version, n.digest, n.key,
            n.slot, n.cause, n.rerun, n.environment, n.entered_at
        from unnest(
            $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[],
            $7::timestamptz[], $8::integer[], $9::bigint[], $10::timestamptz[], $11::text[],
            $12::timestamptz[], $13::text[], $14::integer[], $15::text[], $16::text[],
            $17::integer[], $18::text[], $19::integer[], $20::text[], $21::timestamptz[]
        ) n (
            customer, id, status, reason, step, ended_at, wake_at, decisions, look_back,
            look_back_at, state, open_until, workflow, version, digest, key, slot, cause, rerun, environment,
            entered_at
        )
        """)

    static let insertingEffects = SQLStatement(
        "turn_insert_effects",
        """
        with requested as materialized (
            select *
            from unnest(
                $1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[],
                $7::text[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::bigint[],
                $12::text[], $13::timestamptz[], $14::text[], $15::text[]
            ) n (
                customer, invocation, run, step, attempt_group, tool, account, request,
                requested_at, deadline, attempt_timeout_ms, retry, not_before, send_window, withheld
            )
        ), stored as (
            insert into journey.effects (
                customer, invocation, run, step, attempt_group, tool, account, request,
                requested_at, deadline, attempt_timeout_ms, retry, not_before, send_window,
                status, reason, result, ended_at
            )
            select customer, invocation, run, step, attempt_group, tool, account, request::json,
                requested_at, deadline, attempt_timeout_ms, retry::json, not_before,
                send_window::json, case when withheld is null then 'pending' else 'suppressed' end,
                withheld,
                case
                    when withheld is not null
                        then json_build_object('outcome', 'suppressed', 'reason', withheld)
                end, case when withheld is not null then requested_at end
            from requested
        )
        insert into journey.effect_queue (
            customer, invocation, run, tool, account, due_at, deadline, attempt_timeout_ms,
            send_window
        )
        select customer, invocation, run, tool, coalesce(account, ''), not_before, deadline,
            attempt_timeout_ms, send_window::json
        from requested
        where withheld is null
        """)

    /// An effect between attempts is taken off the queue (S12). One whose attempt is in flight is only
    /// told so: its attempt's result comes in and finds the run elsewhere.
    /// Lock order: (customer, invocation), waiting for a dispatcher's short statement.
    static let withdrawingEffects = SQLStatement(
        "turn_withdraw_effects",
        """
        with gone as materialized (
            select q.customer, q.invocation, q.lease_until is not null and q.lease_until > $7
                    as is_in_flight,
                coalesce(
                    (
                        select w.reason
                        from unnest($1::bigint[], $2::text[], $3::text[])
                            w (customer, invocation, reason)
                        where w.customer = q.customer and w.invocation = q.invocation
                        limit 1
                    ), (
                        select e.reason
                        from unnest($4::bigint[], $5::text[], $6::text[]) e (customer, run, reason)
                        where e.customer = q.customer and e.run = q.run
                        limit 1
                    )
                ) as reason
            from journey.effect_queue q
            where q.customer = any ($1::bigint[] || $4::bigint[])
                and (
                    (q.customer, q.invocation) in (select * from unnest($1::bigint[], $2::text[]))
                    or q.account <> '$outbound'
                        and (q.customer, q.run) in (select * from unnest($4::bigint[], $5::text[]))
                )
            order by q.customer, q.invocation
            for update of q
        ), told as (
            update journey.effect_queue q
            set withdrawn = g.reason
            from gone g
            where g.is_in_flight and q.customer = g.customer and q.invocation = g.invocation
        ), dropped as (
            delete from journey.effect_queue q
            using gone g
            where not g.is_in_flight and q.customer = g.customer and q.invocation = g.invocation
        )
        update journey.effects e
        set status = 'withdrawn', reason = g.reason, ended_at = $7
        from gone g
        where not g.is_in_flight and e.customer = g.customer and e.invocation = g.invocation
        """)

    /// Every id that no log held at loading is placed here, by the one customer who names it, or the
    /// transaction stops: another turn, or another customer of the batch, was given the same id, and who
    /// is second has to read the first one's event (S16). Lock order: id, waiting for who placed it.
    static let insertingEvents = SQLStatement(
        "turn_insert_events",
        """
        with logged as materialized (
            select *
            from unnest(
                $1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
                $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[], $11::boolean[]
            ) n (
                customer, ordinal, recorded_at, id, name, connector, occurred_at, received_at,
                environment, event, is_known
            )
        ), placed as (
            insert into journey.event_ids (id, customer, ordinal, recorded_at)
            select id, customer, ordinal, recorded_at from logged order by id, ordinal
            on conflict (id) do nothing
            returning id, customer
        ), kept as (
            insert into journey.events (
                customer, ordinal, recorded_at, id, name, connector, occurred_at, received_at,
                environment, event
            )
            select customer, ordinal, recorded_at, id, name, connector, occurred_at, received_at,
                environment, event::json
            from logged
        )
        select journey.require(count(*) = 0, 'every event id is new')
        from logged l
        left join placed p on p.id = l.id and p.customer = l.customer
        where p.id is null and not l.is_known
        """)

    /// Lock order: id, waiting for a turn of another customer that holds one.
    static let placingRevisions = SQLStatement(
        "turn_place_revisions",
        """
        update journey.event_ids i
        set customer = r.customer, ordinal = r.ordinal, recorded_at = r.recorded_at
        from (
            select id, customer, ordinal, recorded_at
            from unnest($1::text[], $2::bigint[], $3::bigint[], $4::timestamptz[])
                r (id, customer, ordinal, recorded_at)
            order by id
        ) r
        where i.id = r.id
        """)

    static let markingDeliveries = SQLStatement(
        "turn_mark_deliveries",
        """
        update journey.deliveries d
        set state = m.state, reason = m.reason, event = m.event
        from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[])
            m (id, received_at, state, reason, event)
        where d.id = m.id and d.received_at = m.received_at
        """)

    static let insertingHistory = SQLStatement(
        "turn_insert_history",
        """
        insert into journey.history (customer, run, decision, at, entries)
        select n.customer, n.run, n.decision, n.at, n.entries::json
        from unnest($1::bigint[], $2::text[], $3::integer[], $4::timestamptz[], $5::text[])
            n (customer, run, decision, at, entries)
        """)

    static let writingSubscriptions = SQLStatement(
        "turn_write_subscriptions",
        """
        insert into journey.subscriptions (
            customer, connector, subscription_key, environment, state, changed_at
        )
        select n.customer, n.connector, n.subscription_key, n.environment, n.state::json, $6
        from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
            n (customer, connector, subscription_key, environment, state)
        order by n.customer, n.connector, n.subscription_key
        on conflict (customer, connector, subscription_key) do update
        set state = excluded.state, changed_at = excluded.changed_at
        """)

    static let insertingCounts = SQLStatement(
        "turn_insert_counts",
        """
        insert into journey.counts (at, name, workflow, cause, amount)
        select $1, n.name, n.workflow, n.cause, n.amount
        from unnest($2::text[], $3::text[], $4::text[], $5::bigint[])
            n (name, workflow, cause, amount)
        """)

    /// A timer that has not fired stays: it wakes the customer early at worst, who then arms it anew.
    static let droppingTimers = SQLStatement(
        "turn_drop_timers",
        """
        delete from journey.timers t where t.customer = any ($1::bigint[]) and t.due_at <= $2
        """)

    static let settingTimers = SQLStatement(
        "turn_set_timers",
        """
        insert into journey.timers (customer, due_at)
        select n.customer, n.due_at
        from unnest($1::bigint[], $2::timestamptz[]) n (customer, due_at)
        order by n.customer
        on conflict (customer) do update set due_at = excluded.due_at
        where timers.due_at > excluded.due_at or timers.due_at <= $3
        """)

    /// Inputs of a record that was merged away go to the survivor's next turn.
    static let forwardingInputs = SQLStatement(
        "turn_forward_inputs",
        """
        update journey.inbox i
        set customer = f.survivor
        from unnest($1::bigint[], $2::bigint[]) f (customer, survivor)
        where i.customer = f.customer
        """)

    static let droppingForwardedTimers = SQLStatement(
        "turn_drop_forwarded_timers",
        """
        delete from journey.timers t where t.customer = any ($1::bigint[])
        """)

    static let clearingSetAside = SQLStatement(
        "turn_clear_set_aside",
        """
        delete from journey.set_aside s where s.customer = any ($1::bigint[])
        """)

    /// `$3` attempts in all: afterwards the customer is stuck, without a time to retry. The pause grows
    /// from a second to an hour. A turn that this process cannot serve counts no attempt; its pause grows
    /// with the time that has passed, to 64 seconds. Who has nothing to do any more is left alone.
    static let settingAside = SQLStatement(
        "turn_set_aside",
        """
        insert into journey.set_aside (customer, since, attempts, error, retry_at)
        select f.customer, b.now, case when f.is_unserved then 0 else 1 end, f.error,
            b.now + interval '1 second'
        from unnest($1::bigint[], $2::text[], $4::boolean[]) f (customer, error, is_unserved)
        cross join (select date_trunc('milliseconds', clock_timestamp()) as now) b
        where exists (select from journey.inbox i where i.customer = f.customer)
            or exists (
                select from journey.timers t where t.customer = f.customer and t.due_at <= b.now
            )
        order by f.customer
        on conflict (customer) do update
        set attempts = set_aside.attempts + excluded.attempts, error = excluded.error,
            retry_at = case
                when excluded.attempts = 0
                    then excluded.since + least(
                        greatest(excluded.since - set_aside.since, interval '1 second'),
                        interval '64 seconds')
                when set_aside.attempts + 1 < $3
                    then excluded.since
                        + interval '1 second' * least(power(4, least(set_aside.attempts, 6)), 3600)
            end
        """)
}
