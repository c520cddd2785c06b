import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Postgres
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(3)))
struct TurnStoreTests {
    private struct Refusal: Error {}

    @Test func `a turn takes the inputs and writes what was decided`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            let report = try await world.turns.turn(limit: 10) { turn, _ in Fixture.enter(turn) }
            #expect(report.turns == 1)
            #expect(report.inputs == 1)
            #expect(report.requestedEffects == 1)
            #expect(report.failed.isEmpty)
            #expect(try await world.count("inbox") == 0)
            #expect(try await world.count("runs", "ended_at is null and status = 'waiting'") == 1)
            #expect(try await world.count("effects") == 1)
            #expect(try await world.count("effect_queue") == 1)
            #expect(try await world.count("history") == 1)
            #expect(try await world.count("events", "ordinal = 1") == 1)
            #expect(try await world.count("event_ids") == 1)
            #expect(
                try await world.count("deliveries", "state = 'processed' and event like 'evt_%'")
                    == 1)
            #expect(try await world.count("counts") == 1)
            #expect(try await world.count("customers", "inputs_taken = 1") == 1)
            let idle = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(idle == TurnStore.Report())
        }
    }

    @Test func `the next turn reads back what the last one wrote`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            let written = TestSignal<TurnResult>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                let result = Fixture.enter(turn)
                written.send(result)
                return result
            }
            // The first event's id again with other bytes, and a new event.
            _ = try await world.deliveries.store([
                .webhook("first-u1-0", id: "u1", body: "{\"other\":1}"), .webhook("e2", id: "u1"),
            ])
            let seen = TestSignal<CustomerTurn>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                seen.send(turn)
                return Fixture.take(turn)
            }
            let turn = try #require(seen.values.first)
            let result = try #require(written.values.first)
            #expect(turn.customer == result.customer)
            #expect(turn.runs == result.newRuns)
            #expect(turn.hasAllInputs)
            #expect(
                turn.spentCauses == [
                    SpentCause(workflow: WorkflowID("welcome"), cause: result.newRuns[0].cause)
                ])
            #expect(turn.inputs.count == 2)
            guard case .delivery(let repeated) = turn.inputs[0].content,
                case .delivery(let new) = turn.inputs[1].content
            else {
                Issue.record("the inputs are deliveries")
                return
            }
            #expect(repeated.earlier == result.events[0].event)
            #expect(repeated.body == Array("{\"other\":1}".utf8))
            #expect(new.earlier == nil)
        }
    }

    @Test func `an input that comes between lock and load is loaded, and taken once`() async throws
    {
        try await World.with { world in
            try await world.arrive("u1")
            let (batch, loaded) = try await world.pool.withTransaction { tx in
                let (claimed, revision) = try await TurnStore.claim(.oldest(10), tx)
                #expect(claimed.count == 1)
                _ = try await world.deliveries.store([.webhook("between", id: "u1")])
                let (batch, set) = try await TurnStore.load(
                    claimed, revision: revision, world.cache, tx)
                // And one that comes after loading stays for the next turn.
                _ = try await world.deliveries.store([.webhook("after", id: "u1")])
                let results = batch.turns.map(Fixture.take)
                _ = try await tx.pipelineAndCommit(
                    TurnStore.writing(results, batch, set, failed: [:]))
                return (batch, batch.turns[0].inputs.count)
            }
            #expect(batch.turns.count == 1)
            #expect(loaded == 2)
            #expect(try await world.count("inbox") == 1)
        }
    }

    @Test func `a locked customer is passed over, and what its turn took is not seen again`()
        async throws
    {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            let report = try await world.pool.withTransaction { tx in
                let (claimed, revision) = try await TurnStore.claim(.oldest(1), tx)
                // Another worker, meanwhile.
                let report = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
                let (batch, set) = try await TurnStore.load(
                    claimed, revision: revision, world.cache, tx)
                _ = try await tx.pipelineAndCommit(
                    TurnStore.writing(batch.turns.map(Fixture.take), batch, set, failed: [:]))
                return report
            }
            #expect(report.turns == 1)
            #expect(try await world.count("inbox") == 0)
            #expect(try await world.count("customers", "inputs_taken = 1") == 2)
        }
    }

    @Test func `workers at once take each of many inputs exactly once`() async throws {
        try await World.with(connections: 12) { world in
            let customers = 150
            let rounds = 12
            let isDone = TestSignal<Void>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in 0..<3 {
                    group.addTask {
                        for round in 0..<rounds {
                            let batch = (0..<customers).map { person in
                                ArrivedDelivery.webhook(
                                    "e\(session)-\(round)-\(person)", id: "u\(person)")
                            }
                            _ = try await world.deliveries.store(batch)
                        }
                        isDone.send(())
                    }
                }
                group.addTask {
                    while true {
                        let isLast = isDone.values.count == 3
                        if try await world.routing.route(limit: 100).routed == 0, isLast { return }
                    }
                }
                for _ in 0..<4 {
                    group.addTask {
                        while true {
                            let isLast = isDone.values.count == 3
                            let report = try await world.turns.turn(limit: 40) { turn, _ in
                                Fixture.take(turn)
                            }
                            #expect(report.failed.isEmpty)
                            if report.claimed == 0, isLast, try await world.count("inbox") == 0 {
                                return
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let expected = Int64(customers * rounds * 3)
            #expect(
                try await world.number("select sum(inputs_taken) from journey.customers")
                    == expected)
            #expect(
                try await world.number(
                    "select sum((attributes ->> 'taken')::bigint) from journey.customers")
                    == expected)
            #expect(try await world.count("events") == expected)
            #expect(try await world.count("customers") == Int64(customers))
            let gaps = try await world.number(
                """
                select count(*) from (
                    select customer from journey.events group by customer
                    having max(ordinal) <> count(*)
                ) g
                """)
            #expect(gaps == 0)
        }
    }

    @Test func `more than two hundred inputs are taken over several turns in order`() async throws {
        try await World.with { world in
            try await world.arrive("u1")
            _ = try await world.deliveries.store((0..<300).map { .webhook("e\($0)", id: "u1") })
            let seen = TestSignal<CustomerTurn>()
            for _ in 0..<2 {
                _ = try await world.turns.turn(limit: 10) { turn, _ in
                    seen.send(turn)
                    return Fixture.take(turn)
                }
            }
            #expect(seen.values.map(\.inputs.count) == [200, 101])
            #expect(seen.values.map(\.hasAllInputs) == [false, true])
            let sequences = seen.values.flatMap { $0.inputs.map(\.sequence) }
            #expect(sequences == sequences.sorted())
        }
    }

    @Test func `one customer whose turn throws is put off, everyone else goes on`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2", "u3")
            let bad = CustomerID(
                try await world.number(
                    "select customer from journey.customer_ids where external_id = 'u2'"))
            let decide: TurnStore.Decide = { turn, _ in
                if turn.customer.id == bad { throw Refusal() }
                return Fixture.take(turn)
            }
            let report = try await world.turns.turn(limit: 10, decide: decide)
            #expect(report.turns == 2)
            #expect(report.failed.keys.sorted() == [bad])
            #expect(try await world.count("set_aside", "retry_at > since and attempts = 1") == 1)
            try await world.run("update journey.set_aside set retry_at = now() + interval '1 hour'")
            #expect(try await world.turns.turn(limit: 10, decide: decide).claimed == 0)
            for _ in 1..<TurnStore.attemptLimit {
                try await world.run("update journey.set_aside set retry_at = now()")
                #expect(try await world.turns.turn(limit: 10, decide: decide).failed.count == 1)
            }
            #expect(try await world.count("set_aside", "retry_at is null and attempts = 5") == 1)
            #expect(try await world.count("inbox") == 1)
            // Retried by an operator, it goes on and is forgotten.
            try await world.run("update journey.set_aside set retry_at = now()")
            let again = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(again.turns == 1)
            #expect(try await world.count("set_aside") == 0)
        }
    }

    @Test func `a batch that cannot be written is halved down to the one to blame`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2", "u3", "u4", "u5")
            let bad = CustomerID(
                try await world.number(
                    "select customer from journey.customer_ids where external_id = 'u4'"))
            let report = try await world.turns.turn(limit: 10) { turn, _ in
                var result = Fixture.enter(turn)
                // A changed run that does not exist: the whole batch's statement fails.
                if turn.customer.id == bad { result.changedRuns = [Fixture.run(turn, cause: "no")] }
                return result
            }
            #expect(report.turns == 4)
            #expect(report.failed.keys.sorted() == [bad])
            #expect(try await world.count("runs") == 4)
            #expect(try await world.count("inbox") == 1)
            #expect(
                try await world.count("set_aside", "error like '%every changed run exists%'") == 1)
        }
    }

    @Test func `a customer whose statements run out of time is put off and never stuck`()
        async throws
    {
        try await World.with { world in
            try await world.arrive("u1")
            try await world.run(
                "insert into journey.set_aside select id, now(), 40, 'slow', now() from journey.customers"
            )
            // The server cancels the writing statement after a second.
            try await world.run(
                """
                create function journey.stall() returns trigger language plpgsql as $$
                begin perform pg_sleep(600); return old; end $$;
                create trigger stall before delete on journey.inbox
                for each row execute function journey.stall();
                """)
            var settings = world.settings
            settings.statementTimeout = .seconds(1)
            let pool = PostgresPool(settings: settings, size: 1, loop: world.loop)
            let report = try await TurnStore(pool: pool, definitions: world.cache)
                .turn(limit: 10) { turn, _ in Fixture.take(turn) }
            await pool.close()
            #expect(report.failed.count == 1)
            #expect(try await world.count("set_aside", "retry_at > now() and attempts = 41") == 1)
        }
    }

    @Test func `a state that cannot be read concerns its own customer only`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.enter(turn) }
            try await world.run(
                "update journey.runs set state = '{\"format\": 99}' where customer = "
                    + "(select min(customer) from journey.runs)")
            _ = try await world.deliveries.store([.webhook("a", id: "u1"), .webhook("b", id: "u2")])
            let report = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(report.turns == 1)
            #expect(report.failed.count == 1)
        }
    }

    @Test func `a missing table is nobody's fault and sets nobody aside`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            try await world.run("drop table journey.counts")
            await #expect(throws: PostgresError.self) {
                try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            }
            #expect(try await world.count("set_aside") == 0)
            #expect(try await world.count("inbox") == 2)
        }
    }

    @Test func `inputs of a merged record go to the survivor`() async throws {
        try await World.with { world in
            try await world.arrive("u1", "u2")
            try await world.run(
                """
                update journey.customers set forwards_to = (select max(id) from journey.customers)
                where id = (select min(id) from journey.customers)
                """)
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(try await world.count("inbox") == 0)
            #expect(try await world.count("customers", "inputs_taken = 2") == 1)
        }
    }
}
