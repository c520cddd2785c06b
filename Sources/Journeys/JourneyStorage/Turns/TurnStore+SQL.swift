internal import Postgres

// Claiming and loading are never one statement: its snapshot would be older than its locks, and inputs
// that another turn has just taken would be seen again.
extension TurnStore {
    /// The customers of the oldest unread inputs and of due timers. Lock order: oldest first; it never
    /// waits (`skip locked`), so the order cannot deadlock. `$2` bounds how many unread rows are looked
    /// at, `$1` how many customers are locked. Where those rows are of fewer than `$1` customers, one with
    /// very many stands at the head: then others are found by stepping from customer to customer, from a
    /// place drawn by lot (`$3`, from 0 to 1), so that nobody waits behind the crowd.
    static let claiming = SQLStatement(
        "turn_claim",
        """
        with recursive unread as materialized (
            select i.customer, i.recorded_at as since
            from journey.inbox i
            where i.customer is not null
                and not exists (
                    select from journey.set_aside s
                    where s.customer = i.customer and (s.retry_at is null or s.retry_at > now())
                )
            order by i.recorded_at, i.sequence
            limit $2
        ), crowd as materialized (
            select count(*) = $2 and count(distinct customer) < $1 as is_crowded from unread
        ), step (customer, number) as (
            select
                (
                    select i.customer
                    from journey.inbox i
                    where i.customer >= (
                        select (l.customer * $3::float8)::bigint
                        from journey.inbox l
                        where l.customer is not null
                        order by l.customer desc
                        limit 1
                    )
                    order by i.customer
                    limit 1
                ), 1
            from crowd
            where is_crowded
            union all
            select
                (
                    select i.customer
                    from journey.inbox i
                    where i.customer > s.customer
                    order by i.customer
                    limit 1
                ), s.number + 1
            from step s
            where s.customer is not null and s.number < $1
        ), others as materialized (
            select s.customer, now() as since
            from step s
            where s.customer is not null
                and not exists (
                    select from journey.set_aside a
                    where a.customer = s.customer and (a.retry_at is null or a.retry_at > now())
                )
        ), due as materialized (
            select t.customer, t.due_at as since
            from journey.timers t
            where t.due_at <= now()
                and not exists (
                    select from journey.set_aside s
                    where s.customer = t.customer and (s.retry_at is null or s.retry_at > now())
                )
            order by t.due_at, t.customer
            limit $1 * 4
        ), ready as materialized (
            select w.customer
            from (
                select customer, since from unread
                union all
                select customer, since from due
                union all
                select customer, since from others
            ) w
            group by w.customer
            order by min(w.since), w.customer
            limit $1 * 4
        )
        select c.id
        from ready r
        join journey.customers c on c.id = r.customer
        limit $1
        for no key update of c skip locked
        """)

    /// Some of a failed batch again. Lock order: id; it never waits.
    static let claimingThese = SQLStatement(
        "turn_claim_these",
        """
        select c.id
        from journey.customers c
        where c.id = any ($1::bigint[])
        order by c.id
        for no key update of c skip locked
        """)

    static let readingRevision = SQLStatement(
        "turn_revision",
        """
        select revision from journey.catalogue
        """)

    static let loadingCustomers = SQLStatement(
        "turn_load_customers",
        """
        select c.id, c.environment, c.app, c.attributes, c.attribute_setters, c.inputs_taken,
            c.forwards_to, c.created_at, c.definitions_seen, c.given_until,
            exists (select from journey.set_aside s where s.customer = c.id) as is_set_aside,
            date_trunc('milliseconds', b.now) as now
        from (select clock_timestamp() as now) b
        cross join journey.customers c
        where c.id = any ($1::bigint[])
        order by c.id
        """)

