-- Finds ids that are old enough to go. They come in the order of time, so a few pages tell; it is kept up to
-- date by itself. Alone in its migration, so that the table takes writes while it is built.
create index concurrently if not exists delivery_ids_by_time
    on journey.delivery_ids using brin (received_at) with (autosummarize = on)
