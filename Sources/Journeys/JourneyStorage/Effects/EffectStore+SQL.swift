internal import Postgres

extension EffectStore {
    /// What is told to `outbound` (the account `$outbound`) waits for no run and no turn: it has happened.
    /// Lock order: the oldest of each account; it never waits. Customers whose turns are set aside are
    /// passed over: their unread inputs would put their effects off again and again.
    static let locking = SQLStatement(
        "effect_lock",
        """
        with due as materialized (
            select q.customer, q.invocation, q.send_window
            from unnest($1::text[], $2::text[], $3::integer[]) k (tool, account, free)
            cross join lateral (
                select q.customer, q.invocation, q.due_at, q.send_window
                from journey.effect_queue q
                where q.tool = k.tool and q.account = k.account and q.due_at <= now()
                    and (q.account = '$outbound' or not exists (
                        select from journey.set_aside s
                        where s.customer = q.customer
                            and (s.retry_at is null or s.retry_at > now())
                    ))
                order by q.due_at
                limit k.free
                for update of q skip locked
            ) q
            limit $4
        )
        select customer, invocation, send_window,
            date_trunc('milliseconds', clock_timestamp()) as now
        from due
        """)

    /// Lock order: the longest overdue; it never waits. Leases in force are left alone.
    static let lockingOverdue = SQLStatement(
        "effect_lock_overdue",
        """
        select q.customer, q.invocation, q.send_window,
            date_trunc('milliseconds', clock_timestamp()) as now
        from journey.effect_queue q
        where q.deadline <= now() and q.due_at <= now()
        order by q.deadline
        limit $1
        for update of q skip locked
        """)

