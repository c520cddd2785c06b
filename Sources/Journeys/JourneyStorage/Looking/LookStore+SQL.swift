internal import Postgres

// A condition whose parameter is null does not count: the planner drops it when it plans for the values.
extension LookStore {
    /// One snapshot for all that a look asks: what a turn moves meanwhile is seen before or after, never
    /// half.
    static let readingOnly = SQLStatement(
        "look_read_only",
        """
        set transaction isolation level repeatable read, read only
        """)

    static let findingCustomer = SQLStatement(
        "look_find_customer",
        """
        select coalesce(c.forwards_to, c.id) as customer
        from journey.customer_ids i
        join journey.customers c on c.id = i.customer
        where i.environment = $1 and i.app = $2 and i.external_id = $3
        """)

    static let listingRuns = SQLStatement(
        "look_runs",
        """
        select r.id, r.customer, r.workflow, r.version, r.key, r.environment, r.status, r.reason,
            r.step, r.entered_at, r.ended_at, r.wake_at,
            (
                select min(q.due_at) from journey.effect_queue q
                where r.ended_at is null and q.customer = r.customer and q.run = r.id
                    and q.withdrawn is null and q.account <> '$outbound'
            ) as attempt_at
        from journey.runs r
        where ($1::bigint is null or r.customer = $1)
            and ($2::text is null or r.workflow = $2)
            and ($3::integer is null or r.version = $3)
            and ($4::text is null or r.status = $4)
            and ($5::text is null or r.environment = $5)
            and ($6::text is null or r.key = $6)
            and ($7::text is null or r.step = $7)
            and ($8::timestamptz is null or r.entered_at >= $8)
            and ($9::timestamptz is null or r.entered_at < $9)
            and ($10::text is null or r.status = 'failed' and r.reason = $10)
            and ($11::text is null or r.state #>> '{trigger,meta,connector}' = $11)
            and ($12::text is null or r.state #>> '{trigger,meta,name}' = $12)
            and ($13::timestamptz is null or (r.entered_at, r.id) < ($13, $14::text))
        order by r.entered_at desc, r.id desc
        limit $15::integer
        """)

    /// A range instead of `like`: it goes by the index under every plan, and no character is a wildcard.
    static let listingRunsByPrefix = SQLStatement(
        "look_runs_by_prefix",
        """
        select r.id, r.customer, r.workflow, r.version, r.key, r.environment, r.status, r.reason,
            r.step, r.entered_at, r.ended_at, r.wake_at,
            (
                select min(q.due_at) from journey.effect_queue q
                where r.ended_at is null and q.customer = r.customer and q.run = r.id
                    and q.withdrawn is null and q.account <> '$outbound'
            ) as attempt_at
        from journey.runs r
        where r.id ~>=~ $1::text and r.id ~<~ ($1::text || chr(1114111))
        order by r.id using ~<~
        limit $2::integer
        """)

    static let countingRuns = SQLStatement(
        "look_count_runs",
        """
        select count(*) as runs
        from journey.runs r
        where ($1::bigint is null or r.customer = $1)
            and ($2::text is null or r.workflow = $2)
            and ($3::integer is null or r.version = $3)
            and ($4::text is null or r.status = $4)
            and ($5::text is null or r.environment = $5)
            and ($6::text is null or r.key = $6)
            and ($7::text is null or r.step = $7)
            and ($8::timestamptz is null or r.entered_at >= $8)
            and ($9::timestamptz is null or r.entered_at < $9)
            and ($10::text is null or r.status = 'failed' and r.reason = $10)
            and ($11::text is null or r.state #>> '{trigger,meta,connector}' = $11)
            and ($12::text is null or r.state #>> '{trigger,meta,name}' = $12)
        """)

    static let readingStates = SQLStatement(
        "look_states",
        """
        select r.id, r.customer, r.workflow, r.version, r.key, r.environment, r.status, r.reason,
            r.step, r.entered_at, r.ended_at, r.wake_at,
            null::timestamptz as attempt_at, r.digest, r.decisions, r.state
        from unnest($1::bigint[], $2::text[]) k (customer, id)
        join journey.runs r on r.customer = k.customer and r.id = k.id
        """)

