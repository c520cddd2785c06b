-- Which delivery waits without a customer. Alone in its migration, so that the table takes writes while it
-- is built.
create index concurrently if not exists unassigned_by_delivery on journey.unassigned (delivery)