    /// Judges the rows that this transaction has locked. `$3` tells when the window of each opens, null for
    /// an open one; `$7` to `$14` are the accounts in hand, with their rates and their rules. An effect remembers whether the
    /// account that leased it carries messages. An effect whose
    /// last attempt is lost is attempted again only where the receiver honours the key and attempts are left
    /// (S13): one that ends the process each time must not go on for ever.
    static let leasing = SQLStatement(
        "effect_lease",
        """
        with clock as materialized (
            select date_trunc('milliseconds', clock_timestamp()) as now
        ), accounts as materialized (
            select *
            from unnest(
                $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::integer[],
                $13::bigint[], $14::boolean[]
            ) a (tool, account, pace_us, burst_us, channel, cap, cap_ms, is_idempotent)
        ), looked as materialized (
            select q.customer, q.invocation, q.run, q.tool, q.account, q.fence, q.withdrawn,
                q.deadline, q.attempts_before, q.lease_until is not null as is_lost, l.opens_at,
                r.id is not null as is_live, r.workflow, r.environment, k.now,
                q.account <> '$outbound'
                    and exists (select from journey.inbox i where i.customer = q.customer)
                    as has_unread,
                a.channel is not null as is_message,
                strpos((c.attributes -> 'unsubscribed')::text, '"' || a.channel || '"') > 0
                    and json_typeof(c.attributes -> 'unsubscribed') in ('array', 'string')
                    as is_unsubscribed,
                a.cap is not null and a.cap <= row_number() over (
                    partition by q.customer, q.tool, q.account order by q.due_at, q.invocation
                ) - 1 + (
                    select count(*)
                    from journey.effects e
                    left join journey.effect_queue o
                        on o.customer = e.customer and o.invocation = e.invocation
                    where a.cap is not null and e.customer = q.customer and e.tool = q.tool
                        and e.account = q.account and e.invocation <> q.invocation
                        and (
                            o.lease_until > k.now
                            or e.status in ('succeeded', 'unknown')
                                and e.ended_at > k.now - a.cap_ms * interval '1 millisecond'
                        )
                ) as is_capped,
                q.lease_until is null or a.is_idempotent is not false and exists (
                    select from journey.effects e
                    where e.customer = q.customer and e.invocation = q.invocation
                        and (e.retry ->> 'attempts') ~ '^[0-9]{1,4}$'
                        and (e.retry ->> 'attempts')::integer > q.attempts - q.attempts_before
                ) as may_repeat
            from clock k
            cross join unnest($1::bigint[], $2::text[], $3::timestamptz[])
                l (customer, invocation, opens_at)
            join journey.effect_queue q
                on q.customer = l.customer and q.invocation = l.invocation
            join journey.customers m on m.id = q.customer
            join journey.customers c on c.id = coalesce(m.forwards_to, m.id)
            left join journey.runs r
                on r.customer = q.customer and r.id = q.run
                    and (r.ended_at is null or q.account = '$outbound')
            left join accounts a on a.tool = q.tool and a.account = q.account
        ), judged as materialized (
            select l.*,
                case
                    when l.withdrawn is not null or not l.is_live then 'withdrawn'
                    when l.deadline <= l.now and l.is_lost then 'unknown'
                    when l.deadline <= l.now then 'expired'
                    when l.has_unread then 'put_off'
                    when l.opens_at > l.now then 'closed'
                    when not l.may_repeat then 'unknown'
                    when l.is_lost and (l.is_unsubscribed or l.is_capped) then 'unknown'
                    when l.is_unsubscribed or l.is_capped then 'suppressed'
                    else 'leased'
                end as verdict,
                case
                    when l.withdrawn is not null then l.withdrawn
                    when not l.is_live then 'run_ended'
                    when l.is_unsubscribed then 'consent'
                    when l.is_capped then 'cap'
                end as reason
            from looked l
        ), leased as (
            update journey.effect_queue q
            set fence = q.fence + 1, attempts = q.attempts + 1,
                lease_until = j.now + (q.attempt_timeout_ms + $4) * interval '1 millisecond',
                due_at = j.now + (q.attempt_timeout_ms + $4) * interval '1 millisecond'
            from judged j
            where j.verdict = 'leased' and q.customer = j.customer
                and q.invocation = j.invocation
            returning q.customer, q.invocation, q.tool, q.account, q.fence, q.attempts,
                q.attempts_before, q.lease_until, j.is_lost, j.now as started_at
        ), spent as (
            update journey.account_limits m
            set rate_from
                = greatest(m.rate_from, clock_timestamp() - a.burst_us * interval '1 microsecond')
                    + n.count * a.pace_us * interval '1 microsecond'
            from accounts a
            join (select tool, account, count(*) from leased group by tool, account) n
                on n.tool = a.tool and n.account = a.account
            where a.pace_us is not null and m.tool = a.tool and m.account = a.account
        ), put_off as (
            update journey.effect_queue q
            set due_at = case
                when j.verdict = 'closed' then least(j.opens_at, q.deadline)
                when exists (select from journey.set_aside s where s.customer = q.customer)
                    then j.now + interval '15 seconds'
                else j.now + interval '200 milliseconds'
            end
            from judged j
            where j.verdict in ('put_off', 'closed') and q.customer = j.customer
                and q.invocation = j.invocation
        ), dropped as (
            delete from journey.effect_queue q
            using judged j
            where j.verdict in ('withdrawn', 'expired', 'unknown', 'suppressed')
                and q.customer = j.customer and q.invocation = j.invocation
        ), lost as (
            update journey.effect_attempts a
            set ended_at = j.now, outcome = 'lease_lost', ambiguous = true
            from judged j
            where j.is_lost and j.verdict not in ('put_off', 'closed') and a.customer = j.customer
                and a.invocation = j.invocation and a.fence = j.fence and a.ended_at is null
        ), started as (
            insert into journey.effect_attempts (
                customer, invocation, number, fence, started_at, is_idempotent
            )
            select l.customer, l.invocation, l.attempts, l.fence, l.started_at, a.is_idempotent
            from leased l
            left join accounts a on a.tool = l.tool and a.account = l.account
        ), told as (
            update journey.effects e
            set attempts = coalesce(n.attempts, e.attempts), fence = coalesce(n.fence, e.fence),
                lost = e.lost + case when j.is_lost then 1 else 0 end,
                is_message = case
                    when j.verdict = 'leased' then j.is_message else e.is_message
                end,
                status = case when j.verdict = 'leased' then e.status else j.verdict end,
                ended_at = case when j.verdict <> 'leased' then j.now end,
                reason = case when j.verdict in ('withdrawn', 'suppressed') then j.reason end,
                result = case j.verdict
                    when 'expired' then $5::json
                    when 'unknown' then $6::json
                    when 'suppressed'
                        then json_build_object('outcome', j.verdict, 'reason', j.reason)
                end
            from judged j
            left join leased n on n.customer = j.customer and n.invocation = j.invocation
            where j.verdict not in ('put_off', 'closed') and e.customer = j.customer
                and e.invocation = j.invocation
            returning e.customer, e.invocation, e.run, e.step, e.account, e.status, e.result,
                e.is_message
        ), woken as (
            insert into journey.inbox (
                customer, kind, payload, environment, app, routed_at
            )
            select coalesce(c.forwards_to, c.id), 'result',
                json_build_object(
                    'invocation', e.invocation, 'run', e.run, 'step', e.step, 'outcome', e.result,
                    'message', e.is_message and e.status = 'unknown'),
                c.environment, c.app, date_trunc('milliseconds', clock_timestamp())
            from told e
            join journey.customers c on c.id = e.customer
            where e.result is not null and e.account is distinct from '$outbound'
        ), counted as (
            insert into journey.counts (at, name, workflow, cause, amount)
            select j.now, 'suppressed', j.workflow, j.reason, count(*)
            from judged j
            where j.verdict = 'suppressed'
            group by j.now, j.workflow, j.reason
        )
        select j.verdict, j.reason, j.tool as queue_tool, j.account as queue_account, l.customer,
            l.invocation, l.fence, l.attempts, l.attempts_before, l.lease_until, l.started_at,
            l.is_lost as was_ambiguous, j.workflow, j.environment, e.run, e.step,
            e.attempt_group, e.tool, e.account, e.request, e.requested_at, e.deadline,
            e.attempt_timeout_ms, e.retry, e.not_before, e.send_window
        from judged j
        left join leased l on l.customer = j.customer and l.invocation = j.invocation
        left join journey.effects e on e.customer = l.customer and e.invocation = l.invocation
        order by e.requested_at, j.invocation
        """)

