import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct LookStoreTests {
    // S20.seen
    @Test func `a run is shown with why it does not move`() async throws {
        try await World.with { world in
            let look = LookStore(pool: world.pool)
            try await world.arrive("u1")
            let entered = TestSignal<TurnResult>()
            _ = try await world.turns.turn(limit: 10) { turn, _ in
                let result = Fixture.enter(turn)
                entered.send(result)
                return result
            }
            let run = entered.values[0].newRuns[0]
            let view = try #require(try await look.run(run.id))
            #expect(view.run == run)
            #expect(view.effects.map(\.status) == ["pending"])
            // No process has told of itself.
            #expect(
                view.holds == [
                    .noDispatcher(seen: nil), .effect(view.effects[0], lastOutcome: nil),
                    .noWorker(seen: nil, turn: nil),
                ])
            #expect(view.summary.nextWake == view.effects[0].dueAt)
            _ = try await world.deliveries.store([.webhook("e2", id: "u1")])
            try await world.run(
                "insert into journey.set_aside select id, now(), 5, 'refused', null from journey.customers"
            )
            let stuck = try #require(try await look.run(run.id))
            #expect(stuck.holds.first == .stuck(error: "refused"))
            #expect(stuck.holds.count == 5)
            #expect(stuck.holds[1] == .noWorker(seen: nil, turn: nil))
            #expect(stuck.standing.unreadInputs == 1)
            let history = try await look.history(run.id)
            #expect(history.map(\.number) == [0])
            #expect(history[0].json == entered.values[0].decisions[0].json.object)
            #expect(try await look.run(RunID("none")) == nil)
        }
    }

    @Test func `runs are listed by what they are asked for, page by page`() async throws {
        try await World.with { world in
            let look = LookStore(pool: world.pool)
            try await world.arrive("u1", "u2", "u3")
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.enter(turn) }
            var filter = RunFilter()
            #expect(try await look.runs(filter).count == 3)
            filter.limit = 2
            let page = try await look.runs(filter)
            filter.after = page.last
            let rest = try await look.runs(filter)
            #expect(Set((page + rest).map(\.id)).count == 3)
            let first = (page + rest).map(\.id.text).min() ?? ""
            #expect(try await look.runs(prefix: first).map(\.id.text) == [first])
            #expect(try await look.runs(prefix: "", limit: 10).count == 3)
            #expect(try await look.runs(prefix: first + "0").isEmpty)
            #expect(try await look.runs(prefix: "%").isEmpty)
            for (change, count) in Self.conditions {
                var filter = RunFilter()
                change(&filter)
                #expect(try await look.runs(filter).count == count)
            }
        }
    }

    private static let conditions: [(@Sendable (inout RunFilter) -> Void, Int)] = [
        ({ $0.workflow = "welcome" }, 3), ({ $0.workflow = "other" }, 0), ({ $0.version = 1 }, 3),
        ({ $0.version = 2 }, 0), ({ $0.status = "waiting" }, 3), ({ $0.status = "failed" }, 0),
        ({ $0.customer = "u2" }, 1), ({ $0.customer = "nobody" }, 0), ({ $0.step = "hello" }, 3),
        ({ $0.key = "k" }, 0), ({ $0.environment = "sandbox" }, 0),
        ({ $0.since = Instant(milliseconds: 0) }, 3), ({ $0.until = Instant(milliseconds: 0) }, 0),
    ]

    @Test func `a customer is shown with ids, runs and events`() async throws {
        try await World.with { world in
            let look = LookStore(pool: world.pool)
            _ = try await world.deliveries.store([.webhook("e1", id: "u1", aliases: ["x"])])
            _ = try await world.routing.route(limit: 10)
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.enter(turn) }
            let view = try #require(try await look.customer("x"))
            #expect(view.ids.map(\.id) == ["u1", "x"])
            #expect(view.ids.map(\.isOwn) == [true, false])
            #expect(view.runs.count == 1)
            #expect(view.events.map(\.ordinal) == [1])
            #expect(view.attributes["taken"]?.integer == 1)
            #expect(try await look.customer("x", environment: "sandbox") == nil)
            var filter = EventFilter()
            filter.customer = "u1"
            #expect(try await look.events(filter).map(\.logged) == view.events)
            filter.name = "other"
            #expect(try await look.events(filter).isEmpty)
        }
    }

    @Test func `a delivery is shown with its bytes`() async throws {
        try await World.with { world in
            let look = LookStore(pool: world.pool)
            let body = "{\"price\": 1.10, \"text\": \"\\u0000\"}"
            let receipt = try await world.deliveries.store([
                .webhook("e1", id: "u1", body: body), .webhook("e2", id: "u1"),
            ])
            _ = try await world.routing.route(limit: 10)
            var filter = DeliveryFilter()
            filter.state = "unread"
            #expect(try await look.deliveries(filter).count == 2)
            _ = try await world.turns.turn(limit: 10) { turn, _ in Fixture.take(turn) }
            #expect(try await look.deliveries(filter).isEmpty)
            filter.state = "processed"
            filter.providerEventID = "e1"
            let found = try await look.deliveries(filter)
            #expect(found.map(\.id) == [receipt[0].delivery])
            let shown = try #require(try await look.delivery(receipt[0].delivery))
            #expect(shown.view == found[0])
            #expect(shown.body == Array(body.utf8))
            #expect(try await look.delivery(-1) == nil)
        }
    }

    // S20.1
    @Test func `counts are summed by cause, effects listed by status`() async throws {
        try await World.with { world in
            let look = LookStore(pool: world.pool)
            try await world.arrive("u1", "u2")
            for _ in 0..<2 {
                _ = try await world.turns.turn(limit: 1) { turn, _ in Fixture.enter(turn) }
            }
            let counts = try await look.counts(since: .earliest, until: .latest)
            #expect(
                counts == [CountView(name: "ignored", workflow: nil, cause: "test", amount: 2)])
            var filter = EffectFilter()
            filter.status = "pending"
            let effects = try await look.effects(filter)
            #expect(effects.count == 2)
            filter.run = effects[0].run
            #expect(try await look.effects(filter) == [effects[0]])
        }
    }

    @Test func `the backlog tells what waits and what is stuck`() async throws {
        try await World.with { world in
            let store = BacklogStore(pool: world.pool)
            let idle = try await store.backlog()
            #expect(idle.unreadInputs == 0)
            #expect(idle.oldestUnread == nil)
            try await world.arrive("u1", "u2")
            _ = try await world.turns.turn(limit: 1) { turn, _ in
                var result = Fixture.enter(turn)
                result.wakeAt = turn.now
                return result
            }
            _ = try await world.deliveries.store([.webhook("n", id: "new"), .webhook("m", id: nil)])
            try await world.run(
                "insert into journey.set_aside select min(id), now(), 5, 'e', null from journey.customers"
            )
            let backlog = try await store.backlog()
            #expect(backlog.unreadInputs == 1)
            #expect(backlog.oldestUnread != nil)
            #expect(backlog.unrouted == 2)
            #expect(backlog.overdueTimers == 1)
            #expect(backlog.dueEffects == 1)
            #expect(backlog.stuckCustomers == 1)
            #expect(backlog.unassigned == 0)
        }
    }
}
