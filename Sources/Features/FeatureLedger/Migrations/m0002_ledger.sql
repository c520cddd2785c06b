-- The ledger, which is only added to, and what follows from it.
--
--   entries      one row for each thing that happened to a customer's features; a feature's balance is the
--                sum of its amounts. Never updated, deleted only when a person is forgotten
--   accounts     one row a customer: the state that the entries make, applied in order. Its lock is what
--                every writer of a customer takes first
--   operations   every consumption that was decided, with its receipt: a repeat gets the same
--   purchases    every store transaction that was taken in; each grants once, to one customer
--
-- Sandbox and production never meet: the environment is the first column of every key. The customer is the
-- second, so that all of it can be distributed by customer.

create table features.entries (
    environment text not null,
    customer_id text not null,
    -- Counted for each customer from 1, without gaps.
    number bigint not null,
    recorded_at timestamptz not null,
    kind text not null,
    feature_id text not null,
    -- '' for the customer's own.
    entity_id text not null,
    amount bigint not null,
    operation_id text,
    document json not null,
    primary key (environment, customer_id, number)
);

create table features.accounts (
    environment text not null check (environment in ('production', 'sandbox')),
    customer_id text not null,
    -- The number of the last entry.
    revision bigint not null,
    state json not null,
    primary key (environment, customer_id)
) with (fillfactor = 70);

create table features.operations (
    environment text not null,
    customer_id text not null,
    operation_id text not null,
    decided_at timestamptz not null,
    -- What makes a command the same command.
    fingerprint text not null,
    receipt json not null,
    metadata json,
    primary key (environment, customer_id, operation_id)
);

create table features.purchases (
    environment text not null,
    transaction_id text not null,
    -- '' once the person was forgotten: the transaction still grants nobody else anything.
    customer_id text not null,
    original_transaction_id text not null,
    store_product_id text not null,
    product_id text not null,
    signed_at timestamptz not null,
    -- Whether it ever gave anything.
    granted boolean not null,
    -- Whether an operator took it for good.
    revoked boolean not null default false,
    received_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    -- What the store signed last.
    payload json not null,
    primary key (environment, transaction_id)
);
create index purchases_by_customer on features.purchases (environment, customer_id);

-- Deletes a person. The server's role has no right to delete entries: only this function, which acts as
-- the schema's owner, may.
create function features.forget(of_environment text, of_customer text) returns bigint
language plpgsql security definer set search_path = features, pg_temp as $$
declare
    deleted bigint;
    total bigint := 0;
begin
    perform 1 from accounts where environment = of_environment and customer_id = of_customer
        for update;
    delete from entries where environment = of_environment and customer_id = of_customer;
    get diagnostics deleted = row_count;
    total := total + deleted;
    delete from operations where environment = of_environment and customer_id = of_customer;
    get diagnostics deleted = row_count;
    total := total + deleted;
    delete from access_steps where environment = of_environment and customer_id = of_customer;
    get diagnostics deleted = row_count;
    total := total + deleted;
    update purchases set customer_id = '', payload = 'null'
        where environment = of_environment and customer_id = of_customer;
    get diagnostics deleted = row_count;
    total := total + deleted;
    delete from accounts where environment = of_environment and customer_id = of_customer;
    get diagnostics deleted = row_count;
    return total + deleted;
end
$$;
