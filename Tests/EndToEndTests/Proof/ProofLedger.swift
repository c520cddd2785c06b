import Postgres

/// What the proof has the database write down beside the product: every input row ever committed, and
/// when it became visible to turns.
enum ProofLedger {
    static let statements = [
        """
        create table journey.proof_inputs (
            sequence bigint primary key, kind text not null, delivery bigint,
            delivery_received_at timestamptz, payload json, recorded_at timestamptz not null,
            is_routed boolean not null
        )
        """,
        "create table journey.proof_routed (sequence bigint primary key)",
        """
        create function journey.proof_keep() returns trigger language plpgsql as $$ begin
            insert into journey.proof_inputs
            select sequence, kind, delivery, delivery_received_at, payload, recorded_at,
                customer is not null
            from fresh;
            return null;
        end $$
        """,
        """
        create function journey.proof_route() returns trigger language plpgsql as $$ begin
            insert into journey.proof_routed
            select n.sequence from after n join before b using (sequence)
            where b.customer is null and n.customer is not null;
            return null;
        end $$
        """,
        """
        create trigger proof_keep after insert on journey.inbox
        referencing new table as fresh for each statement execute function journey.proof_keep()
        """,
        """
        create trigger proof_route after update on journey.inbox
        referencing old table as before new table as after for each statement
        execute function journey.proof_route()
        """,
    ]

    /// Inputs and the turns that took them, one row each; `turns` is how many took it.
    static let taken = """
        select i.sequence, count(t.place) as turns
        from journey.proof_inputs i
        left join (
            select place, unnest(inputs) as sequence from journey.turn_journal
        ) t using (sequence)
        group by i.sequence
        """

    /// Inputs that a turn took after a later one had been taken, although they were visible when that
    /// earlier turn loaded. A commit's time is set just before others can see it: half a second is given.
    static let overtaken = """
        with taken as (
            select t.customer, t.place, t.at, i.sequence, i.recorded_at,
                greatest(
                    pg_xact_commit_timestamp(i.xmin), pg_xact_commit_timestamp(r.xmin)
                ) as visible_at
            from (
                select customer, place, at, unnest(inputs) as sequence from journey.turn_journal
            ) t
            join journey.proof_inputs i using (sequence)
            left join journey.proof_routed r using (sequence)
        )
        select count(*) filter (where late.visible_at < early.at - interval '500 ms')::text || ' '
            || count(*)::text as value
        from taken early
        join taken late on late.customer = early.customer and late.place > early.place
            and (late.recorded_at, late.sequence) < (early.recorded_at, early.sequence)
        """

    /// Lets the first turn of customers take what their last one took, and the other way round.
    static let overtaking = """
        with apart as (
            select customer, min(place) as first, max(place) as last from journey.turn_journal
            where inputs <> '{}' group by customer
            having count(*) > 3 and max(at) - min(at) > interval '5 seconds'
        )
        update journey.turn_journal j set inputs = (
            select other.inputs from journey.turn_journal other
            where other.place = case when j.place = a.first then a.last else a.first end)
        from apart a where j.place in (a.first, a.last)
        """
}
