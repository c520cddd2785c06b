internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import TimeZones

// What a turn writes of subscriptions: their state, what waited for their owner, and their transfers.
extension BatchWriter {
    private typealias Statement = (SQLStatement, [PostgresValue])

    var subscriptionStatements: [(SQLStatement, [PostgresValue])] {
        let states = results.flatMap { result in
            result.subscriptions.map { (result.customer, $0) }
        }
        let gone = states.filter { $0.1.isEmpty }
        let kept = states.filter { !$0.1.isEmpty }
        var statements: [Statement] = []
        if !gone.isEmpty {
            statements.append(
                (
                    TurnStore.droppingSubscriptions,
                    [
                        .int8Array(gone.map(\.0.id.number)),
                        .textArray(gone.map(\.1.id.connector)),
                        .textArray(gone.map { storable($0.1.id.key) }),
                    ]
                ))
        }
        if kept.isEmpty { return statements }
        let keys: [PostgresValue] = [
            .int8Array(kept.map(\.0.id.number)), .textArray(kept.map(\.1.id.connector)),
            .textArray(kept.map { storable($0.1.id.key) }),
            .textArray(kept.map(\.0.environment)),
        ]
        statements.append(
            (
                TurnStore.writingSubscriptions,
                keys + [
                    .textArray(kept.map { JSONValue.object($0.1.json).text }), .timestamptz(now),
                ]
            ))
        statements.append(
            (TurnStore.releasingUnassigned, keys + [.textArray(kept.map(\.0.app))]))
        return statements
    }

    var transferStatements: [(SQLStatement, [PostgresValue])] {
        var statements: [Statement] = []
        var told: [(customer: CustomerRecord, event: Event, from: [String], moves: Bool)] = []
        var given: [(customer: Int64, event: EventID)] = []
        for result in results {
            for step in result.transfers {
                switch step {
                case .told(let event, let from, let moves):
                    told.append((result.customer, event, from, moves))
                case .given(let event): given.append((result.customer.id.number, event))
                }
            }
        }
        if !told.isEmpty {
            let seeking = told.map { $0.event.seekingGiver($0.from) }
            statements.append(
                (
                    TurnStore.tellingTransfers,
                    [
                        .textArray(told.map(\.event.id.text)),
                        .textArray(told.map { storable($0.event.connector) }),
                        .textArray(told.map(\.customer.environment)),
                        .textArray(told.map(\.customer.app)),
                        .int8Array(told.map(\.customer.id.number)),
                        .timestamptzArray(told.map(\.event.occurredAt)),
                        .boolArray(told.map(\.moves)),
                        .textArray(told.map { JSONValue.object($0.event.json).text }),
                        .textArray(seeking.map { JSONValue.object($0.json).text }),
                        .textArray(seeking.map { storable($0.person.id ?? "") }),
                        .textArray(
                            seeking.map { event in
                                JSONValue.array(
                                    event.person.aliases.map { .string(storable($0)) }
                                ).text
                            }),
                    ]
                ))
        }
        if !given.isEmpty {
            statements.append(
                (
                    TurnStore.givingTransfers,
                    [.int8Array(given.map(\.customer)), .textArray(given.map(\.event.text))]
                ))
        }
        let again = results.filter(\.givesAgain).map(\.customer.id.number)
        if !again.isEmpty {
            statements.append((TurnStore.givingAgain, [.int8Array(again)]))
        }
        return statements
    }
}

extension TurnStore {
    static let droppingSubscriptions = SQLStatement(
        "turn_drop_subscriptions",
        """
        delete from journey.subscriptions s
        using unnest($1::bigint[], $2::text[], $3::text[]) n (customer, connector, subscription_key)
        where s.customer = n.customer and s.connector = n.connector
            and s.subscription_key = n.subscription_key
        """)

    /// Events without an id that waited for an owner of their subscription. Older ones than a day change
    /// state and start nothing.
    static let releasingUnassigned = SQLStatement(
        "turn_release_unassigned",
        """
        with released as (
            delete from journey.unassigned u
            using unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
                n (customer, connector, subscription_key, environment, app)
            where u.connector = n.connector and u.subscription_key = n.subscription_key
                and u.environment = n.environment and u.app is not distinct from n.app
            returning n.customer, u.*
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

    /// A transfer is told once; whoever gives is looked for by an input of their own.
    static let tellingTransfers = SQLStatement(
        "turn_tell_transfers",
        """
        with told as materialized (
            select *
            from unnest(
                $1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[],
                $7::boolean[], $8::text[], $9::text[], $10::text[], $11::text[]
            ) n (
                event, connector, environment, app, receiver, occurred_at, moves, payload, seeking,
                person_id, aliases
            )
        ), stored as (
            insert into journey.transfers (
                event, connector, environment, receiver, occurred_at, moves, payload
            )
            select event, connector, environment, receiver, occurred_at, moves, payload::json
            from told
            order by event
            on conflict (event) do nothing
            returning event
        ), queued as (
            insert into journey.inbox (
                kind, payload, environment, app, person_id, person_is_anonymous, aliases
            )
            select 'event', t.seeking::json, t.environment, t.app, t.person_id, true,
                array(select json_array_elements_text(t.aliases::json))
            from told t
            join stored s on s.event = t.event
            returning sequence, environment, app, person_id, aliases
        )
        insert into journey.unrouted_ids (environment, app, external_id, sequence)
        select q.environment, coalesce(q.app, ''), w.external_id, q.sequence
        from queued q
        cross join lateral (
            select q.person_id as external_id
            union
            select unnest(q.aliases)
        ) w
        order by 1, 2, 3, 4
        """)

    static let givingTransfers = SQLStatement(
        "turn_give_transfers",
        """
        with given as (
            update journey.transfers t
            set giver = n.customer, due_at = date_trunc('milliseconds', clock_timestamp())
            from unnest($1::bigint[], $2::text[]) n (customer, event)
            where t.event = n.event and t.giver is null
            returning t.giver, t.occurred_at
        )
        update journey.customers c
        set given_until = greatest(c.given_until, g.until)
        from (select giver, max(occurred_at) as until from given group by giver) g
        where c.id = g.giver
        """)

    static let givingAgain = SQLStatement(
        "turn_give_again",
        """
        update journey.transfers t
        set due_at = date_trunc('milliseconds', clock_timestamp())
        where t.giver = any ($1::bigint[]) and t.told_at is not null and t.due_at is null
        """)
}