    /// Decisions that a turn wrote after the runs were read are not asked for.
    static let readingHistories = SQLStatement(
        "look_histories",
        """
        select h.customer, h.run, h.decision, h.at, h.entries
        from unnest($1::bigint[], $2::text[], $3::integer[]) k (customer, run, decisions)
        join journey.history h
            on h.customer = k.customer and h.run = k.run and h.decision <= k.decisions
        where (h.customer, h.run, h.decision) > ($4::bigint, $5::text, $6::integer)
        order by h.customer, h.run, h.decision
        limit $7::integer
        """)

    static let readingLog = SQLStatement(
        "look_log",
        """
        select e.ordinal, e.recorded_at, e.event
        from journey.events e
        where e.customer = $1 and e.ordinal > $2 and e.recorded_at >= $3
        order by e.ordinal
        limit $4::integer
        """)

    static let showingRun = SQLStatement(
        "look_run",
        """
        select r.id, r.customer, r.workflow, r.version, r.key, r.environment, r.status, r.reason,
            r.step, r.entered_at, r.ended_at, r.wake_at,
            (
                select min(q.due_at) from journey.effect_queue q
                where r.ended_at is null and q.customer = r.customer and q.run = r.id
                    and q.withdrawn is null and q.account <> '$outbound'
            ) as attempt_at, r.state
        from journey.runs r
        where r.id = $1
        limit 1
        """)

    static let standing = SQLStatement(
        "look_standing",
        """
        select date_trunc('milliseconds', clock_timestamp()) as now, i.unread, i.oldest_unread,
            (
                select count(*)
                from (
                    select from journey.inbox o
                    where o.customer is not null and o.customer <> $1
                        and o.recorded_at < i.oldest_unread
                    limit 10000
                ) n
            ) as ahead,
            t.due_at as timer_due, s.since as aside_since, s.attempts as aside_attempts,
            s.error as aside_error, s.retry_at as aside_retry_at
        from (
            select count(*) as unread, min(n.recorded_at) as oldest_unread
            from (
                select recorded_at from journey.inbox where customer = $1
                order by recorded_at, sequence limit 10000
            ) n
        ) i
        left join journey.timers t on t.customer = $1
        left join journey.set_aside s on s.customer = $1
        """)

    static let readingHistory = SQLStatement(
        "look_history",
        """
        select h.decision, h.at, h.entries
        from (select customer from journey.runs where id = $1 limit 1) r
        join journey.history h on h.customer = r.customer and h.run = $1
        where h.decision >= $2
        order by h.decision
        limit $3
        """)

    static let listingEffects = SQLStatement(
        "look_effects",
        """
        select e.customer, e.invocation, e.run, e.step, e.attempt_group, e.tool, e.account,
            e.status, e.reason, e.attempts, e.requested_at, e.deadline, e.ended_at, e.result,
            e.not_before, e.send_window, e.discarded, q.lease_until, case when q.lease_until is null then q.due_at end as due_at
        from journey.effects e
        left join journey.effect_queue q
            on q.customer = e.customer and q.invocation = e.invocation
        where ($1::bigint is null or e.customer = $1)
            and ($2::text is null or e.run = $2)
            and ($3::text is null or e.status = $3)
            and ($4::text is null or e.tool = $4)
            and ($5::text is null or e.account = $5)
            and ($6::timestamptz is null or e.requested_at >= $6)
            and ($7::timestamptz is null or e.requested_at < $7)
            and (
                $9::text is null
                or e.invocation >= $9 and e.invocation < $9 || 'g' and starts_with(e.invocation, $9)
            )
        order by e.requested_at desc, e.invocation
        limit $8::integer
        """)

    static let showingCustomer = SQLStatement(
        "look_customer",
        """
        select c.environment, c.app, c.created_at, c.attributes, c.inputs_taken
        from journey.customers c
        where c.id = $1
        """)

    static let listingSubscriptions = SQLStatement(
        "look_subscriptions",
        """
        select s.connector, s.subscription_key, s.state, s.changed_at
        from journey.subscriptions s
        where s.customer = $1
        order by s.connector, s.subscription_key
        limit 1000
        """)

    static let listingSegments = SQLStatement(
        "look_segments",
        """
        select m.segment, m.entered_at
        from journey.segment_members m
        where m.customer = $1
        order by m.segment
        limit 1000
        """)

    static let listingAssignments = SQLStatement(
        "look_assignments",
        """
        select a.experiment, a.variant, a.assigned_at
        from journey.assignments a
        where a.customer = $1
        order by a.experiment
        limit 1000
        """)

