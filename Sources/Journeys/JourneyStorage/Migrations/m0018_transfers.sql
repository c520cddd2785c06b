-- Subscriptions that go from one customer to another, and events that wait for their owner (S10).
--
--   transfers    one row a transfer that a provider told: who gives, once routing knows them, and who
--                receives. due_at: when it is to be carried out, first or since facts came late;
--                told_at: when both had their event
--   customers    + given_until: when the latest transfer of a customer who gave one happened; what happened
--                before it and comes late goes the same way
--   unassigned   + the subscription that the event is about; checked: it was looked for again after every
--                turn that was under way when it was set aside

create index merges_by_merged on journey.merges (merged);

create table journey.transfers (
    event text primary key,
    connector text not null,
    environment text not null,
    receiver bigint not null,
    giver bigint,
    occurred_at timestamptz not null,
    moves boolean not null,
    payload json not null,
    recorded_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    told_at timestamptz,
    due_at timestamptz
);
create index transfers_due on journey.transfers (due_at) where due_at is not null;
create index transfers_by_giver on journey.transfers (giver) where giver is not null;
create index transfers_by_receiver on journey.transfers (receiver);

alter table journey.customers
    add column given_until timestamptz;

alter table journey.unassigned
    add column connector text,
    add column subscription_key text,
    add column set_aside_at timestamptz not null default '1970-01-01 00:00:00+00',
    add column checked boolean not null default false;
create index unassigned_by_key on journey.unassigned (connector, subscription_key, environment)
    where subscription_key is not null;
create index unassigned_unchecked on journey.unassigned (set_aside_at)
    where subscription_key is not null and not checked;
