internal import JSON
internal import JourneyTurns
internal import Postgres

extension ScheduleInput {
    var text: String { JSONValue.object(json).text }
}

extension ScheduleStore {
    static let readingTime = SQLStatement(
        "schedule_time",
        """
        select date_trunc('milliseconds', clock_timestamp()) as now
        """)

    static let readingLatest = SQLStatement(
        "schedule_latest",
        """
        select f.workflow, max(f.planned_at) as planned_at
        from journey.firings f
        group by f.workflow
        """)

    static let readingWalking = SQLStatement(
        "schedule_walking",
        """
        select f.workflow, f.planned_at, f.rate, f.walked
        from journey.firings f
        where f.ended_at is null
        order by f.planned_at, f.workflow
        """)

    /// `$5` says why a firing is skipped, `$6` how many it stands for.
    static let inserting = SQLStatement(
        "schedule_insert",
        """
        with planned as materialized (
            select n.workflow, n.planned_at, n.rate, string_to_array(n.environments, ',')
                    as environments, n.reason, n.amount, b.now
            from unnest(
                $1::text[], $2::timestamptz[], $3::integer[], $4::text[], $5::text[], $6::bigint[]
            ) n (workflow, planned_at, rate, environments, reason, amount)
            cross join (select date_trunc('milliseconds', clock_timestamp()) as now) b
        ), written as (
            insert into journey.firings (
                workflow, planned_at, state, reason, rate, environments, started_at, ended_at
            )
            select workflow, planned_at, case when reason is null then 'walking' else 'skipped' end,
                reason, rate, environments, case when reason is null then now end,
                case when reason is not null then now end
            from planned
            order by workflow, planned_at
            on conflict (workflow, planned_at) do nothing
            returning workflow, planned_at
        )
        insert into journey.counts (at, name, workflow, cause, amount)
        select p.now, 'not_fired', p.workflow, p.reason, p.amount
        from planned p
        join written w using (workflow, planned_at)
        where p.reason is not null
        """)

    /// Lock order: the firing's row, waiting for another walker. Records that were merged away are passed
    /// over: their survivor is asked.
    static let walking = SQLStatement(
        "schedule_walk",
        """
        with firing as materialized (
            select f.workflow, f.planned_at, f.cursor, f.environments,
                date_trunc('milliseconds', clock_timestamp()) as now
            from journey.firings f
            where f.workflow = $1 and f.planned_at = $2 and f.ended_at is null
            for update
        ), page as materialized (
            select c.id, c.environment, c.app, c.forwards_to
            from firing f
            cross join lateral (
                select c.id, c.environment, c.app, c.forwards_to
                from journey.customers c
                where c.id > f.cursor
                order by c.id
                limit $3
            ) c
        ), asked as (
            insert into journey.inbox (customer, kind, payload, environment, app, routed_at)
            select p.id, 'schedule', $4::json, p.environment, p.app, f.now
            from page p
            cross join firing f
            where p.forwards_to is null and p.environment = any (f.environments)
            order by p.id
            returning 1
        ), passed as materialized (
            select count(*) < $3 as is_last, max(id) as cursor from page
        ), moved as (
            update journey.firings f
            set cursor = coalesce(p.cursor, f.cursor),
                walked = f.walked + (select count(*) from asked),
                state = case when p.is_last then 'walked' else f.state end,
                ended_at = case when p.is_last then w.now end
            from firing w
            cross join passed p
            where f.workflow = w.workflow and f.planned_at = w.planned_at
        )
        select (select count(*) from asked) as asked, p.is_last from passed p
        """)

    /// Only the newest walk is worth walking: whoever it brings to a turn meets everything published.
    /// Lock order: the walk's row, then timers by customer, waiting for turns.
    static let walkingPublished = SQLStatement(
        "schedule_walk_published",
        """
        with walk as materialized (
            select w.id, w.revision, w.cursor,
                date_trunc('milliseconds', clock_timestamp()) as now
            from journey.walks w
            where w.ended_at is null
            order by w.id desc
            limit 1
            for update
        ), page as materialized (
            select c.id, c.definitions_seen, c.forwards_to
            from walk w
            cross join lateral (
                select c.id, c.definitions_seen, c.forwards_to
                from journey.customers c
                where c.id > w.cursor
                order by c.id
                limit $1
            ) c
        ), asked as (
            insert into journey.timers (customer, due_at)
            select p.id, w.now
            from page p
            cross join walk w
            where p.definitions_seen < w.revision and p.forwards_to is null
            order by p.id
            on conflict (customer) do update
            set due_at = least(timers.due_at, excluded.due_at)
            returning 1
        ), passed as materialized (
            select count(*) < $1 as is_last, max(id) as cursor from page
        ), moved as (
            update journey.walks o
            set cursor = case when o.id = w.id then coalesce(p.cursor, o.cursor) else o.cursor end,
                walked = o.walked
                    + case when o.id = w.id then (select count(*) from asked) else 0 end,
                ended_at = case when o.id < w.id or p.is_last then w.now end
            from walk w
            cross join passed p
            where o.ended_at is null and o.id <= w.id
        )
        select (select count(*) from asked) as asked, p.is_last
        from passed p
        cross join walk w
        """)
}
