internal import Postgres

extension BatchStore {
    /// The state that people are shown; `$1` to `$8` are a selection's.
    private static let state = """
        coalesce(
            d.state,
            case
                when exists (select from journey.unassigned u where u.delivery = d.id)
                    then 'unassigned'
                else 'unread'
            end)
        """

    private static let matching = """
        ($1::bigint[] is null or d.id = any ($1))
            and ($2::text is null or d.connector = $2)
            and ($3::text is null or \(state) = $3)
            and ($4::text is null or d.environment = $4)
            and (
                $5::text is null or exists (
                    select
                    from journey.event_ids i
                    join journey.events e
                        on e.customer = i.customer and e.ordinal = i.ordinal
                            and e.recorded_at = i.recorded_at
                    where i.id = d.event and e.name = $5
                )
            )
            and (
                $6::bigint is null or exists (
                    select from journey.event_ids i where i.id = d.event and i.customer = $6
                )
            )
            and ($7::timestamptz is null or d.received_at >= $7)
            and ($8::timestamptz is null or d.received_at < $8)
        """

    static let counting = SQLStatement(
        "batch_count",
        """
        select count(*) from journey.deliveries d where \(matching)
        """, timeout: .seconds(60))

    static let listing = SQLStatement(
        "batch_list_deliveries",
        """
        select d.id, d.connector, d.provider_event_id, d.received_at, d.environment, d.app,
            d.body_bytes, d.state, d.reason, d.event
        from journey.deliveries d
        where \(matching)
        order by d.id
        limit $9
        """, timeout: .seconds(60))

    /// Looks over at most `$10` deliveries after the number `$9`, and loads at most `$11` of them and `$12`
    /// bytes (but always one). One row without an id where none is selected: it says how far it came.
    static let paging = SQLStatement(
        "batch_page",
        """
        with scanned as materialized (
            select d.*
            from journey.deliveries d
            where d.id > $9 and ($1::bigint[] is null or d.id = any ($1))
                and ($7::timestamptz is null or d.received_at >= $7)
                and ($8::timestamptz is null or d.received_at < $8)
            order by d.id
            limit $10
        ), matched as materialized (
            select d.*, \(state) as shown_state, row_number() over (order by d.id) as place,
                sum(d.body_bytes) over (order by d.id) as bytes
            from scanned d
            where \(matching)
        ), taken as materialized (
            select * from matched where place <= $11 and (place = 1 or bytes <= $12)
        ), reached as materialized (
            select
                case
                    when (select count(*) from taken) < (select count(*) from matched)
                        then (select max(id) from taken)
                    else (select max(id) from scanned)
                end as id,
                (select count(*) from taken) = (select count(*) from matched)
                    and (select count(*) from scanned) < $10 as is_last
        )
        select r.id as reached, r.is_last, t.id, t.received_at, t.connector, t.provider_event_id,
            t.environment, t.app, t.shown_state as state, b.body, b.signature_headers,
            k.delivery is not distinct from t.id as is_first, i.id is not null as is_known,
            i.id as event_id, i.customer, e.event as earlier
        from reached r
        left join taken t on true
        left join journey.delivery_bodies b on b.id = t.id and b.received_at = t.received_at
        left join lateral (
            select k.delivery
            from journey.delivery_ids k
            where k.connector = t.connector and k.provider_event_id = t.provider_event_id
            limit 1
        ) k on true
        left join lateral (
            select i.id, i.customer, i.ordinal, i.recorded_at
            from journey.event_ids i
            where i.id = t.event
            limit 1
        ) i on true
        left join journey.events e
            on e.customer = i.customer and e.ordinal = i.ordinal and e.recorded_at = i.recorded_at
        order by t.id
        """, timeout: .seconds(30))

    static let creating = SQLStatement(
        "batch_create",
        """
        insert into journey.batches (kind, audit, selection, options, rate, total)
        values ($1, $2, $3::json, $4::json, $5, $6)
        returning id
        """)

    static let reading = SQLStatement(
        "batch_read",
        """
        select b.id, b.kind, b.state, b.selection, b.options, b.rate, b.total, b.passed, b.done,
            b.unable, b.error, b.created_at, b.ended_at, a.who, a.reason
        from journey.batches b
        join journey.audit a on a.id = b.audit
        where $1::bigint is null or b.id = $1
        order by b.id desc
        limit $2
        """)

    static let readingRunning = SQLStatement(
        "batch_running",
        """
        select b.id, b.kind, b.state, b.selection, b.options, b.rate, b.total, b.passed, b.done,
            b.unable, b.error, b.created_at, b.ended_at, a.who, a.reason
        from journey.batches b
        join journey.audit a on a.id = b.audit
        where b.ended_at is null and b.state = 'running'
        order by b.id
        """)

