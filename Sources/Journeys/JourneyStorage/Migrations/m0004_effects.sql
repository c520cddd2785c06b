-- What is to be done outside the database (S13).
--
--   effects           one row an effect: the request as rendered, how it ended
--   effect_queue      effects that may still need an attempt; small and hot. due_at is when the row
--                     is to be looked at: the next attempt, or the end of the lease in force
--   effect_attempts   one row an attempt, with its fencing number; monthly partitions
--
-- Every session that locks several queue rows takes them with skip locked, or in (customer,
-- invocation) order, and touches effects only after the queue row.

create table journey.effects (
    customer bigint not null,
    invocation text not null,
    run text not null,
    step text not null,
    attempt_group integer not null,
    tool text not null,
    account text,
    request json not null,
    requested_at timestamptz not null,
    deadline timestamptz not null,
    attempt_timeout_ms bigint not null,
    retry json not null,
    status text not null default 'pending',
    reason text,
    attempts integer not null default 0,
    result json,
    ended_at timestamptz,
    primary key (customer, invocation)
) with (fillfactor = 80);
create index effects_by_invocation on journey.effects (invocation);
create index effects_by_time on journey.effects using brin (requested_at);
create index effects_by_run on journey.effects (customer, run);

create table journey.effect_queue (
    customer bigint not null,
    invocation text not null,
    run text not null,
    tool text not null,
    account text not null,
    due_at timestamptz not null,
    deadline timestamptz not null,
    attempt_timeout_ms bigint not null,
    fence bigint not null default 0,
    attempts integer not null default 0,
    lease_until timestamptz,
    withdrawn text,
    primary key (customer, invocation)
) with (
    fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 5000,
    autovacuum_analyze_scale_factor = 0
);
create index effect_queue_due on journey.effect_queue (tool, account, due_at);
create index effect_queue_deadline on journey.effect_queue (deadline);

create table journey.effect_attempts (
    customer bigint not null,
    invocation text not null,
    number integer not null,
    fence bigint not null,
    started_at timestamptz not null,
    ended_at timestamptz,
    outcome text,
    ambiguous boolean not null default false,
    excerpt bytea,
    primary key (customer, invocation, fence, started_at)
) partition by range (started_at);
