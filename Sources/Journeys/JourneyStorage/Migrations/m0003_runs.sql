-- What customers go through.
--
--   events       the customer's event log, by ordinal; monthly partitions
--   event_ids    event id → its place in the log
--   runs         one row a run, derived from history; state is the run as the engine reads it, the
--                other columns are what unique rules and people ask for. look_back_* says how far the
--                run's present or later waits may look into the log; open_until, until when an ended
--                run may still reach its goal
--   timers       at most one due time a customer
--   history      one row a decision; monthly partitions
--
-- No index or predicate names status: a change of status must stay a HOT update. ended_at changes once.

create table journey.events (
    customer bigint not null,
    ordinal bigint not null,
    recorded_at timestamptz not null,
    id text not null,
    name text not null,
    connector text not null,
    occurred_at timestamptz not null,
    received_at timestamptz not null,
    environment text not null,
    event json not null,
    primary key (customer, ordinal, recorded_at)
) partition by range (recorded_at);
create index events_by_time on journey.events using brin (recorded_at);

create table journey.event_ids (
    id text primary key,
    customer bigint not null,
    ordinal bigint not null,
    recorded_at timestamptz not null
);

create table journey.runs (
    customer bigint not null,
    id text not null,
    workflow text not null,
    version integer not null,
    digest text not null,
    key text,
    slot integer not null,
    cause text not null,
    rerun integer not null,
    environment text not null,
    status text not null,
    reason text,
    step text,
    entered_at timestamptz not null,
    ended_at timestamptz,
    wake_at timestamptz,
    decisions integer not null,
    look_back bigint,
    look_back_at timestamptz,
    open_until timestamptz,
    state json not null,
    primary key (customer, id)
) with (fillfactor = 75);
create unique index runs_live_once on journey.runs (customer, workflow, coalesce(key, ''), slot)
    where ended_at is null;
create index runs_open on journey.runs (customer, open_until) where open_until is not null;
create unique index runs_cause_once on journey.runs (customer, cause, workflow, rerun);
create index runs_by_id on journey.runs (id text_pattern_ops);
create index runs_by_entry on journey.runs (customer, workflow, entered_at);
create index runs_by_time on journey.runs using brin (entered_at);
create index runs_by_workflow on journey.runs (workflow, entered_at);

create table journey.timers (
    customer bigint primary key,
    due_at timestamptz not null
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);
create index timers_due on journey.timers (due_at, customer);

create table journey.history (
    customer bigint not null,
    run text not null,
    decision integer not null,
    at timestamptz not null,
    entries json not null,
    primary key (customer, run, decision, at)
) partition by range (at);
