import JourneyModel
import JourneyTurns
import TestSupport
import Testing

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct RepeatedEventTests {
    @Test func `one id for two customers of a batch is an event once`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            _ = try await world.deliveries.store([.webhook("same", id: "u1")])
            _ = try await world.deliveries.store([.webhook("same", id: "u2", body: "{\"n\":2}")])
            let report = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(report.turns == 2)
            #expect(report.failed.isEmpty)
            #expect(try await world.count("inbox") == 0)
            #expect(try await world.count("events") == 3)
            #expect(try await world.count("event_ids") == 3)
            #expect(try await world.count("deliveries", "state = 'duplicate'") == 1)
            #expect(try await world.count("set_aside") == 0)
        }
    }

    @Test func `who is second with an id stops, and reads the first one's event at once`()
        async throws
    {
        try await World.with { world in
            try await world.arrive("u1")
            // A sequence outlasts a rollback: only the first insertion finds the id taken.
            try await world.run(
                """
                create sequence journey.tried;
                create function journey.refuse_once() returns trigger language plpgsql as $$
                begin
                    if nextval('journey.tried') = 1 then return null; end if;
                    return new;
                end $$;
                create trigger refuse_once before insert on journey.event_ids
                for each row execute function journey.refuse_once();
                """)
            let seen = TestSignal<CustomerTurn>()
            let report = try await world.turns.turn(limit: 10) { turn, _ in
                seen.send(turn)
                return Fixture.take(turn)
            }
            #expect(seen.values.count == 2)
            #expect(report.turns == 1)
            #expect(report.failed.isEmpty)
            #expect(try await world.count("set_aside") == 0)
            #expect(try await world.count("customers", "inputs_taken = 1") == 1)
        }
    }

    @Test func `an id whose event is no longer kept is not news`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            try await world.run("delete from journey.events")
            _ = try await world.deliveries.store([
                .webhook("first-u1-0", id: "u1", body: "{\"other\":1}")
            ])
            let seen = TestSignal<CustomerTurn>()
            let report = try await world.turns.turn(limit: 10) { turn, _ in
                seen.send(turn)
                return Fixture.take(turn)
            }
            #expect(report.failed.isEmpty)
            #expect(report.turns == 1)
            guard case .delivery(let delivery)? = seen.values.first?.inputs.first?.content else {
                Issue.record("the input is a delivery")
                return
            }
            #expect(delivery.earlier?.name == "connector.forgotten")
        }
    }

    @Test func `an id that is known does not stop the turn that names it again`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            _ = try await world.deliveries.store([
                .webhook("first-u1-0", id: "u1", body: "{\"other\":1}")
            ])
            let report = try await world.turns.turn(limit: 10) { turn, _ in
                var result = Fixture.take(turn)
                result.events = turn.inputs.compactMap {
                    Fixture.event(turn, $0, ordinal: result.customer.inputsTaken)
                }
                return result
            }
            #expect(report.failed.isEmpty)
            #expect(try await world.count("inbox") == 0)
            #expect(try await world.count("event_ids") == 1)
        }
    }
}
