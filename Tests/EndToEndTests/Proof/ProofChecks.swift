import JSON
import Postgres
import Testing

/// Questions to the database that all must be answered with nothing.
enum ProofChecks {
    /// What must not be: a sentence, the rows that would show it, and how it could come about.
    static let none: [(sentence: String, query: String, breaking: String)] = [
        (
            "an input was taken by no turn, or by two",
            "select sequence || ' by ' || turns as value from (\(ProofLedger.taken)) t "
                + "where turns <> 1",
            """
            insert into journey.turn_journal (customer, at, inputs, has_all_inputs, live)
            select customer, at, inputs, has_all_inputs, live from journey.turn_journal
            where inputs <> '{}' order by place limit 1
            """
        ),
        (
            "a turn took an input that was never committed",
            """
            select t.sequence::text as value
            from (select unnest(inputs) as sequence from journey.turn_journal) t
            where not exists (select from journey.proof_inputs i where i.sequence = t.sequence)
            """,
            """
            update journey.turn_journal set inputs = inputs || -1::bigint
            where place = (select min(place) from journey.turn_journal)
            """
        ),
        (
            "a turn took its inputs in another order than theirs",
            """
            select j.place::text as value
            from journey.turn_journal j
            where j.inputs <> array(
                select i.sequence from journey.proof_inputs i where i.sequence = any (j.inputs)
                order by i.recorded_at, i.sequence)
            """,
            """
            update journey.turn_journal set inputs = array(
                select sequence from unnest(inputs) with ordinality u (sequence, n) order by n desc)
            where cardinality(inputs) > 1
            """
        ),
        (
            "a customer stands still",
            "select error as value from journey.set_aside",
            """
            insert into journey.set_aside (customer, since, attempts, error)
            select id, now(), 1, 'planted' from journey.customers limit 1
            """
        ),
        (
            "an input belongs to nobody",
            "select reason as value from journey.unassigned",
            """
            insert into journey.unassigned (sequence, kind, environment, recorded_at, reason)
            values (-1, 'event', 'production', now(), 'planted')
            """
        ),
        (
            "a run has not ended although everything in it ends within seconds",
            """
            select workflow || ' at ' || coalesce(step, '') as value from journey.runs
            where ended_at is null
            """,
            """
            update journey.runs set ended_at = null
            where id = (select id from journey.runs order by id limit 1)
            """
        ),
        (
            "a step's visit has two invocation ids",
            """
            select run || ' ' || step as value from journey.effects
            group by run, step, attempt_group having count(distinct invocation) > 1
            """,
            """
            update journey.effects e
            set run = f.run, step = f.step, attempt_group = f.attempt_group
            from (select * from journey.effects order by invocation limit 1) f
            where e.invocation = (select max(invocation) from journey.effects)
            """
        ),
        (
            "an effect has not ended, or has no result and was not withdrawn",
            """
            select invocation || ' ' || status as value from journey.effects
            where ended_at is null or status in ('pending', 'running')
            """,
            """
            update journey.effects set ended_at = null
            where invocation = (select max(invocation) from journey.effects)
            """
        ),
        (
            "an effect woke its run twice",
            """
            select payload ->> 'invocation' as value from journey.proof_inputs
            where kind = 'result' group by 1 having count(*) > 1
            """,
            """
            insert into journey.proof_inputs (sequence, kind, payload, recorded_at, is_routed)
            select -1, kind, payload, recorded_at, is_routed from journey.proof_inputs
            where kind = 'result' limit 1
            """
        ),
        (
            "an effect with a result did not wake its run",
            """
            select e.invocation as value from journey.effects e
            where e.status <> 'withdrawn' and not exists (
                select from journey.proof_inputs i
                where i.kind = 'result' and i.payload ->> 'invocation' = e.invocation)
            """,
            """
            delete from journey.proof_inputs where sequence = (
                select max(sequence) from journey.proof_inputs where kind = 'result')
            """
        ),
        (
            "an attempt followed an ambiguous one on an account that does not honour the key",
            """
            select a.invocation as value
            from journey.effect_attempts a
            join journey.effects e using (customer, invocation)
            join journey.effect_attempts b
                on b.customer = a.customer and b.invocation = a.invocation and b.fence > a.fence
            where e.account = 'once' and a.ambiguous
                and b.outcome is distinct from 'ambiguous'
            """,
            """
            update journey.effects set account = 'once' where account = 'sure'
            """
        ),
        (
            "an event id stands twice in the log",
            "select id as value from journey.events group by id having count(*) > 1",
            """
            insert into journey.events (
                customer, ordinal, recorded_at, id, name, connector, occurred_at, received_at,
                environment, event)
            select customer, ordinal + 1000000, recorded_at, id, name, connector, occurred_at,
                received_at, environment, event
            from journey.events limit 1
            """
        ),
    ]

    static func run(_ world: World) async throws -> [String] {
        var found: [String] = []
        for check in none {
            let rows = try await world.texts(check.query)
            if !rows.isEmpty {
                found.append("\(check.sentence): \(rows.count), such as \(rows.prefix(3))")
            }
        }
        return found
    }

    /// What the receiver saw must fit what the database says.
    static func receiver(
        _ requests: [RudeReceiver.Request], _ world: World
    ) async throws -> [String] {
        var found: [String] = []
        let known = Set(
            try await world.texts("select invocation as value from journey.effects"))
        let done = Set(
            try await world.texts(
                """
                select invocation as value from journey.effects
                where tool = 'http' and status = 'succeeded'
                """))
        var byKey: [String: [RudeReceiver.Request]] = [:]
        for request in requests { byKey[request.key, default: []].append(request) }
        for (key, calls) in byKey {
            if !known.contains(key) { found.append("the key \(key) is no effect's") }
            guard calls[0].path == "/once" else { continue }
            // Only an answered failure may be followed by another call.
            for call in calls.dropLast() where call.behaviour != .failed {
                found.append("\(key) was called again after \(call.behaviour)")
            }
        }
        for invocation in done
        where byKey[invocation]?.contains(where: { $0.behaviour == .answered }) != true {
            found.append("\(invocation) succeeded and was never answered")
        }
        return found
    }
}
