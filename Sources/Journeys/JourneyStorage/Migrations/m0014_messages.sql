-- Whether the account that an effect was last leased for carries messages to people: the result tells its
-- run, whose gaps count messages only.
alter table journey.effects add column is_message boolean not null default false;
