-- The database roles of both sides, and what each may do. Idempotent; run it with psql as a superuser,
-- connected to the product's own database, before the first `journey-worker migrate up` and
-- `feature-server migrate up`, and after each:
--
--   psql --dbname journey --file deploy/roles.sql
--
--   journey_owner    owns the schema journey; runs migrations, nothing else
--   journey_worker   reads and writes rows of the schema journey; the worker, and publishing
--   journey_look     reads rows of the schema journey; for people who look
--   feature_owner    owns the schema features; runs migrations, nothing else
--   feature_server   reads and adds to the schema features; the service, and changes by hand
--
-- The two sides meet in one place: journey_worker and journey_look may read the view features.access, and
-- nothing else of that schema. The feature roles see nothing of the schema journey.
--
-- Passwords are not set here: use \password, or peer or certificate authentication.
\set ON_ERROR_STOP on
\set QUIET on
set client_min_messages = warning;
begin;

do $$
declare
    name text;
begin
    -- Roles belong to the whole server: two runs in two databases must not meet here.
    perform pg_advisory_xact_lock(hashtext('journey roles'));
    foreach name in array array[
        'journey_owner', 'journey_worker', 'journey_look', 'feature_owner', 'feature_server'] loop
        if not exists (select from pg_roles where rolname = name) then
            execute format('create role %I', name);
        end if;
        execute format(
            'alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls', name);
    end loop;
end
$$;

-- The database. `create schema if not exists` asks for the right to create one even if it is there.
revoke create, temporary on database :"DBNAME" from public;
grant connect on database :"DBNAME"
    to journey_owner, journey_worker, journey_look, feature_owner, feature_server;
grant create, temporary on database :"DBNAME" to journey_owner, feature_owner;
revoke create on schema public from public;

create schema if not exists journey authorization journey_owner;
alter schema journey owner to journey_owner;
revoke all on schema journey from public, journey_worker, journey_look;
grant usage on schema journey to journey_worker, journey_look;

-- What is there now.
revoke all on all tables in schema journey from public, journey_worker, journey_look;
revoke all on all sequences in schema journey from public, journey_worker, journey_look;
revoke all on all routines in schema journey from public, journey_worker, journey_look;
grant select, insert, update, delete on all tables in schema journey to journey_worker;
grant usage, select on all sequences in schema journey to journey_worker;
grant execute on all routines in schema journey to journey_worker;
grant select on all tables in schema journey to journey_look;

-- What later migrations and new partitions add. Execution by everyone is a default of the server, so
-- it is taken back for all schemas.
alter default privileges for role journey_owner revoke execute on routines from public;
alter default privileges for role journey_owner in schema journey
    grant select, insert, update, delete on tables to journey_worker;
alter default privileges for role journey_owner in schema journey
    grant usage, select on sequences to journey_worker;
alter default privileges for role journey_owner in schema journey
    grant execute on routines to journey_worker;
alter default privileges for role journey_owner in schema journey
    grant select on tables to journey_look;

-- What only exists once migrations have run.
do $$
begin
    -- The worker reads which migrations were applied; it never writes that.
    if to_regclass('journey.migrations') is not null then
        revoke insert, update, delete on journey.migrations from journey_worker;
    end if;
end
$$;

-- The feature side.
create schema if not exists features authorization feature_owner;
alter schema features owner to feature_owner;
revoke all on schema features from public, feature_server, journey_worker, journey_look, journey_owner;
revoke all on schema journey from feature_owner, feature_server;
grant usage on schema features to feature_server, journey_worker, journey_look;
revoke all on all tables in schema features
    from public, feature_server, journey_worker, journey_look, journey_owner;
revoke all on all routines in schema features
    from public, feature_server, journey_worker, journey_look, journey_owner;
alter default privileges for role feature_owner revoke execute on routines from public;

do $$
begin
    if to_regclass('features.migrations') is not null then
        grant select on features.migrations to feature_server;
    end if;
    -- The ledger, decisions, catalogues and the audit are only added to. What follows from the ledger may
    -- be written anew.
    if to_regclass('features.access') is not null then
        grant select, insert on features.entries, features.operations, features.catalogues,
            features.audit to feature_server;
        grant usage on sequence features.audit_id_seq to feature_server;
        grant select, insert, update on features.accounts, features.purchases to feature_server;
        grant select, insert, update, delete on features.access_steps to feature_server;
        grant execute on function features.forget(text, text) to feature_server;
        -- The one door.
        grant select on features.access to journey_worker, journey_look;
    end if;
end
$$;

-- Looking changes nothing and holds nothing up.
alter role journey_look in database :"DBNAME" set default_transaction_read_only = on;
alter role journey_look in database :"DBNAME" set statement_timeout = '30s';
alter role journey_look in database :"DBNAME" set idle_in_transaction_session_timeout = '30s';
-- A worker that hangs inside a transaction would hold the horizon that vacuum needs.
alter role journey_worker in database :"DBNAME" set idle_in_transaction_session_timeout = '60s';
alter role feature_server in database :"DBNAME" set idle_in_transaction_session_timeout = '60s';

commit;
