-- Records that turn out to be one person (S10).
--
--   inbox               + joins: the app itself says that the ids are one person; route_after: not before
--                       this may the row be routed, since a merge that it waits for failed; starts: false
--                       for an event that may change state and start nothing
--   merges              one row a merge: which record went into which, and what for
--   merge_failures      pairs whose merge failed, with the error and when it is tried again
--   identity_conflicts  two identified records that a webhook names together: one row a pair
--
-- A record that was merged away stays as a row whose forwards_to names the survivor itself: a later merge
-- of the survivor turns the rows that named it, so that the way is never longer than one step.

alter table journey.inbox
    add column joins boolean not null default false,
    add column starts boolean not null default true,
    add column route_after timestamptz;
create index inbox_put_off on journey.inbox (route_after) where route_after is not null;

create table journey.merges (
    id bigint generated always as identity primary key,
    at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    survivor bigint not null,
    merged bigint not null,
    input bigint,
    delivery bigint,
    audit bigint
);
create index merges_by_survivor on journey.merges (survivor);

create table journey.merge_failures (
    one bigint not null,
    other bigint not null,
    since timestamptz not null,
    attempts integer not null,
    error text not null,
    retry_at timestamptz not null,
    primary key (one, other)
);

create table journey.identity_conflicts (
    one bigint not null,
    other bigint not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    times bigint not null,
    delivery bigint,
    primary key (one, other)
);
create index identity_conflicts_by_other on journey.identity_conflicts (other);
