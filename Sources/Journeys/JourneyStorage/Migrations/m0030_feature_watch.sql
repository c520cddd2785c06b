-- How far changes of feature access were looked at.
--
--   feature_watch   one row at most: customers concerned by changes up to then have been woken. A worker that
--                   starts goes on from there, so that what changed while none ran wakes those who wait for
--                   it. Written every few seconds at most, by whichever worker is ahead

create table journey.feature_watch (
    place boolean primary key default true check (place),
    seen_until timestamptz not null
) with (fillfactor = 50);
