-- What a customer may use, readable without knowing how it came about.
--
--   access_steps   for each feature (and entity) that is or was held: the answers from one moment to the
--                  next, as long as nothing is written. Written together with the ledger
--   access         the view that the journey side reads, and the only thing it may read here
--
-- Everything that time alone does to an allowance is known when it is written, so it stands here in
-- advance: a reset, a start or an end needs nobody to be awake, and the view is right at reading time.

create table features.access_steps (
    environment text not null,
    customer_id text not null,
    feature_id text not null,
    -- '' for the customer's own.
    entity_id text not null,
    -- From 0, without gaps.
    step smallint not null,
    valid_from timestamptz not null,
    valid_until timestamptz not null,
    changed_at timestamptz not null,
    allowed boolean not null,
    unlimited boolean not null,
    balance bigint,
    type text not null,
    primary key (environment, customer_id, feature_id, entity_id, step)
) with (fillfactor = 80);
create index access_steps_by_change on features.access_steps (environment, changed_at);

-- One time for the whole statement, taken after its snapshot: with now() a row that was committed after the
-- transaction began would lie in the future and be missing; with clock_timestamp() in the conditions both
-- sides of a boundary could be seen, or neither.
create view features.access as
select s.environment, s.customer_id, s.feature_id, s.entity_id, s.allowed, s.unlimited, s.balance,
    s.type, s.changed_at, nullif(s.valid_until, 'infinity') as changes_at
from features.access_steps as s
    cross join (select clock_timestamp() as at offset 0) as present
where s.valid_from <= present.at and present.at < s.valid_until;

-- A view over a join takes no writes anyway; with this, who tries hears of the missing right, as everywhere
-- else, and not of how the view is made.
create function features.refuse_writing() returns trigger
language plpgsql as $$
begin
    raise exception 'features.access is only read' using errcode = 'insufficient_privilege';
end
$$;
create trigger access_is_only_read instead of insert or update or delete on features.access
    for each row execute function features.refuse_writing();
