-- What starts runs besides events (S4).
--
--   date_entries    one row a workflow and date of a customer: pending, or dealt with
--   entry_values    values of `once_per`: each lets a workflow be entered once, over all customers
--   firings         one row a firing of a schedule: how far its walk over the customers has come
--   walks           durable walks over the customers that are no firings: who meets what was published
--   leases          who may do what only one may do; the term counts up with every new holder
--
-- A walk's cursor is written in the transaction that puts the inputs in: nobody is passed over, and
-- nobody is asked twice.

create table journey.date_entries (
    customer bigint not null,
    workflow text not null,
    subject text not null,
    date timestamptz not null,
    due_at timestamptz not null,
    is_pending boolean not null,
    primary key (customer, workflow, subject)
) with (fillfactor = 80);

create table journey.entry_values (
    workflow text not null,
    environment text not null,
    app text not null,
    value text not null,
    customer bigint not null,
    run text not null,
    entered_at timestamptz not null,
    primary key (workflow, environment, app, value)
);

create table journey.firings (
    workflow text not null,
    planned_at timestamptz not null,
    state text not null,
    reason text,
    rate integer not null,
    environments text[] not null,
    cursor bigint not null default 0,
    walked bigint not null default 0,
    started_at timestamptz,
    ended_at timestamptz,
    primary key (workflow, planned_at)
);
create index firings_walking on journey.firings (planned_at) where ended_at is null;

create table journey.walks (
    id bigint generated always as identity primary key,
    revision bigint not null,
    cursor bigint not null default 0,
    walked bigint not null default 0,
    started_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    ended_at timestamptz
);
create index walks_open on journey.walks (id) where ended_at is null;

create table journey.leases (
    name text primary key,
    holder text not null,
    term bigint not null,
    expires_at timestamptz not null
);
