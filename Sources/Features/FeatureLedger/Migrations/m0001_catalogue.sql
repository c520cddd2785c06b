-- What can be granted, and who changed what.
--
--   catalogues   every published catalogue, immutable; the one with the highest version is live
--   audit        who did which changing verb, why

create table features.catalogues (
    version integer primary key,
    digest text not null,
    canonical bytea not null,
    published_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    published_by text not null,
    reason text not null
);

create table features.audit (
    id bigint generated always as identity primary key,
    at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    who text not null,
    verb text not null,
    reason text not null,
    detail json
);
