internal import Postgres

// What a turn writes of a customer beside runs, effects and history.
extension TurnStore {
    static let enteringSegments = SQLStatement(
        "turn_enter_segments",
        """
        insert into journey.segment_members (customer, segment, entered_at)
        select n.customer, n.segment, n.entered_at
        from unnest($1::bigint[], $2::text[], $3::timestamptz[]) n (customer, segment, entered_at)
        order by n.customer, n.segment
        on conflict (customer, segment) do update set entered_at = excluded.entered_at
        """)

    static let leavingSegments = SQLStatement(
        "turn_leave_segments",
        """
        delete from journey.segment_members m
        using unnest($1::bigint[], $2::text[]) n (customer, segment)
        where m.customer = n.customer and m.segment = n.segment
        """)

    static let writingAssignments = SQLStatement(
        "turn_write_assignments",
        """
        insert into journey.assignments (customer, experiment, variant, assigned_at)
        select n.customer, n.experiment, n.variant, $4
        from unnest($1::bigint[], $2::text[], $3::text[]) n (customer, experiment, variant)
        order by n.customer, n.experiment
        on conflict (customer, experiment) do nothing
        """)

    static let writingDates = SQLStatement(
        "turn_write_dates",
        """
        insert into journey.date_entries (customer, workflow, subject, date, due_at, is_pending)
        select n.customer, n.workflow, n.subject, n.date, n.due_at, n.is_pending
        from unnest(
            $1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::boolean[]
        ) n (customer, workflow, subject, date, due_at, is_pending)
        order by n.customer, n.workflow, n.subject
        on conflict (customer, workflow, subject) do update
        set date = excluded.date, due_at = excluded.due_at, is_pending = excluded.is_pending
        """)

    static let droppingDates = SQLStatement(
        "turn_drop_dates",
        """
        delete from journey.date_entries d
        using unnest($1::bigint[], $2::text[], $3::text[]) n (customer, workflow, subject)
        where d.customer = n.customer and d.workflow = n.workflow and d.subject = n.subject
        """)

    /// Stops the transaction when somebody else took one of the values meanwhile. Lock order: the key,
    /// waiting for who took it.
    static let claimingValues = SQLStatement(
        "turn_claim_values",
        """
        with claimed as (
            insert into journey.entry_values (
                workflow, environment, app, value, customer, run, entered_at
            )
            select n.workflow, n.environment, n.app, n.value, n.customer, n.run, $7
            from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
                n (workflow, environment, app, value, customer, run)
            order by n.workflow, n.environment, n.app, n.value
            on conflict do nothing
            returning 1
        )
        select journey.require(count(*) = cardinality($4::text[]), 'every value was free')
        from claimed
        """)

    /// Inputs of the customers' next turns, in the order in which they were made.
    static let insertingInputs = SQLStatement(
        "turn_insert_inputs",
        """
        insert into journey.inbox (customer, kind, payload, environment, app, occurred_at, routed_at)
        select n.customer, n.kind, n.payload::json, n.environment, n.app, n.occurred_at,
            date_trunc('milliseconds', clock_timestamp())
        from unnest(
            $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[]
        ) with ordinality n (customer, kind, payload, environment, app, occurred_at, place)
        order by n.customer, n.place
        """)
}
