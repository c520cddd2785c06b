-- Leases in force by account, which its concurrency is counted from. Alone in its migration, so that the
-- queue takes writes while it is built.
create index concurrently if not exists effect_queue_leased
    on journey.effect_queue (tool, account) where lease_until is not null
