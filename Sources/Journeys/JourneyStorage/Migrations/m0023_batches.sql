-- Long work over many rows, done page by page by one worker at a time.
--
--   batches          one row a batch: what is selected, what is to be done, how far it has come. The
--                    cursor is written in the transaction that does a page's work: nothing is passed over,
--                    and nothing is done twice
--   batch_findings   what a batch did to an object, or why it could not; objects that it only passed have
--                    no row
--   delivery_bodies  + signature_headers: the headers that a signature over the body stands in, so that it
--                    can be checked again; null where a delivery came with static credentials, which are
--                    kept nowhere
--
-- Nullable, without a default: no row is rewritten.

create table journey.batches (
    id bigint generated always as identity primary key,
    kind text not null,
    audit bigint not null,
    selection json not null,
    options json not null,
    rate integer not null,
    state text not null default 'running',
    cursor bigint not null default 0,
    total bigint not null,
    passed bigint not null default 0,
    done bigint not null default 0,
    unable bigint not null default 0,
    error text,
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    changed_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    ended_at timestamptz
);
create index batches_open on journey.batches (id) where ended_at is null;

create table journey.batch_findings (
    batch bigint not null,
    object bigint not null,
    outcome text not null,
    event text,
    before text,
    after text,
    sentence text,
    primary key (batch, object)
);

alter table journey.delivery_bodies add column signature_headers json;