    static let readingFindings = SQLStatement(
        "batch_findings",
        """
        select f.object, f.outcome, f.event, f.before, f.after, f.sentence
        from journey.batch_findings f
        where f.batch = $1 and f.object > $2
        order by f.object
        limit $3
        """)

    static let readingStarted = SQLStatement(
        "batch_started",
        """
        select r.cause, r.id
        from unnest($1::text[]) w (event)
        join journey.event_ids i on i.id = w.event
        join journey.customers m on m.id = i.customer
        join journey.runs r
            on r.customer = coalesce(m.forwards_to, m.id) and r.cause = w.event
        where r.ended_at is null
        order by r.cause, r.id
        """)

    static let countingUndecided = SQLStatement(
        "batch_undecided",
        """
        select count(*)
        from journey.batches b
        join journey.inbox i on i.kind = 'replay' and i.payload ->> 'audit' = b.audit::text
        where b.id = $1
        """)

    /// Lock order: id.
    static let steering = SQLStatement(
        "batch_steer",
        """
        with chosen as materialized (
            select b.id
            from journey.batches b
            where b.id = any ($1::bigint[]) and b.ended_at is null and b.state <> $2
            order by b.id
            for update
        )
        update journey.batches b
        set state = $2, error = null,
            changed_at = date_trunc('milliseconds', clock_timestamp()),
            ended_at = case
                when $2 = 'cancelled' then date_trunc('milliseconds', clock_timestamp())
            end
        from chosen c
        where b.id = c.id
        returning b.id
        """)

    // MARK: Walking

    /// Lock order: the batch's row, waiting for another walker.
    static let locking = SQLStatement(
        "batch_lock",
        """
        select b.cursor
        from journey.batches b
        where b.id = $1 and b.ended_at is null and b.state = 'running'
        for update
        """)

    static let moving = SQLStatement(
        "batch_move",
        """
        update journey.batches b
        set cursor = $2, passed = b.passed + $3, done = b.done + $4, unable = b.unable + $5,
            state = case when $6 then 'done' else b.state end,
            changed_at = date_trunc('milliseconds', clock_timestamp()),
            ended_at = case when $6 then date_trunc('milliseconds', clock_timestamp()) end
        where b.id = $1
        """)

    static let halting = SQLStatement(
        "batch_halt",
        """
        update journey.batches b
        set state = 'paused', error = $2,
            changed_at = date_trunc('milliseconds', clock_timestamp())
        where b.id = $1 and b.ended_at is null and b.state = 'running'
        """)

    static let telling = SQLStatement(
        "batch_tell",
        """
        insert into journey.batch_findings (batch, object, outcome, event, before, after, sentence)
        select $1, f.object, f.outcome, f.event, f.before, f.after, f.sentence
        from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
            f (object, outcome, event, before, after, sentence)
        order by f.object
        on conflict do nothing
        """)

    /// Inputs of the customers, or inputs to be routed by what the delivery tells now. One that waited for
    /// want of a customer waits no more.
    static let offering = SQLStatement(
        "batch_offer",
        """
        with offered as materialized (
            select o.place, o.delivery, o.received_at, coalesce(c.forwards_to, c.id) as customer,
                o.environment, o.app, o.occurred_at, o.person_id, o.person_is_anonymous
            from unnest(
                $2::bigint[], $3::timestamptz[], $4::bigint[], $5::text[], $6::text[],
                $7::timestamptz[], $8::text[], $9::boolean[]
            ) with ordinality o (
                delivery, received_at, customer, environment, app, occurred_at, person_id,
                person_is_anonymous, place
            )
            left join journey.customers c on c.id = o.customer
        ), freed as (
            delete from journey.unassigned u using offered o where u.delivery = o.delivery
        ), queued as (
            insert into journey.inbox (
                customer, kind, delivery, delivery_received_at, payload, environment, app, occurred_at,
                person_id, person_is_anonymous, aliases, routed_at
            )
            select o.customer, 'replay', o.delivery, o.received_at, $1::json, o.environment, o.app,
                o.occurred_at, case when o.customer is null then o.person_id end,
                case when o.customer is null then o.person_is_anonymous end,
                case
                    when o.customer is null
                        then array(
                            select a.alias
                            from unnest($10::integer[], $11::text[]) a (place, alias)
                            where a.place = o.place
                        )
                end,
                case
                    when o.customer is not null
                        then date_trunc('milliseconds', clock_timestamp())
                end
            from offered o
            order by o.place
            returning sequence, customer, environment, app, person_id, aliases
        )
        insert into journey.unrouted_ids (environment, app, external_id, sequence)
        select q.environment, coalesce(q.app, ''), w.external_id, q.sequence
        from queued q
        cross join lateral (
            select q.person_id as external_id where q.person_id is not null
            union
            select unnest(q.aliases)
        ) w
        where q.customer is null
        order by 1, 2, 3, 4
        """)
}
