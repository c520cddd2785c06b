internal import Postgres

// Claiming and loading are never one statement: its snapshot would be older than its locks, and inputs
// that another turn has just taken would be seen again.
extension TurnStore {
    /// The customers of the oldest unread inputs and of due timers. Lock order: oldest first; it never
    /// waits (`skip locked`), so the order cannot deadlock. `$2` bounds how many unread rows are looked
    /// at, `$1` how many customers are locked.
    static let claiming = SQLStatement(
        "turn_claim",
        """
        with unread as materialized (
            select i.customer, i.recorded_at as since
            from journey.inbox i
            where i.customer is not null
                and not exists (
                    select from journey.set_aside s
                    where s.customer = i.customer and (s.retry_at is null or s.retry_at > now())
                )
            order by i.recorded_at, i.sequence
            limit $2
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
                select customer, since from unread union all select customer, since from due
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
        select c.id, c.environment, c.app, c.attributes, c.inputs_taken, c.forwards_to,
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
            l.provider_event_id, l.delivery_received_at, i.payload, b.body
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

    /// What live runs may look back to, the newest `$2` a customer; and of the newest 32 within 31 days
    /// those that occurred after an unread input, for entries that come too late (S4).
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
            select e.customer, e.ordinal, e.recorded_at, e.occurred_at, e.event
            from journey.events e
            where e.customer = a.customer and e.recorded_at >= now() - interval '31 days'
            order by e.ordinal desc
            limit 32
        ) n
        where n.occurred_at > a.earliest
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

    static let loadingCauses = SQLStatement(
        "turn_load_causes",
        """
        select r.customer, r.workflow, r.cause
        from unnest($1::bigint[], $2::text[]) w (customer, cause)
        join journey.runs r on r.customer = w.customer and r.cause = w.cause
        """)
}
