-- As of the ids of deliveries.
create index concurrently if not exists event_ids_by_time
    on journey.event_ids using brin (recorded_at) with (autosummarize = on)
