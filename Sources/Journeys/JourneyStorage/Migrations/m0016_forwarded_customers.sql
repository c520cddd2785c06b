-- Records that were merged into one. Alone in its migration, so that turns go on while it is built.
create index concurrently if not exists customers_forwarded
    on journey.customers (forwards_to) where forwards_to is not null
