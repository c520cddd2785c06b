-- Whose values of `once_per` they are, for merges and for who is forgotten.
create index concurrently if not exists entry_values_by_customer
    on journey.entry_values (customer)
