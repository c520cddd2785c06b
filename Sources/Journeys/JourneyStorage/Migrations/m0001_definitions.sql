-- Definitions, and what is kept once for the whole installation.
--
--   workflows           one row a workflow id: which version new runs enter
--   workflow_versions   every published version, immutable; canonical bytes, digest unique a workflow
--   catalogue           one row; publish locks it and counts its revision up
--   counts              appended deltas of everything counted by cause (S20), folded by readers
--   audit               who did which changing verb, why

create table journey.workflows (
    id text primary key,
    live_version integer,
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);

create table journey.workflow_versions (
    workflow text not null,
    version integer not null,
    digest text not null,
    canonical bytea not null,
    published_at timestamptz not null,
    published_by text not null,
    reason text not null,
    primary key (workflow, version),
    unique (workflow, digest)
);

create table journey.catalogue (
    one boolean primary key default true check (one),
    revision bigint not null
);
insert into journey.catalogue (revision) values (1);

create table journey.counts (
    at timestamptz not null,
    name text not null,
    workflow text not null default '',
    cause text not null default '',
    amount bigint not null
);
create index counts_by_time on journey.counts using brin (at);

create table journey.audit (
    id bigint generated always as identity primary key,
    at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    who text not null,
    verb text not null,
    reason text not null,
    detail json
);