    /// At most `$2` inputs a customer; bodies and payloads of at most `$3` bytes a customer (but always
    /// one) and `$4` in all (but always one). One row more than was loaded shows that more are unread.
    static let loadingInputs = SQLStatement(
        "turn_load_inputs",
        """
        with listed as materialized (
            select w.customer, i.sequence, i.kind, i.delivery, i.delivery_received_at, i.recorded_at,
                coalesce(d.body_bytes, octet_length(i.payload::text), 0) as bytes,
                d.connector, d.provider_event_id,
                row_number() over own as place,
                row_number() over every as place_of_all,
                sum(coalesce(d.body_bytes, octet_length(i.payload::text), 0)) over own as sum_own,
                sum(coalesce(d.body_bytes, octet_length(i.payload::text), 0)) over every as sum_all
            from unnest($1::bigint[]) w (customer)
            cross join lateral (
                select sequence, kind, delivery, delivery_received_at, recorded_at, payload
                from journey.inbox i
                where i.customer = w.customer
                order by i.recorded_at, i.sequence
                limit $2 + 1
            ) i
            left join journey.deliveries d
                on d.id = i.delivery and d.received_at = i.delivery_received_at
            window own as (partition by w.customer order by i.recorded_at, i.sequence),
                every as (order by w.customer, i.recorded_at, i.sequence)
        ), loaded as materialized (
            select l.*,
                l.place <= $2 and (l.place = 1 or l.sum_own <= $3)
                    and (l.place_of_all = 1 or l.sum_all <= $4) as is_loaded
            from listed l
        )
        select l.customer, l.sequence, l.kind, l.recorded_at, l.is_loaded, l.delivery, l.connector,
            l.provider_event_id, l.delivery_received_at, i.payload, b.body,
            coalesce(i.starts, true) as starts
        from loaded l
        left join journey.inbox i on l.is_loaded and i.sequence = l.sequence
        left join journey.delivery_bodies b
            on l.is_loaded and b.id = l.delivery and b.received_at = l.delivery_received_at
        order by l.customer, l.recorded_at, l.sequence
        """)

    /// Live runs, and ended ones whose goal can still be reached (S21).
    static let loadingRuns = SQLStatement(
        "turn_load_runs",
        """
        select r.customer, r.id, r.state, r.entered_at
        from journey.runs r
        where r.customer = any ($1::bigint[]) and r.ended_at is null
        union all
        select r.customer, r.id, r.state, r.entered_at
        from journey.runs r
        where r.customer = any ($1::bigint[]) and r.ended_at is not null
            and r.open_until >= now()
        order by customer, entered_at, id
        """)

    /// Entries of ended runs that count for re-entry, of workflows whose re-entry is limited; live runs
    /// speak for themselves.
    static let loadingEntries = SQLStatement(
        "turn_load_entries",
        """
        select r.customer, r.workflow, r.key, max(r.entered_at) as entered_at
        from journey.runs r
        where r.customer = any ($1::bigint[]) and r.workflow = any ($2::text[])
            and r.ended_at is not null and r.status not in ('failed', 'cancelled', 'superseded')
        group by r.customer, r.workflow, r.key
        """)

    /// What live runs may look back to, the newest `$2` a customer; and what came within 31 days and did
    /// not occur before every unread input, the latest `$2`, for entries that come too late (S4).
    static let loadingLog = SQLStatement(
        "turn_load_log",
        """
        with marks as materialized (
            select r.customer, min(r.look_back) as mark, min(r.look_back_at) as since
            from journey.runs r
            where r.customer = any ($1::bigint[]) and r.ended_at is null
                and r.look_back is not null
            group by r.customer
        ), arrivals as materialized (
            select i.customer, min(i.occurred_at) as earliest
            from journey.inbox i
            where i.customer = any ($1::bigint[]) and i.occurred_at is not null
            group by i.customer
        )
        select e.customer, e.ordinal, e.recorded_at, e.event
        from marks m
        cross join lateral (
            select e.customer, e.ordinal, e.recorded_at, e.event
            from journey.events e
            where e.customer = m.customer and e.recorded_at >= m.since and e.ordinal > m.mark
            order by e.ordinal desc
            limit $2
        ) e
        union all
        select n.customer, n.ordinal, n.recorded_at, n.event
        from arrivals a
        cross join lateral (
            select e.customer, e.ordinal, e.recorded_at, e.event
            from journey.events e
            where e.customer = a.customer and e.occurred_at >= a.earliest
                and e.recorded_at >= now() - interval '31 days'
            order by e.occurred_at desc
            limit $2
        ) n
        """)

    static let loadingSegments = SQLStatement(
        "turn_load_segments",
        """
        select m.customer, m.segment, m.entered_at
        from journey.segment_members m
        where m.customer = any ($1::bigint[])
        """)

    static let loadingAssignments = SQLStatement(
        "turn_load_assignments",
        """
        select a.customer, a.experiment, a.variant
        from journey.assignments a
        where a.customer = any ($1::bigint[])
        """)

    static let loadingDates = SQLStatement(
        "turn_load_dates",
        """
        select d.customer, d.workflow, d.subject, d.date, d.due_at, d.is_pending
        from journey.date_entries d
        where d.customer = any ($1::bigint[]) and d.workflow = any ($2::text[])
        """)