    static let listingDates = SQLStatement(
        "look_dates",
        """
        select d.workflow, d.subject, d.due_at
        from journey.date_entries d
        where d.customer = $1 and d.is_pending
        order by d.due_at, d.workflow, d.subject
        limit 1000
        """)

    static let listingIDs = SQLStatement(
        "look_ids",
        """
        select i.external_id, i.is_own, i.linked_at
        from journey.customer_ids i
        where i.customer = $1
        order by i.is_own desc, i.linked_at, i.external_id
        limit 1000
        """)

    /// Also those that were merged into what was merged into this one.
    static let listingMerged = SQLStatement(
        "look_merged",
        """
        select m.merged, m.at
        from journey.customers c
        join journey.merges m on m.merged = c.id
        where c.forwards_to = $1
        order by m.at, m.merged
        limit 1000
        """)

    static let listingConflicts = SQLStatement(
        "look_conflicts",
        """
        select n.other, n.times, n.last_at
        from (
            select c.other, c.times, c.last_at from journey.identity_conflicts c where c.one = $1
            union all
            select c.one, c.times, c.last_at from journey.identity_conflicts c where c.other = $1
        ) n
        order by n.last_at desc, n.other
        limit 100
        """)

    static let listingEvents = SQLStatement(
        "look_events",
        """
        select e.customer, e.ordinal, e.recorded_at, e.event
        from journey.events e
        where ($1::bigint is null or e.customer = $1)
            and ($2::text is null or e.name = $2)
            and ($3::text is null or e.connector = $3)
            and ($4::timestamptz is null or e.recorded_at >= $4)
            and ($5::timestamptz is null or e.recorded_at < $5)
        order by e.recorded_at desc, e.customer, e.ordinal desc
        limit $6::integer
        """)

    static let listingDeliveries = SQLStatement(
        "look_deliveries",
        """
        select d.id, d.connector, d.provider_event_id, d.received_at, d.environment, d.app,
            d.body_bytes, d.state, d.reason, d.event
        from journey.deliveries d
        where ($1::text is null or d.connector = $1)
            and ($2::text is null or $2 not in ('unknown', 'ignored')
                and coalesce(d.state, 'unread') = $2
                or $2 in ('unknown', 'ignored') and d.state = 'processed' and exists (
                    select from journey.event_ids i
                    join journey.events e
                        on e.customer = i.customer and e.ordinal = i.ordinal
                            and e.recorded_at = i.recorded_at
                    where i.id = d.event and e.name = 'connector.' || $2
                ))
            and ($3::text is null or d.provider_event_id = $3)
            and ($4::timestamptz is null or d.received_at >= $4)
            and ($5::timestamptz is null or d.received_at < $5)
        order by d.received_at desc, d.id desc
        limit $6::integer
        """)

    /// What a turn processed and made nothing of is told apart by its event.
    static let countingDeliveries = SQLStatement(
        "look_delivery_counts",
        """
        with told as (
            select d.connector,
                case
                    when d.state = 'processed' and e.name = 'connector.unknown' then 'unknown'
                    when d.state = 'processed' and e.name = 'connector.ignored' then 'ignored'
                    else coalesce(d.state, 'unread')
                end as state
            from journey.deliveries d
            left join journey.event_ids i on d.state = 'processed' and i.id = d.event
            left join journey.events e
                on e.customer = i.customer and e.ordinal = i.ordinal
                    and e.recorded_at = i.recorded_at and e.name like 'connector.%'
            where ($1::text is null or d.connector = $1)
                and ($3::timestamptz is null or d.received_at >= $3)
                and ($4::timestamptz is null or d.received_at < $4)
        )
        select t.connector, t.state, count(*) as count
        from told t
        where $2::text is null or t.state = $2
        group by t.connector, t.state
        order by count(*) desc, t.connector, t.state
        """)

    static let showingDelivery = SQLStatement(
        "look_delivery",
        """
        select d.id, d.connector, d.provider_event_id, d.received_at, d.environment, d.app,
            d.body_bytes, d.state, d.reason, d.event, b.body
        from journey.deliveries d
        left join journey.delivery_bodies b on b.id = d.id and b.received_at = d.received_at
        where d.id = $1
        """)

    static let summingCounts = SQLStatement(
        "look_counts",
        """
        select c.name, nullif(c.workflow, '') as workflow, c.cause, sum(c.amount)::bigint as amount
        from journey.counts c
        where c.at >= $1 and c.at < $2
        group by c.name, c.workflow, c.cause
        order by c.name, c.workflow, c.cause
        """)
}