    /// Lock order: (customer, invocation). A withdrawn effect gets no further attempt; a result that it
    /// still brings is put before its run, which records it as stale. What comes under a fence that is no
    /// longer in force changes nothing, and is kept with its attempt.
    static let finishing = SQLStatement(
        "effect_finish",
        """
        with clock as materialized (
            select date_trunc('milliseconds', clock_timestamp()) as now
        ), given as materialized (
            select *
            from unnest(
                $1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[], $5::text[],
                $6::boolean[], $7::bytea[], $8::bigint[], $9::text[], $10::text[]
            ) with ordinality n (
                customer, invocation, fence, started_at, outcome, ambiguous, excerpt, pause_ms,
                status, result, place
            )
        ), held as materialized (
            select q.customer, q.invocation, q.deadline, q.withdrawn, g.fence, g.started_at,
                g.outcome, g.ambiguous, g.excerpt, g.pause_ms, g.result, g.place, k.now,
                coalesce(g.status, case when q.withdrawn is not null then 'withdrawn' end) as status
            from clock k
            cross join given g
            join journey.effect_queue q
                on q.customer = g.customer and q.invocation = g.invocation
                    and q.fence = g.fence and q.lease_until is not null
            order by q.customer, q.invocation
            for update of q
        ), again as (
            update journey.effect_queue q
            set lease_until = null,
                due_at = least(h.now + h.pause_ms * interval '1 millisecond', h.deadline)
            from held h
            where h.status is null and q.customer = h.customer and q.invocation = h.invocation
        ), dropped as (
            delete from journey.effect_queue q
            using held h
            where h.status is not null and q.customer = h.customer
                and q.invocation = h.invocation
        ), told as (
            update journey.effect_attempts a
            set ended_at = h.now, outcome = h.outcome, ambiguous = h.ambiguous,
                excerpt = h.excerpt
            from held h
            where a.customer = h.customer and a.invocation = h.invocation
                and a.fence = h.fence and a.started_at = h.started_at
        ), ended as (
            update journey.effects e
            set status = h.status, reason = h.withdrawn, result = h.result::json, ended_at = h.now
            from held h
            where h.status is not null and e.customer = h.customer
                and e.invocation = h.invocation
            returning e.customer, e.invocation, e.run, e.step, e.account, e.status, e.result,
                e.is_message
        ), woken as (
            insert into journey.inbox (customer, kind, payload, environment, app, routed_at)
            select coalesce(c.forwards_to, c.id), 'result',
                json_build_object(
                    'invocation', e.invocation, 'run', e.run, 'step', e.step, 'outcome', e.result,
                    'message', e.is_message and e.status in ('succeeded', 'timed_out', 'unknown')),
                c.environment, c.app, date_trunc('milliseconds', clock_timestamp())
            from ended e
            join journey.customers c on c.id = e.customer
            where e.result is not null and e.account is distinct from '$outbound'
            order by e.customer, e.invocation
        ), late as (
            update journey.effect_attempts a
            set late_at = k.now, late_outcome = g.outcome, excerpt = g.excerpt
            from clock k
            cross join given g
            where a.customer = g.customer and a.invocation = g.invocation and a.fence = g.fence
                and a.started_at = g.started_at and a.outcome = 'lease_lost' and a.late_at is null
                and not exists (select from held h where h.place = g.place)
            returning k.now
        ), counted as (
            insert into journey.counts (at, name, workflow, cause, amount)
            select l.now, 'stale', '', 'attempt', count(*) from late l group by l.now
        )
        select g.place, exists (select from held h where h.place = g.place) as is_held
        from given g
        order by g.place
        """)

    static let handingBack = SQLStatement(
        "effect_hand_back",
        """
        with held as materialized (
            select q.customer, q.invocation, q.fence, l.started_at
            from unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[])
                l (customer, invocation, fence, started_at)
            join journey.effect_queue q
                on q.customer = l.customer and q.invocation = l.invocation and q.fence = l.fence
            where q.lease_until is not null
            order by q.customer, q.invocation
            for update of q
        ), back as (
            update journey.effect_queue q
            set lease_until = null, due_at = now(), attempts = q.attempts - 1
            from held h
            where q.customer = h.customer and q.invocation = h.invocation
        )
        update journey.effect_attempts a
        set ended_at = date_trunc('milliseconds', clock_timestamp()), outcome = 'handed_back'
        from held h
        where a.customer = h.customer and a.invocation = h.invocation and a.fence = h.fence
            and a.started_at = h.started_at
        """)
}