    /// Which dates have started runs: a date may move away and come back.
    static let loadingDateCauses = SQLStatement(
        "turn_load_date_causes",
        """
        select r.customer, r.workflow, r.cause
        from journey.runs r
        where r.customer = any ($1::bigint[]) and r.workflow = any ($2::text[])
            and starts_with(r.cause, 'date:')
        """)

    /// The newest `$4` events a customer that questions about history are about, recorded at `$2` or
    /// later; `$3` null for events of any name.
    static let loadingHistory = SQLStatement(
        "turn_load_history",
        """
        select e.customer, e.ordinal, e.recorded_at, e.event
        from unnest($1::bigint[]) w (customer)
        cross join lateral (
            select e.customer, e.ordinal, e.recorded_at, e.event
            from journey.events e
            where e.customer = w.customer and e.recorded_at >= $2
                and ($3::text[] is null or e.name = any ($3::text[]))
            order by e.ordinal desc
            limit $4
        ) e
        """)

    /// The ids that a customer is known by elsewhere, the person's own first.
    static let loadingIDs = SQLStatement(
        "turn_load_ids",
        """
        select i.customer, i.external_id
        from journey.customer_ids i
        where i.customer = any ($1::bigint[])
        order by i.customer, not i.is_own, i.linked_at, i.external_id
        """)

    /// Which values of `once_per` are taken.
    static let loadingValues = SQLStatement(
        "turn_load_values",
        """
        select w.customer, v.workflow, v.value
        from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
            w (customer, workflow, environment, app, value)
        join journey.entry_values v
            on v.workflow = w.workflow and v.environment = w.environment and v.app = w.app
                and v.value = w.value
        """)

    static let loadingSubscriptions = SQLStatement(
        "turn_load_subscriptions",
        """
        select s.customer, s.connector, s.subscription_key, s.state
        from journey.subscriptions s
        where s.customer = any ($1::bigint[])
        """)

    /// Ended runs to which results have come: what was done for them is told in their history.
    static let loadingResultRuns = SQLStatement(
        "turn_load_result_runs",
        """
        select r.customer, r.id, r.state, r.entered_at
        from unnest($1::bigint[], $2::text[]) w (customer, id)
        join journey.runs r on r.customer = w.customer and r.id = w.id
        where r.ended_at is not null
        order by r.customer, r.id
        """)

    /// The bytes of logged events that came as deliveries, of at most `$3` bytes in all, newest first.
    static let loadingBodies = SQLStatement(
        "turn_load_bodies",
        """
        select s.id, b.body
        from (
            select w.id, i.delivery, i.received_at,
                sum(d.body_bytes) over (order by d.received_at desc, d.id desc) as bytes
            from unnest($1::text[], $2::text[], $4::text[]) w (id, connector, provider_event_id)
            join journey.delivery_ids i
                on i.connector = w.connector and i.provider_event_id = w.provider_event_id
            join journey.deliveries d on d.id = i.delivery and d.received_at = i.received_at
        ) s
        join journey.delivery_bodies b on b.id = s.delivery and b.received_at = s.received_at
        where s.bytes <= $3
        """)

    /// The events that ids became earlier, for comparing repeats (S16); null for one whose month is no
    /// longer kept.
    static let loadingEarlier = SQLStatement(
        "turn_load_earlier",
        """
        select i.id, i.recorded_at, e.event
        from unnest($1::text[]) w (id)
        join journey.event_ids i on i.id = w.id
        left join journey.events e
            on e.customer = i.customer and e.ordinal = i.ordinal and e.recorded_at = i.recorded_at
        """)

    /// The newest `$2` events a customer that tell of a subscription: an event that is mapped anew takes back
    /// what it had set of one.
    static let loadingSubscribed = SQLStatement(
        "turn_load_subscribed",
        """
        select e.customer, e.ordinal, e.recorded_at, e.event
        from unnest($1::bigint[]) w (customer)
        cross join lateral (
            select e.customer, e.ordinal, e.recorded_at, e.event
            from journey.events e
            where e.customer = w.customer
                and e.event #>> '{properties,subscription_key}' is not null
            order by e.ordinal desc
            limit $2
        ) e
        """)

    static let loadingCauses = SQLStatement(
        "turn_load_causes",
        """
        select r.customer, r.workflow, r.cause
        from unnest($1::bigint[], $2::text[]) w (customer, cause)
        join journey.runs r on r.customer = w.customer and r.cause = w.cause
        """)
}
