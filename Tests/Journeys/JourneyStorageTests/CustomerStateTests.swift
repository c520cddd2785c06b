import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

/// What is kept of a customer beside runs comes back as it was written.
@Suite(.timeLimit(.minutes(2)))
struct CustomerStateTests {
    // S5.4
    @Test func `subscriptions and attributes are read back with their setters`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            let renewal = told("subscription.renewed", key: "sub-1")
            let written = TestSignal<TurnResult>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                var result = Fixture.take(turn)
                var state = SubscriptionState(
                    id: SubscriptionID(connector: "shop", key: "sub-1"))
                _ = state.take(renewal)
                result.subscriptions = [state]
                result.customer.setAttribute("plan", to: "pro", by: Setter(renewal))
                result.customer.setAttribute("gone", to: nil, by: Setter(renewal))
                written.send(result)
                return result
            }
            _ = try await world.deliveries.store([.webhook("e2", id: "u1")])
            let seen = TestSignal<CustomerTurn>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                seen.send(turn)
                return Fixture.take(turn)
            }
            let turn = try #require(seen.values.first)
            #expect(turn.customer == written.values.first?.customer)
            #expect(turn.subscriptions == written.values.first?.subscriptions)
            #expect(turn.customer.setters.keys.sorted() == ["gone", "plan"])
            #expect(try await world.count("subscriptions", "environment = 'production'") == 1)
        }
    }

    // S5.5
    @Test func `events in any order over many turns leave the same subscription`() async throws {
        let names = ["started", "billing_issue", "renewed", "cancelled", "expired", "refunded"]
        try await World.with { world in
            let orders = [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 0, 5, 1, 4, 3]]
            for (place, order) in orders.enumerated() {
                for number in order {
                    var event = told("subscription.\(names[number])", key: "sub", number: number)
                    event.id = EventID("evt_\(place)_\(number)")
                    _ = try await world.deliveries.store([
                        ArrivedDelivery(
                            connector: "shop", providerEventID: "\(place)-\(number)",
                            content: .event(event), environment: "production",
                            person: Event.Person(id: "u\(place)"))
                    ])
                    _ = try await world.routing.route(limit: 10)
                    let report = try await world.turns.turn(limit: 10) { turn, definitions in
                        TurnDecider(definitions: definitions, connectors: [:]).decide(turn)
                    }
                    #expect(report.failed.isEmpty)
                }
            }
            #expect(try await world.count("subscriptions") == 3)
            // The setters' ids differ by customer; values, times and ranks must not.
            #expect(
                try await world.number(
                    """
                    select count(distinct regexp_replace(state::text, 'evt_[0-9]_', 'evt_', 'g'))
                    from journey.subscriptions
                    """) == 1)
        }
    }

    // S2.5
    @Test func `a result for a run that is over finds it, and leaves a row`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            let entered = TestSignal<TurnResult>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                let result = Fixture.enter(turn)
                entered.send(result)
                return result
            }
            let request = try #require(entered.values.first?.requests.first)
            try await world.run(
                """
                update journey.runs set ended_at = now(), status = 'exited';
                insert into journey.inbox (customer, kind, payload, environment, routed_at)
                select customer, 'result', json_build_object('invocation', '\(request.invocation)',
                    'run', id, 'step', 'hello', 'outcome', json_build_object('outcome', 'unknown')),
                    'production', now()
                from journey.runs
                """)
            let seen = TestSignal<CustomerTurn>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                seen.send(turn)
                return Fixture.take(turn)
            }
            #expect(seen.values.first?.runs.map(\.id) == [request.run])
        }
    }

    private func told(_ name: String, key: String, number: Int = 0) -> Event {
        let at = Instant(milliseconds: 1_772_359_200_000) + .seconds(number * 60)
        return Event(
            id: EventID("evt_\(number)"), connector: "shop", providerEventID: "\(number)",
            providerType: nil, name: name, trust: .provider, person: Event.Person(id: "u"),
            occurredAt: at, receivedAt: at, environment: "production",
            properties: JSONObject([
                ("subscription_key", .string(key)), ("product_id", .string("p\(number)")),
            ]))
    }
}
