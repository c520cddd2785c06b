-- What is kept for how long.
--
--   horizons          since when a table holds everything it was given: what is older may have been dropped
--   drop_partitions   drops the oldest monthly partition of a table that ended before a time, with whatever
--                     must stay put into a partition of its own in its place; returns what it did, or no
--                     row when there is nothing to do. One partition a call, so that its locks are short
--
-- What must stay: history and attempts of runs that are live, whose goal may still be reached, or that
-- ended after that time; deliveries and bodies that some input still needs. Where more than `most_kept` rows
-- must stay, the partition stays as it is.
--
-- The worker's role drops partitions through this function alone, with the owner's rights.

create table journey.horizons (
    what text primary key,
    since timestamptz not null
);

create function journey.drop_partitions(
    of_table text, before timestamptz, as_of timestamptz, most_kept integer
) returns table (part text, removed bigint, kept bigint, is_dropped boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    cut text;
    stays text;
    child text;
    first_day date;
    lower_bound timestamptz;
    upper_bound timestamptz;
    total bigint;
begin
    if not pg_try_advisory_xact_lock(hashtext('journey.drop_partitions')) then
        return;
    end if;
    select p.cut_by into strict cut from journey.partitioned p where p.parent = of_table;
    stays := case of_table
        when 'history' then
            'h.run in (select r.id from journey.runs r where r.ended_at is null '
            'or r.ended_at >= $1 or r.open_until >= $2)'
        when 'effect_attempts' then
            'exists (select from journey.effects e join journey.runs r on r.id = e.run '
            'where e.invocation = h.invocation '
            'and (r.ended_at is null or r.ended_at >= $1 or r.open_until >= $2))'
        when 'deliveries' then
            'h.id in (select i.delivery from journey.inbox i where i.delivery is not null '
            'union all select u.delivery from journey.unassigned u where u.delivery is not null)'
        when 'delivery_bodies' then
            'h.id in (select i.delivery from journey.inbox i where i.delivery is not null '
            'union all select u.delivery from journey.unassigned u where u.delivery is not null)'
        when 'events' then 'false'
        else 'true'
    end;
    for child in
        select c.relname
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = ('journey.' || quote_ident(of_table))::regclass
            and c.relname ~ ('^' || of_table || '_\d{4}_\d{2}$')
        order by c.relname
    loop
        first_day := to_date(right(child, 7), 'YYYY_MM');
        lower_bound := first_day::timestamp at time zone 'UTC';
        upper_bound := (first_day + interval '1 month') at time zone 'UTC';
        exit when upper_bound > before;
        begin
            -- Readers go on; nobody writes to a month that long over but who marks or erases.
            execute format('lock table journey.%I in share row exclusive mode', child);
            execute format(
                'select count(*), count(*) filter (where %s) from journey.%I h where $1 = $1 and $2 = $2',
                stays, child)
                into total, kept using before, as_of;
            continue when kept = total and total > 0;
            part := child;
            is_dropped := kept <= most_kept;
            removed := case when is_dropped then total - kept else 0 end;
            if not is_dropped then
                return next;
                continue;
            end if;
            if kept > 0 then
                execute format(
                    'create table journey.%I (like journey.%I including all)',
                    child || '_kept', of_table);
                execute format(
                    'insert into journey.%I select h.* from journey.%I h where (%s) and $1 = $1 and $2 = $2',
                    child || '_kept', child, stays) using before, as_of;
            end if;
            execute format('alter table journey.%I detach partition journey.%I', of_table, child);
            execute format('drop table journey.%I', child);
            if kept > 0 then
                execute format(
                    'alter table journey.%I rename to %I', child || '_kept', child);
                execute format(
                    'alter table journey.%I attach partition journey.%I for values from (%L) to (%L)',
                    of_table, child, lower_bound, upper_bound);
            end if;
            insert into journey.horizons as o (what, since)
            values (of_table, case of_table when 'history' then before else upper_bound end)
            on conflict (what) do update set since = greatest(o.since, excluded.since);
            return next;
            return;
        exception when lock_not_available or query_canceled then
            -- Somebody is at it: the next call tries again.
            raise warning 'journey: % was not dropped: %', child, sqlerrm;
        end;
    end loop;
    -- What lies outside the made months.
    execute format(
        'with gone as (select h.ctid from journey.%1$I h where h.%2$I < $1 and not (%3$s) and $2 = $2 '
        'limit 5000), deleted as (delete from journey.%1$I d using gone g where d.ctid = g.ctid returning 1) '
        'select count(*) from deleted', of_table || '_rest', cut, stays)
        into removed using before, as_of;
    if removed > 0 then
        part := of_table || '_rest';
        kept := 0;
        is_dropped := false;
        insert into journey.horizons as o (what, since) values (of_table, before)
        on conflict (what) do update set since = greatest(o.since, excluded.since);
        return next;
    end if;
end
$$;

revoke execute on function
    journey.drop_partitions(text, timestamptz, timestamptz, integer) from public;
