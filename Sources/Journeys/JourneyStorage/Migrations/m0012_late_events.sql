-- A customer's events by the time they occurred at: a turn asks whether what an input would start was
-- ended, or had reached its goal, by something that occurred later and came earlier (S4). Mostly nothing
-- did, and then it reads nothing. Partitions to come take the index over from their parent.
create index events_by_occurrence on journey.events (customer, occurred_at);
