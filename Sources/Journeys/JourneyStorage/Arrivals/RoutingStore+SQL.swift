internal import Postgres

extension RoutingStore {
    static let electing = SQLStatement(
        "routing_elect",
        """
        select pg_try_advisory_xact_lock(hashtext('journey.routing')) as is_ours
        """)

    /// Lock order: (recorded_at, sequence), never waiting.
    static let claiming = SQLStatement(
        "routing_claim",
        """
        select i.sequence, i.environment, i.app, i.person_id,
            coalesce(i.person_is_anonymous, false) as person_is_anonymous,
            coalesce(i.aliases, '{}') as aliases, i.joins, i.delivery, i.delivery_received_at
        from journey.inbox i
        where i.customer is null and (i.route_after is null or i.route_after <= now())
        order by i.recorded_at, i.sequence
        limit $1
        for update of i skip locked
        """)

    /// What ids stand for, with forwarding rows followed.
    static let looking = SQLStatement(
        "routing_look",
        """
        select i.environment, i.app, i.external_id, i.is_own,
            coalesce(c.forwards_to, c.id) as customer,
            exists (
                select from journey.customer_ids o
                where o.customer = coalesce(c.forwards_to, c.id) and o.is_own
            ) as is_identified
        from unnest($1::text[], $2::text[], $3::text[]) w (environment, app, external_id)
        join journey.customer_ids i
            on i.environment = w.environment and i.app = w.app and i.external_id = w.external_id
        join journey.customers c on c.id = i.customer
        """)

    /// Ids of earlier rows that are put off, with what they stand for.
    static let holding = SQLStatement(
        "routing_hold",
        """
        select u.environment, u.app, u.external_id, coalesce(c.forwards_to, c.id) as customer
        from journey.inbox i
        join journey.unrouted_ids u on u.sequence = i.sequence
        left join journey.customer_ids x
            on x.environment = u.environment and x.app = u.app and x.external_id = u.external_id
        left join journey.customers c on c.id = x.customer
        where i.route_after > now() and i.customer is null
        """)

    /// The bodies of inputs without an id, for the subscription that they may name.
    static let readingBodies = SQLStatement(
        "routing_bodies",
        """
        select w.sequence, d.connector, d.provider_event_id, d.received_at, b.body
        from unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) w (sequence, delivery, received_at)
        join journey.deliveries d on d.id = w.delivery and d.received_at = w.received_at
        join journey.delivery_bodies b on b.id = w.delivery and b.received_at = w.received_at
        """)

    /// Whose a subscription is; where several know of it, whoever heard of it last.
    static let findingOwners = SQLStatement(
        "routing_owners",
        """
        select distinct on (w.sequence) w.sequence, coalesce(c.forwards_to, c.id) as customer
        from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
            w (sequence, connector, key, environment, app)
        join journey.subscriptions s
            on s.connector = w.connector and s.subscription_key = w.key
                and s.environment = w.environment
        join journey.customers c on c.id = s.customer and c.app is not distinct from w.app
        order by w.sequence, s.changed_at desc, s.customer
        """)

    /// Looks once more for owners that a turn named while an input was being set aside: no turn that was
    /// under way then is under way half a minute later.
    static let rechecking = SQLStatement(
        "routing_recheck",
        """
        with looked as materialized (
            select u.sequence, (
                select coalesce(c.forwards_to, c.id)
                from journey.subscriptions s
                join journey.customers c on c.id = s.customer
                where s.connector = u.connector and s.subscription_key = u.subscription_key
                    and s.environment = u.environment and c.app is not distinct from u.app
                order by s.changed_at desc, s.customer
                limit 1
            ) as customer
            from journey.unassigned u
            where u.subscription_key is not null and not u.checked
                and u.set_aside_at < now() - interval '30 seconds'
            order by u.set_aside_at
            limit 100
        ), checked as (
            update journey.unassigned u
            set checked = true
            from looked l
            where u.sequence = l.sequence and l.customer is null
        ), released as (
            delete from journey.unassigned u
            using looked l
            where u.sequence = l.sequence and l.customer is not null
            returning l.customer, u.*
        )
        insert into journey.inbox (
            customer, kind, delivery, delivery_received_at, payload, environment, app, starts,
            routed_at
        )
        select r.customer, r.kind, r.delivery, r.delivery_received_at, r.payload, r.environment,
            r.app, r.recorded_at > now() - interval '24 hours',
            date_trunc('milliseconds', clock_timestamp())
        from released r
        order by r.sequence
        """)

