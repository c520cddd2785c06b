-- Monthly partitions, made ahead of time.
--
--   partitioned       the tables that grow, with the column they are cut by
--   ensure_partitions makes the partitions from this month to `months` ahead, and moves rows that
--                     fell into a table's default partition; returns how many it made. A table that
--                     fails is warned of, and the others are made; it waits two seconds for a lock
--   require           stops the transaction when a check inside a pipeline does not hold
--
-- A default partition stands under each table: a row outside the made months is kept, not refused.
-- Attaching lets sessions that use made months go on, where `create table … partition of` would stop all;
-- but it takes ACCESS EXCLUSIVE on the default partition, until the whole function's transaction ends.

create table journey.partitioned (
    parent text primary key,
    cut_by text not null
);
insert into journey.partitioned (parent, cut_by) values
    ('deliveries', 'received_at'), ('delivery_bodies', 'received_at'), ('events', 'recorded_at'),
    ('history', 'at'), ('effect_attempts', 'started_at');

create table journey.deliveries_rest partition of journey.deliveries default;
create table journey.delivery_bodies_rest partition of journey.delivery_bodies default;
create table journey.events_rest partition of journey.events default;
create table journey.history_rest partition of journey.history default;
create table journey.effect_attempts_rest partition of journey.effect_attempts default;

create function journey.ensure_partitions(months integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    one record;
    first_day date;
    made integer := 0;
    made_before integer;
    lower_bound text;
    upper_bound text;
    child text;
begin
    perform pg_advisory_xact_lock(hashtext('journey.ensure_partitions'));
    for one in select parent, cut_by from journey.partitioned order by parent loop
        made_before := made;
        begin
            for ahead in 0..months loop
                first_day := date_trunc('month', clock_timestamp() at time zone 'UTC')
                    + make_interval(months => ahead);
                child := one.parent || to_char(first_day, '"_"YYYY"_"MM');
                continue when to_regclass('journey.' || quote_ident(child)) is not null;
                lower_bound := to_char(first_day, 'YYYY-MM-DD') || ' 00:00:00+00';
                upper_bound := to_char(first_day + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00';
                execute format('create table journey.%I (like journey.%I including all)',
                    child, one.parent);
                execute format(
                    'with moved as (delete from journey.%I where %I >= %L and %I < %L returning *) '
                    'insert into journey.%I select * from moved',
                    one.parent || '_rest', one.cut_by, lower_bound, one.cut_by, upper_bound, child);
                execute format(
                    'alter table journey.%I attach partition journey.%I for values from (%L) to (%L)',
                    one.parent, child, lower_bound, upper_bound);
                made := made + 1;
            end loop;
        exception when others then
            -- What this table's block made is taken back with it.
            made := made_before;
            raise warning 'journey: no partitions made for %: %', one.parent, sqlerrm;
        end;
    end loop;
    return made;
end
$$;

-- The worker's role makes partitions through this function alone, with the owner's rights.
revoke execute on function journey.ensure_partitions(integer) from public;

create function journey.require(holds boolean, what text) returns boolean
language plpgsql as $$
begin
    if holds is not true then
        raise exception 'journey: % does not hold', what using errcode = 'JW001';
    end if;
    return true;
end
$$;

select journey.ensure_partitions(3);
