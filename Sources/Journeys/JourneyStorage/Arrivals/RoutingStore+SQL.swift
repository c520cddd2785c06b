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
            coalesce(i.aliases, '{}') as aliases
        from journey.inbox i
        where i.customer is null
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

    static let assigning = SQLStatement(
        "routing_assign",
        """
        with routed as (
            update journey.inbox i
            set customer = r.customer, person_id = null, person_is_anonymous = null, aliases = null,
                routed_at = date_trunc('milliseconds', clock_timestamp())
            from unnest($1::bigint[], $2::bigint[]) r (sequence, customer)
            where i.sequence = r.sequence
        )
        delete from journey.unrouted_ids u where u.sequence = any ($1::bigint[])
        """)

    static let settingAside = SQLStatement(
        "routing_unassign",
        """
        with gone as (
            delete from journey.inbox i where i.sequence = any ($1::bigint[])
            returning i.sequence, i.kind, i.delivery, i.delivery_received_at, i.payload,
                i.environment, i.app, i.recorded_at
        ), told as (
            update journey.deliveries d
            set state = 'unassigned', reason = 'no_id'
            from gone g
            where d.id = g.delivery and d.received_at = g.delivery_received_at
        )
        insert into journey.unassigned (
            sequence, kind, delivery, delivery_received_at, payload, environment, app, recorded_at,
            reason
        )
        select sequence, kind, delivery, delivery_received_at, payload, environment, app,
            recorded_at, 'no_id'
        from gone
        """)

    static let counting = SQLStatement(
        "routing_count",
        """
        insert into journey.counts (at, name, cause, amount)
        values (date_trunc('milliseconds', clock_timestamp()), 'identity_conflict', 'webhook', $1)
        """)
}
