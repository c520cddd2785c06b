-- When each connector last delivered, so that one that fell silent is noticed.
--
--   connector_activity   one row a connector that ever delivered. Ingest processes write it every few
--                        seconds, never within a request; told_at is when its silence was said, by one
--                        process for all; silence_ms is what the configuration last said, 0 for never
create table journey.connector_activity (
    connector text primary key,
    last_at timestamptz not null,
    silence_ms bigint not null default 0,
    told_at timestamptz
);
