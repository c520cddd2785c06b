-- What all dispatchers share, when an attempt may start, and what operators do to effects.
--
--   account_limits    one row an account; who leases its effects locks it, so that attempts under way
--                     are counted, and its rate is spent, by one dispatcher at a time. rate_from is
--                     when the next attempt may start
--   effects           + not_before, send_window: when an attempt may start; fence: that of the last
--                     lease, kept when the queue's row goes; lost: leases that ran out, of attempts;
--                     retries: how often an operator renewed it; discarded: the audit id of who
--                     settled it by hand
--   effect_queue      + send_window; attempts_before: attempts made before the last renewal
--   effect_attempts   + late_at, late_outcome: what an attempt said after its lease was lost
--   command_outcomes  what a turn made of an operator's command
--
-- No column is indexed that an update of a queue row did not touch an indexed one for already.

create table journey.account_limits (
    tool text not null,
    account text not null,
    rate_from timestamptz not null default '1970-01-01 00:00:00+00',
    primary key (tool, account)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

alter table journey.effects
    add column not_before timestamptz,
    add column send_window json,
    add column fence bigint not null default 0,
    add column lost integer not null default 0,
    add column retries integer not null default 0,
    add column discarded bigint;

alter table journey.effect_queue
    add column send_window json,
    add column attempts_before integer not null default 0;

alter table journey.effect_attempts
    add column late_at timestamptz,
    add column late_outcome text;

create table journey.command_outcomes (
    audit bigint not null,
    customer bigint not null,
    run text not null,
    at timestamptz not null,
    outcome text not null,
    sentence text,
    primary key (audit, customer, run)
);
