import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestSupport
import Testing
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

/// Entries that events alone do not make.
@Suite(.timeLimit(.minutes(3)))
struct EntryStoreTests {
    @Test func `a date waits in the database and starts its run when it comes`() async throws {
        let trigger = Entry.Trigger.date(DateTrigger(value: at("customer", "renews_at")))
        try await Scenario.with(["renewal": flow("renewal", trigger)]) { scenario in
            try await scenario.publish("renewal")
            let soon = try await scenario.time() + .seconds(3_600)
            try await scenario.tell(
                "invoice.paid", 1,
                object(
                    (
                        "attributes",
                        .object(object(("renews_at", .string(soon.description))))
                    )))
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("date_entries", "is_pending") == 1)
            #expect(
                try await scenario.world.count("timers", "due_at > now() + interval '59 minutes'")
                    == 1)
            try await scenario.world.run(
                "update journey.date_entries set due_at = now(), date = date; "
                    + "update journey.timers set due_at = now()")
            _ = try await scenario.settle()
            #expect(
                try await scenario.world.count(
                    "runs", "cause like 'date:/customer/renews\\_at:%'") == 1)
            #expect(try await scenario.world.count("date_entries", "not is_pending") == 1)
        }
    }

    @Test func `a value lets one customer in, also where two come at once`() async throws {
        let flows = [
            "order": flow("order", .event(names: ["ordered"]), oncePer: at("event", "order_id"))
        ]
        try await Scenario.with(flows, connections: 8) { scenario in
            try await scenario.publish("order")
            let order = object(("order_id", "o1"))
            for number in 1...6 {
                try await scenario.tell("ordered", number, to: "u\(number)", order)
            }
            // All in one batch.
            #expect(try await scenario.settle().failed.isEmpty)
            #expect(try await scenario.world.count("runs") == 1)
            #expect(try await scenario.counted("not_entered", "once_per") == 5)
            // And by workers at once.
            for number in 11...30 {
                try await scenario.tell(
                    "ordered", number, to: "v\(number)", object(("order_id", "o2")))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        while true {
                            let report = try await scenario.turns.turn(limit: 3) { turn, set in
                                TurnDecider(definitions: set, connectors: [:]).decide(turn)
                            }
                            #expect(report.failed.isEmpty)
                            if report.claimed == 0 { break }
                        }
                    }
                }
                try await group.waitForAll()
            }
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("runs") == 2)
            #expect(try await scenario.world.count("entry_values") == 2)
            #expect(try await scenario.world.count("inbox") == 0)
        }
    }

    @Test func `a firing asks every customer of its environments once, page by page`() async throws
    {
        let audience = Condition.compare(.eq, at("customer", "plan"), .literal("pro"))
        let trigger = Entry.Trigger.schedule(
            ScheduleTrigger(cron: try CronExpression("* * * * *"), audience: audience, rate: 50))
        try await Scenario.with(["weekly": flow("weekly", trigger)]) { scenario in
            try await scenario.publish("weekly")
            for number in 1...25 {
                try await scenario.tell(
                    "invoice.paid", number, to: "u\(number)",
                    plan(number % 5 == 0 ? "pro" : "basic"))
            }
            _ = try await scenario.settle()
            try await scenario.world.run(
                "insert into journey.customers (environment) values ('sandbox')")
            let firing = SchedulePlan.Firing(
                workflow: WorkflowID("weekly"), plannedAt: try await scenario.time(), rate: 50,
                environments: ["production"])
            var plan = SchedulePlan.none
            plan.starting = [firing]
            for _ in 0..<2 { try await scenario.schedules.write(plan) }
            let walking = try await scenario.schedules.walking()
            #expect(walking.map(\.plannedAt) == [firing.plannedAt])
            var asked = 0
            while true {
                let page = try await scenario.schedules.walk(walking[0], limit: 10)
                asked += page.asked
                if page.isLast { break }
            }
            #expect(asked == 25)
            #expect(try await scenario.schedules.walking().isEmpty)
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("runs", "cause like 'schedule:%'") == 5)
            #expect(try await scenario.counted("filtered", "audience") == 20)
        }
    }

    @Test func `a page that is not committed is asked again, and no customer twice`() async throws {
        let trigger = Entry.Trigger.schedule(
            ScheduleTrigger(
                cron: try CronExpression("* * * * *"), audience: .constant(true), rate: 50))
        try await Scenario.with(["weekly": flow("weekly", trigger)]) { scenario in
            try await scenario.publish("weekly")
            for number in 1...20 { try await scenario.tell("app.opened", number, to: "u\(number)") }
            _ = try await scenario.settle()
            var plan = SchedulePlan.none
            plan.starting = [
                SchedulePlan.Firing(
                    workflow: WorkflowID("weekly"), plannedAt: try await scenario.time(), rate: 50,
                    environments: ["production"])
            ]
            try await scenario.schedules.write(plan)
            let firing = try await scenario.schedules.walking()[0]
            // Two walkers at once share the cursor.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<10 { _ = try await scenario.schedules.walk(firing, limit: 3) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await scenario.world.count("inbox", "kind = 'schedule'") == 20)
            #expect(
                try await scenario.world.number(
                    "select count(distinct customer) from journey.inbox") == 20)
        }
    }

    @Test func `a skipped firing is counted, once`() async throws {
        try await Scenario.with([:]) { scenario in
            var plan = SchedulePlan.none
            plan.skipped = [
                SchedulePlan.Skip(
                    firing: SchedulePlan.Firing(
                        workflow: WorkflowID("weekly"), plannedAt: try await scenario.time(),
                        rate: 1, environments: ["production"]), reason: "missed", count: 4)
            ]
            for _ in 0..<2 { try await scenario.schedules.write(plan) }
            #expect(try await scenario.counted("not_fired", "missed") == 4)
            #expect(try await scenario.schedules.walking().isEmpty)
            #expect(try await scenario.schedules.latest().firings.count == 1)
        }
    }

    @Test func `one holds a lease at a time, and each new holder has a higher term`() async throws {
        try await Scenario.with([:]) { scenario in
            let leases = LeaseStore(pool: scenario.world.pool)
            #expect(try await leases.take("x", holder: "a", for: .seconds(60)) == 1)
            #expect(try await leases.take("x", holder: "b", for: .seconds(60)) == nil)
            #expect(try await leases.take("x", holder: "a", for: .seconds(60)) == 1)
            try await leases.release("x", holder: "a")
            #expect(try await leases.take("x", holder: "b", for: .seconds(60)) == 2)
        }
    }

    // S4.6
    @Test func `a start is queued once, refused beside a live run, and unknown people are told of`()
        async throws
    {
        try await Scenario.with(["helper": flow("helper", .api)]) { scenario in
            try await scenario.publish("helper")
            try await scenario.tell("app.opened", 1)
            _ = try await scenario.settle()
            let starts = StartStore(pool: scenario.world.pool)
            func start(_ cause: String, supersedes: Bool = false, _ id: String = "u1") async throws
                -> StartStore.Outcome
            {
                try await starts.start(
                    StartInput(
                        StartRequest(
                            workflow: WorkflowID("helper"), key: nil, cause: cause, depth: 0),
                        supersedes: supersedes), externalID: id, environment: "production")
            }
            guard case .queued = try await start("a") else {
                Issue.record("the first start is queued")
                return
            }
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("runs") == 1)
            guard case .startedBefore(let run) = try await start("a") else {
                Issue.record("the same cause starts nothing")
                return
            }
            #expect(try await start("b") == .slotTaken(run))
            guard case .queued = try await start("b", supersedes: true) else {
                Issue.record("a start may take a live run's place")
                return
            }
            #expect(try await start("c", "nobody") == .unknownCustomer)
        }
    }

    // S4.1
    @Test func `an event that a step sends is taken in a turn of its own`() async throws {
        let flows = [
            "first": flow(
                "first", .event(names: ["began"]),
                action: .sendEvent(SendEvent(event: "pinged", next: .end))),
            "second": flow("second", .event(names: ["pinged"])),
        ]
        try await Scenario.with(flows) { scenario in
            try await scenario.publish("first", "second")
            try await scenario.tell("began", 1)
            let report = try await scenario.settle()
            #expect(report.failed.isEmpty)
            #expect(report.inputs == 2)
            #expect(try await scenario.world.count("runs") == 2)
            #expect(
                try await scenario.world.count(
                    "events", "name = 'pinged' and connector = 'engine' and ordinal = 2") == 1)
        }
    }
}
