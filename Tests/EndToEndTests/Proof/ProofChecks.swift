import JSON
import Postgres
import Testing

/// Questions to the database that all must be answered with nothing.
enum ProofChecks {
    /// What must not be: a sentence, and the rows that would show it.
    static let none: [(sentence: String, query: String)] = [
        (
            "an input was taken by no turn, or by two",
            "select sequence || ' by ' || turns as value from (\(ProofLedger.taken)) t "
                + "where turns <> 1"
        ),
        (
            "a turn took an input that was never committed",
            """
            select t.sequence::text as value
            from (select unnest(inputs) as sequence from journey.turn_journal) t
            where not exists (select from journey.proof_inputs i where i.sequence = t.sequence)
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
            """
        ),
        ("a customer stands still", "select error as value from journey.set_aside"),
        ("an input belongs to nobody", "select reason as value from journey.unassigned"),
        (
            "a run has not ended although everything in it ends within seconds",
            """
            select workflow || ' at ' || coalesce(step, '') as value from journey.runs
            where ended_at is null
            """
        ),
        (
            "a step's visit has two invocation ids",
            """
            select run || ' ' || step as value from journey.effects
            group by run, step, attempt_group having count(distinct invocation) > 1
            """
        ),
        (
            "an effect has not ended, or has no result and was not withdrawn",
            """
            select invocation || ' ' || status as value from journey.effects
            where ended_at is null or status in ('pending', 'running')
            """
        ),
        (
            "an effect woke its run twice",
            """
            select payload ->> 'invocation' as value from journey.proof_inputs
            where kind = 'result' group by 1 having count(*) > 1
            """
        ),
        (
            "an effect with a result did not wake its run",
            """
            select e.invocation as value from journey.effects e
            where e.status <> 'withdrawn' and not exists (
                select from journey.proof_inputs i
                where i.kind = 'result' and i.payload ->> 'invocation' = e.invocation)
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
            """
        ),
        (
            "an event id stands twice in the log",
            "select id as value from journey.events group by id having count(*) > 1"
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
