import JourneyModel
import JourneyTurns
import Postgres
import TestSupport
import Testing

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct SetAsideTests {
    @Test func `a customer that this process cannot serve waits and is never stuck`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            let bad = CustomerID(
                try await world.number(
                    "select customer from journey.customer_ids where external_id = 'u2'"))
            let decide: TurnStore.Decide = { turn, _ in
                if turn.customer.id == bad { throw Unserved(sentence: "no connector shop") }
                return Fixture.take(turn)
            }
            let first = try await world.turns.turn(limit: 10, decide: decide)
            #expect(first.turns == 1)
            #expect(first.failed == [bad: "no connector shop"])
            #expect(first.unserved == [bad])
            for _ in 0...TurnStore.attemptLimit {
                try await world.run("update journey.set_aside set retry_at = now()")
                let report = try await world.turns.turn(limit: 10, decide: decide)
                #expect(report.unserved == [bad])
            }
            #expect(
                try await world.count("set_aside", "retry_at is not null and attempts = 0") == 1)
            // However long it has waited, it looks again about every minute.
            try await world.run(
                "update journey.set_aside set since = now() - interval '1 day', retry_at = now()")
            _ = try await world.turns.turn(limit: 10, decide: decide)
            #expect(
                try await world.count(
                    "set_aside",
                    "retry_at > now() + interval '30 seconds'"
                        + " and retry_at <= now() + interval '64 seconds'") == 1)
            try await world.run("update journey.set_aside set retry_at = now()")
            let served = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(served.turns == 1)
            #expect(try await world.count("set_aside") == 0)
        }
    }

    @Test func `who has nothing to do is not set aside`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            _ = try await world.turns.turn(limit: 1) { turn, _ in Fixture.take(turn) }
            let customers = try await world.pool.query(
                SQLStatement("customers", "select id from journey.customers order by id"))
            let ids = try customers.map { try $0.int64("id") }
            let sentences = ids.map { _ -> String? in "refused" }
            _ = try await world.pool.query(
                TurnStore.settingAside,
                [
                    .int8Array(ids), .textArray(sentences), .int4(5),
                    .boolArray(ids.map { _ in false }),
                ])
            #expect(try await world.count("set_aside") == 1)
            #expect(
                try await world.count(
                    "set_aside", "customer in (select customer from journey.inbox)") == 1)
        }
    }

    @Test func `a delivery whose body is gone is kept, and its customer set aside`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            try await world.run(
                "delete from journey.delivery_bodies "
                    + "where id = (select min(id) from journey.delivery_bodies)")
            let report = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(report.turns == 1)
            #expect(report.failed.count == 1)
            #expect(try await world.count("inbox") == 1)
            #expect(try await world.count("set_aside", "error like '%its body is gone%'") == 1)
        }
    }
}
