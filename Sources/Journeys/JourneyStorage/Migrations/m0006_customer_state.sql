-- What is known of a customer beside attributes, each value with the fact that set it last (S5), so that
-- every order of arrival ends the same.
--
--   subscriptions     one row a subscription of a customer: each field with its setter
--   segment_members   who is in which segment, since when; who left has no row
--   assignments       which variant of an experiment a customer was given: kept for ever (S14)
--   customers         attribute_setters: what set each attribute last; definitions_seen: the revision of
--                     the catalogue whose segments and date entries were compared with this customer

create table journey.subscriptions (
    customer bigint not null,
    connector text not null,
    subscription_key text not null,
    environment text not null,
    state json not null,
    changed_at timestamptz not null,
    primary key (customer, connector, subscription_key)
) with (fillfactor = 80);
-- Whose a subscription is, for events that carry no usable id (S10).
create index subscriptions_by_key
    on journey.subscriptions (connector, subscription_key, environment);

create table journey.segment_members (
    customer bigint not null,
    segment text not null,
    entered_at timestamptz not null,
    primary key (customer, segment)
);
create index segment_members_by_segment on journey.segment_members (segment, customer);

create table journey.assignments (
    customer bigint not null,
    experiment text not null,
    variant text not null,
    assigned_at timestamptz not null,
    primary key (customer, experiment)
);
create index assignments_by_experiment on journey.assignments (experiment, variant);

-- Constant defaults: no row is rewritten.
alter table journey.customers add column attribute_setters json not null default '{}';
alter table journey.customers add column definitions_seen bigint not null default 0;
