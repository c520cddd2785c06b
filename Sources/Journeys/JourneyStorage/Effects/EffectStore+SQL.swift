internal import Postgres

extension EffectStore {
    /// Lock order: the oldest of each account; it never waits. Customers whose turns are set aside are
    /// passed over: their unread inputs would put their effects off again and again.
    static let locking = SQLStatement(
        "effect_lock",
        """
        with due as materialized (
            select q.customer, q.invocation
            from unnest($1::text[], $2::text[], $3::integer[]) k (tool, account, free)
            cross join lateral (
                select q.customer, q.invocation, q.due_at
                from journey.effect_queue q
                where q.tool = k.tool and q.account = k.account and q.due_at <= now()
                    and not exists (
                        select from journey.set_aside s
                        where s.customer = q.customer
                            and (s.retry_at is null or s.retry_at > now())
                    )
                order by q.due_at
                limit k.free
                for update of q skip locked
            ) q
            limit $4
        )
        select customer, invocation from due
        """)

    /// Lock order: the longest overdue; it never waits. Leases in force are left alone.
    static let lockingOverdue = SQLStatement(
        "effect_lock_overdue",
        """
        select q.customer, q.invocation
        from journey.effect_queue q
        where q.deadline <= now() and q.due_at <= now()
        order by q.deadline
        limit $1
        for update of q skip locked
        """)

    /// Judges the rows that this transaction has locked.
    static let leasing = SQLStatement(
        "effect_lease",
        """
        with clock as materialized (
            select date_trunc('milliseconds', clock_timestamp()) as now
        ), judged as materialized (
            select q.customer, q.invocation, q.run, q.fence, q.lease_until is not null as is_lost,
                r.workflow, r.environment, k.now,
                case
                    when q.withdrawn is not null then 'withdrawn'
                    when r.id is null then 'withdrawn'
                    when q.deadline <= k.now and q.lease_until is not null then 'unknown'
                    when q.deadline <= k.now then 'expired'
                    when exists (select from journey.inbox i where i.customer = q.customer)
                        then 'put_off'
                    else 'leased'
                end as verdict,
                coalesce(q.withdrawn, 'run_ended') as reason
            from clock k
            cross join unnest($1::bigint[], $2::text[]) l (customer, invocation)
            join journey.effect_queue q
                on q.customer = l.customer and q.invocation = l.invocation
            left join journey.runs r
                on r.customer = q.customer and r.id = q.run and r.ended_at is null
        ), leased as (
            update journey.effect_queue q
            set fence = q.fence + 1, attempts = q.attempts + 1,
                lease_until = j.now + (q.attempt_timeout_ms + $3) * interval '1 millisecond',
                due_at = j.now + (q.attempt_timeout_ms + $3) * interval '1 millisecond'
            from judged j
            where j.verdict = 'leased' and q.customer = j.customer
                and q.invocation = j.invocation
            returning q.customer, q.invocation, q.fence, q.attempts, q.lease_until, j.is_lost,
                j.now as started_at, j.workflow, j.environment
        ), put_off as (
            update journey.effect_queue q
            set due_at = j.now + case
                when exists (select from journey.set_aside s where s.customer = q.customer)
                    then interval '15 seconds'
                else interval '200 milliseconds'
            end
            from judged j
            where j.verdict = 'put_off' and q.customer = j.customer
                and q.invocation = j.invocation
        ), dropped as (
            delete from journey.effect_queue q
            using judged j
            where j.verdict in ('withdrawn', 'expired', 'unknown') and q.customer = j.customer
                and q.invocation = j.invocation
        ), lost as (
            update journey.effect_attempts a
            set ended_at = j.now, outcome = 'lease_lost', ambiguous = true
            from judged j
            where j.is_lost and j.verdict <> 'put_off' and a.customer = j.customer
                and a.invocation = j.invocation and a.fence = j.fence and a.ended_at is null
        ), started as (
            insert into journey.effect_attempts (customer, invocation, number, fence, started_at)
            select customer, invocation, attempts, fence, started_at from leased
        ), counted as (
            update journey.effects e
            set attempts = l.attempts
            from leased l
            where e.customer = l.customer and e.invocation = l.invocation
        ), ended as (
            update journey.effects e
            set status = j.verdict, ended_at = j.now,
                reason = case when j.verdict = 'withdrawn' then j.reason end,
                result = case j.verdict when 'expired' then $4::json when 'unknown' then $5::json end
            from judged j
            where j.verdict in ('withdrawn', 'expired', 'unknown') and e.customer = j.customer
                and e.invocation = j.invocation
            returning e.customer, e.invocation, e.run, e.step, e.status, e.result
        ), woken as (
            insert into journey.inbox (
                customer, kind, payload, environment, app, routed_at
            )
            select coalesce(c.forwards_to, c.id), 'result',
                json_build_object(
                    'invocation', e.invocation, 'run', e.run, 'step', e.step, 'outcome', e.result),
                c.environment, c.app, date_trunc('milliseconds', clock_timestamp())
            from ended e
            join journey.customers c on c.id = e.customer
            where e.status <> 'withdrawn'
        )
        select l.customer, l.invocation, l.fence, l.attempts, l.lease_until, l.started_at,
            l.is_lost as was_ambiguous, l.workflow, l.environment, e.run, e.step, e.attempt_group,
            e.tool, e.account, e.request, e.requested_at, e.deadline, e.attempt_timeout_ms, e.retry
        from leased l
        join journey.effects e on e.customer = l.customer and e.invocation = l.invocation
        order by e.requested_at, l.invocation
        """)

    /// Lock order: (customer, invocation). A withdrawn effect gets no further attempt; a result that it
    /// still brings is put before its run, which records it as stale.
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
            returning e.customer, e.invocation, e.run, e.step, e.result
        ), woken as (
            insert into journey.inbox (customer, kind, payload, environment, app, routed_at)
            select coalesce(c.forwards_to, c.id), 'result',
                json_build_object(
                    'invocation', e.invocation, 'run', e.run, 'step', e.step, 'outcome', e.result),
                c.environment, c.app, date_trunc('milliseconds', clock_timestamp())
            from ended e
            join journey.customers c on c.id = e.customer
            where e.result is not null
            order by e.customer, e.invocation
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