    static let making = SQLStatement(
        "routing_make",
        """
        with numbered as materialized (
            select r.place, r.environment, r.app,
                nextval(pg_get_serial_sequence('journey.customers', 'id')) as id
            from unnest($1::text[], $2::text[]) with ordinality r (environment, app, place)
        ), made as (
            insert into journey.customers (id, environment, app)
            select id, environment, app from numbered order by id
        )
        select id from numbered order by place
        """)

    /// Keys are taken in (environment, app, external_id) order. Stops the transaction when another
    /// session linked one of them first.
    static let linking = SQLStatement(
        "routing_link",
        """
        with linked as (
            insert into journey.customer_ids (environment, app, external_id, customer, is_own)
            select environment, app, external_id, customer, is_own
            from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::boolean[])
                l (environment, app, external_id, customer, is_own)
            order by environment, app, external_id
            on conflict (environment, app, external_id) do nothing
            returning 1
        )
        select journey.require(count(*) = cardinality($1::text[]), 'every id was free')
        from linked
        """)

    static let raising = SQLStatement(
        "routing_raise",
        """
        with raised as (
            update journey.customer_ids i
            set customer = l.customer, is_own = true
            from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::boolean[])
                l (environment, app, external_id, customer, is_own)
            where i.environment = l.environment and i.app = l.app
                and i.external_id = l.external_id and not i.is_own
            returning 1
        )
        select journey.require(count(*) = cardinality($1::text[]), 'no id was claimed meanwhile')
        from raised
        """)

    /// An operator's word that two ids are one person is done with once it is routed.
    static let assigning = SQLStatement(
        "routing_assign",
        """
        with routed as (
            update journey.inbox i
            set customer = r.customer, person_id = null, person_is_anonymous = null, aliases = null,
                routed_at = date_trunc('milliseconds', clock_timestamp())
            from unnest($1::bigint[], $2::bigint[]) r (sequence, customer)
            where i.sequence = r.sequence and i.kind <> 'alias'
        ), aliased as (
            delete from journey.inbox i
            using unnest($1::bigint[], $2::bigint[]) r (sequence, customer)
            where i.sequence = r.sequence and i.kind = 'alias'
            returning (i.payload ->> 'audit')::bigint as audit, r.customer
        ), told as (
            insert into journey.command_outcomes (audit, customer, run, at, outcome)
            select audit, customer, '', date_trunc('milliseconds', clock_timestamp()), 'done'
            from aliased
            on conflict do nothing
        )
        delete from journey.unrouted_ids u where u.sequence = any ($1::bigint[])
        """)

    static let settingAside = SQLStatement(
        "routing_unassign",
        """
        with gone as (
            delete from journey.inbox i
            using unnest($1::bigint[], $2::text[], $3::text[]) n (sequence, connector, key)
            where i.sequence = n.sequence
            returning i.sequence, i.kind, i.delivery, i.delivery_received_at, i.payload,
                i.environment, i.app, i.recorded_at, n.connector, n.key,
                case when n.key is null then 'no_id' else 'no_owner' end as reason
        ), told as (
            update journey.deliveries d
            set state = 'unassigned', reason = g.reason
            from gone g
            where d.id = g.delivery and d.received_at = g.delivery_received_at
        ), counted as (
            insert into journey.counts (at, name, cause, amount)
            select date_trunc('milliseconds', clock_timestamp()), 'unassigned', g.reason, count(*)
            from gone g
            group by g.reason
        )
        insert into journey.unassigned (
            sequence, kind, delivery, delivery_received_at, payload, environment, app, recorded_at,
            reason, connector, subscription_key, set_aside_at
        )
        select sequence, kind, delivery, delivery_received_at, payload, environment, app,
            recorded_at, reason, connector, key, clock_timestamp()
        from gone
        """)

    static let counting = SQLStatement(
        "routing_count",
        """
        with named as materialized (
            select least(n.one, n.other) as one, greatest(n.one, n.other) as other, i.delivery,
                date_trunc('milliseconds', clock_timestamp()) as now
            from unnest($1::bigint[], $2::bigint[], $3::bigint[]) n (one, other, input)
            left join journey.inbox i on i.sequence = n.input
        ), listed as (
            insert into journey.identity_conflicts (
                one, other, first_at, last_at, times, delivery
            )
            select one, other, min(now), max(now), count(*), max(delivery)
            from named
            group by one, other
            order by one, other
            on conflict (one, other) do update
            set last_at = excluded.last_at, times = identity_conflicts.times + excluded.times,
                delivery = excluded.delivery
        )
        insert into journey.counts (at, name, cause, amount)
        select max(now), 'identity_conflict', 'webhook', count(*) from named
        """)
}
