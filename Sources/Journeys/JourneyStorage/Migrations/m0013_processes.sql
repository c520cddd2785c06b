-- Who is at work, and what is known of an attempt's receiver: what people ask who wonder why a run stands.
--
--   processes         one row a worker's process, written anew every few seconds: what it does and serves,
--                     when it took its last turn, what keeps it from its work. ended_at once it was told to
--                     stop; a process that was killed is known by seen_at. Rows of yesterday go
--   effect_attempts   + is_idempotent: whether the account was known to honour the key as the attempt
--                     started; null for tools without account, and for attempts of before
--
-- No column of processes but its key is indexed: writing it anew is a HOT update.

create table journey.processes (
    id text primary key,
    host text not null,
    roles text[] not null,
    holds_effects boolean not null,
    dispatch_concurrency integer not null,
    accounts json not null,
    started_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    seen_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    ended_at timestamptz,
    turn_at timestamptz,
    turn_trouble text,
    dispatch_trouble text
) with (fillfactor = 50);

alter table journey.effect_attempts add column is_idempotent boolean;
