-- Segments, published beside workflows, and since when each definition is the live one.
--
--   segments           one row a segment id: its live version
--   segment_versions   every published version, immutable
--   workflows, segments: live_revision is the catalogue's revision from which on the version is live;
--                      a customer with a lower definitions_seen has not been compared with it
--
-- What was live before this migration counts as live since ever: nobody is compared with it.

create table journey.segments (
    id text primary key,
    live_version integer,
    live_revision bigint not null default 0,
    live_since timestamptz,
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);

create table journey.segment_versions (
    segment text not null,
    version integer not null,
    digest text not null,
    canonical bytea not null,
    published_at timestamptz not null,
    published_by text not null,
    reason text not null,
    primary key (segment, version),
    unique (segment, digest)
);

alter table journey.workflows add column live_revision bigint not null default 0;
alter table journey.workflows add column live_since timestamptz;
