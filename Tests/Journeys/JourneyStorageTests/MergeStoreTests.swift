import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Postgres
import TestSupport
import Testing
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

/// Records that turn out to be one person, in a real database (S10).
@Suite(.timeLimit(.minutes(3)))
struct MergeStoreTests {
    private static let day = Delay(length: .duration(.seconds(86_400)), next: .end)

    private static func flow(
        _ id: String, _ event: String, reentry: Entry.Reentry = .everyTime,
        key: Entry.Key? = nil, whenLive: Entry.WhenLive = .ignore,
        action: Step.Action = .delay(day)
    ) -> WorkflowDefinition {
        let step = StepID("only")
        return WorkflowDefinition(
            id: WorkflowID(id), kind: .journey,
            entry: Entry(
                trigger: .event(names: [event]), key: key, reentry: reentry, whenLive: whenLive),
            start: step, steps: [step: Step(id: step, action: action)], stepOrder: [step])
    }

    private static let flows = [
        "seen": flow("seen", "paywall.impression"),
        "many": flow("many", "app.opened", whenLive: .startAnother),
        "once": flow("once", "app.installed", reentry: .oneTime, action: .exit(reason: nil)),
        "paid": flow(
            "paid", "app.cart",
            action: .waitUntil(
                WaitUntil(
                    branches: [
                        WaitUntil.Branch(
                            id: "paid", cause: .event(EventMatch(names: ["purchase.completed"])),
                            next: .end)
                    ], timeout: .duration(.seconds(86_400)), onTimeout: .end))),
    ]

    /// An event of a provider, for a person with aliases.
    private static func tell(
        _ scenario: Scenario, _ name: String, _ number: Int, _ id: String,
        aliases: [String] = [], _ properties: JSONObject = JSONObject()
    ) async throws {
        let now = try await scenario.time()
        let person = Event.Person(id: id, aliases: aliases, isAnonymous: id.hasPrefix("$"))
        let event = Event(
            id: Event.makeID(connector: "shop", providerEventID: "\(number)"), connector: "shop",
            providerEventID: "\(number)", providerType: nil, name: name, trust: .provider,
            person: person, occurredAt: now, receivedAt: now, environment: "production",
            properties: properties)
        _ = try await scenario.world.deliveries.store([
            ArrivedDelivery(
                connector: "shop", providerEventID: "\(number)", content: .event(event),
                environment: "production", person: person)
        ])
    }

    // S10.1 S10.3 S10.4 S1.1
    @Test func `an anonymous record goes into the person's with all that hangs on it`()
        async throws
    {
        try await Scenario.with(Self.flows) { scenario in
            try await scenario.publish("seen", "once", "paid")
            let world = scenario.world
            try await Self.tell(
                scenario, "paywall.impression", 1, "$a",
                object(("attributes", .object(object(("plan", "free"), ("email", "a@x"))))))
            try await Self.tell(scenario, "app.installed", 2, "$a")
            try await Self.tell(scenario, "app.cart", 3, "$a")
            try await Self.tell(
                scenario, "subscription.started", 4, "$a", object(("subscription_key", "k1")))
            try await Self.tell(
                scenario, "app.other", 5, "u1",
                object(("attributes", .object(object(("plan", "pro"))))))
            _ = try await scenario.settleAll()
            #expect(try await world.count("customers") == 2)
            #expect(try await world.count("runs") == 3)
            // The event that says so finds the run that the anonymous id had begun.
            try await Self.tell(scenario, "purchase.completed", 6, "u1", aliases: ["$a"])
            try await scenario.settleAll()
            let survivor = try await world.number(
                "select customer from journey.customer_ids where external_id = 'u1'")
            #expect(try await world.count("customers", "forwards_to = \(survivor)") == 1)
            #expect(try await world.count("customer_ids", "customer <> \(survivor)") == 0)
            for table in [
                "runs", "history", "events", "event_ids", "subscriptions", "timers",
            ] {
                #expect(try await world.count(table, "customer <> \(survivor)") == 0, "\(table)")
                #expect(try await world.count(table) > 0, "\(table)")
            }
            #expect(
                try await world.count("runs", "workflow = 'paid' and status = 'completed'") == 1)
            #expect(
                try await world.count(
                    "customers",
                    "id = \(survivor) and attributes ->> 'plan' = 'pro' and "
                        + "attributes ->> 'email' = 'a@x'") == 1)
            // Re-entry records came along.
            try await Self.tell(scenario, "app.installed", 7, "u1")
            // A live run is in the way of another.
            try await Self.tell(scenario, "paywall.impression", 8, "u1")
            try await scenario.settleAll()
            #expect(try await world.count("runs") == 3)
            #expect(try await world.count("merges", "survivor = \(survivor)") == 1)
            #expect(try await world.count("inbox") == 0)
            #expect(
                try await world.count("events", "ordinal <> 0")
                    == world.number(
                        "select count(distinct ordinal) from journey.events"))
            // A closed run's row is the survivor's, and its state as its history says.
            for history in try await LookStore(pool: world.pool).histories(RunFilter()) {
                #expect(history.summary.customer.number == survivor)
                let isClosed = history.summary.workflow.text == "once"
                #expect(try history.run.get().customer.number == survivor || isClosed)
            }
        }
    }

    // S10.5 S10.6 S13.4
    @Test func `of two live runs in one place the older stays, and no effect's result is lost`()
        async throws
    {
        var flows = Self.flows
        flows["mail"] = Self.flow(
            "mail", "app.cart",
            action: .action(
                ActionStep(
                    tool: .http, account: "crm", parameters: .object([]), next: .end)))
        try await Scenario.with(flows) { scenario in
            try await scenario.publish("mail", "many")
            let world = scenario.world
            try await Self.tell(scenario, "app.cart", 1, "$a")
            try await Self.tell(scenario, "app.opened", 2, "$a")
            try await scenario.settleAll()
            try await Self.tell(scenario, "app.cart", 3, "u1")
            try await Self.tell(scenario, "app.opened", 4, "u1")
            try await scenario.settleAll()
            #expect(try await world.count("effect_queue") == 2)
            // One attempt of the older run's is under way while the records are merged.
            let leases = try await world.effects.lease([
                EffectCapacity(tool: "http", account: "crm", free: 9)
            ])
            let older = try await world.number(
                "select customer from journey.customer_ids where external_id = '$a'")
            let lease = try #require(leases.first { $0.customer.number == older })
            let other = try #require(leases.first { $0.customer.number != older })
            try await world.effects.handBack([other])
            try await Self.tell(scenario, "app.other", 5, "u1", aliases: ["$a"])
            try await scenario.settleAll()
            #expect(
                try await world.count(
                    "runs", "workflow = 'mail' and status = 'superseded' and reason = 'merged'")
                    == 1)
            #expect(
                try await world.count("effects", "status = 'withdrawn' and reason = 'merged'") == 1)
            // A workflow that admits several at once keeps both, in slots of their own.
            #expect(
                try await world.count("runs", "workflow = 'many' and ended_at is null") == 2)
            #expect(
                try await world.number(
                    "select count(distinct slot) from journey.runs where workflow = 'many'") == 2)
            let end = FinishedAttempt(lease: lease, outcome: "200", next: .end(.succeeded(.null)))
            #expect(try await world.effects.finish([end]) == [true])
            try await scenario.settleAll()
            #expect(
                try await world.count("runs", "workflow = 'mail' and status = 'completed'") == 1)
            #expect(try await world.count("effect_queue") == 0)
        }
    }

    // S10.1
    @Test func `two identified records are never merged by a webhook, and that is listed`()
        async throws
    {
        try await Scenario.with(Self.flows) { scenario in
            let world = scenario.world
            try await Self.tell(scenario, "app.other", 1, "u1")
            try await Self.tell(scenario, "app.other", 2, "u2")
            try await scenario.settleAll()
            for number in 3...4 {
                try await Self.tell(scenario, "app.other", number, "u1", aliases: ["u2"])
                try await scenario.settleAll()
            }
            #expect(try await world.count("customers", "forwards_to is null") == 2)
            #expect(try await world.count("identity_conflicts", "times = 2") == 1)
            #expect(try await scenario.counted("identity_conflict", "webhook") == 2)
            #expect(
                try await world.number(
                    "select count(*) from journey.events e join journey.customer_ids i "
                        + "on i.customer = e.customer where i.external_id = 'u1'") == 3)
        }
    }

    // S10.1
    @Test func `the app's own call merges identified records`() async throws {
        try await Scenario.with(Self.flows) { scenario in
            let world = scenario.world
            try await Self.tell(scenario, "app.other", 1, "u1")
            try await scenario.settleAll()
            try await Self.tell(scenario, "app.other", 2, "u2")
            try await scenario.settleAll()
            let now = try await scenario.time()
            let person = Event.Person(id: "u2", aliases: ["u1", "u3"])
            let event = Event(
                id: Event.makeID(connector: "app", providerEventID: "m"), connector: "app",
                providerEventID: "m", providerType: nil, name: "customer.updated", trust: .source,
                person: person, occurredAt: now, receivedAt: now, environment: "production",
                properties: object(("attributes", .object(JSONObject()))))
            _ = try await world.deliveries.store([
                ArrivedDelivery(
                    connector: "app", providerEventID: "m", content: .event(event),
                    environment: "production", person: person)
            ])
            try await scenario.settleAll()
            #expect(try await world.count("customers", "forwards_to is null") == 1)
            // The older of two identified ones stays.
            #expect(try await world.count("customers", "forwards_to < id") == 1)
            try await Self.tell(scenario, "app.other", 3, "u3")
            try await scenario.settleAll()
            #expect(try await world.count("customers", "forwards_to is null") == 1)
        }
    }

    // S10.7
    @Test func `nothing starts because of a merge`() async throws {
        let member = SegmentDefinition(
            id: SegmentID("mixed"),
            condition: .all([
                .compare(.eq, at("customer", "left"), .literal(true)),
                .compare(.eq, at("customer", "right"), .literal(true)),
            ]))
        var flows = Self.flows
        flows["enter"] = journeyFlow(
            "enter", .segment(SegmentID("mixed"), on: .enter))
        try await Scenario.with(flows, segments: ["mixed": member]) { scenario in
            try await scenario.publish("enter", "mixed")
            let world = scenario.world
            try await Self.tell(
                scenario, "app.other", 1, "$a",
                object(("attributes", .object(object(("left", true))))))
            try await Self.tell(
                scenario, "app.other", 2, "u1",
                object(("attributes", .object(object(("right", true))))))
            try await scenario.settleAll()
            try await Self.tell(scenario, "app.other", 3, "u1", aliases: ["$a"])
            try await scenario.settleAll()
            #expect(try await world.count("customers", "forwards_to is not null") == 1)
            #expect(try await world.count("segment_members") == 1)
            #expect(try await world.count("runs") == 0)
        }
    }

    // S10.2
    @Test func `a merge waits for a record that is busy, and what follows waits with it`()
        async throws
    {
        try await Scenario.with(Self.flows, connections: 6) { scenario in
            let world = scenario.world
            try await Self.tell(scenario, "app.other", 1, "$a")
            try await Self.tell(scenario, "app.other", 2, "u1")
            try await scenario.settleAll()
            try await Self.tell(scenario, "app.other", 3, "u1", aliases: ["$a"])
            try await Self.tell(scenario, "app.other", 4, "$a")
            let (one, other) = try await world.pool.withTransaction { tx in
                let lock = SQLStatement(
                    "test_lock", "select id from journey.customers order by id limit 1 for update")
                _ = try await tx.query(lock, [])
                let routed = try await world.routing.route(limit: 100)
                let report = try await scenario.merge(routed.merges)
                return (routed, report)
            }
            #expect(one.waiting == 2)
            #expect(one.routed == 0)
            #expect(other.busy == 1)
            #expect(other.failed.isEmpty)
            try await scenario.settleAll()
            #expect(try await world.count("merges") == 1)
            #expect(try await world.count("events") == 4)
            #expect(try await world.count("inbox") == 0)
        }
    }

    // S10.2
    @Test func `a merge that cannot be decided is put off and holds up nobody else`() async throws {
        try await Scenario.with(Self.flows) { scenario in
            let world = scenario.world
            try await Self.tell(scenario, "app.other", 1, "$a")
            try await Self.tell(scenario, "app.other", 2, "u1")
            try await scenario.settleAll()
            try await Self.tell(scenario, "app.other", 3, "u1", aliases: ["$a"])
            let routed = try await world.routing.route(limit: 100)
            struct No: Error {}
            let report = try await MergeStore(pool: world.pool, definitions: scenario.cache).merge(
                routed.merges
            ) { _, _ in throw No() }
            #expect(report.failed.count == 1)
            #expect(try await world.count("merge_failures", "attempts = 1") == 1)
            try await Self.tell(scenario, "app.other", 4, "$a")
            try await Self.tell(scenario, "app.other", 5, "u9")
            try await scenario.settleAll()
            #expect(try await world.count("events") == 3)
            #expect(try await world.count("inbox", "customer is null") == 2)
            try await world.run("update journey.inbox set route_after = now()")
            try await scenario.settleAll()
            #expect(try await world.count("events") == 5)
            #expect(try await world.count("merge_failures") == 0)
        }
    }
}

/// A workflow that waits a day, one at a time.
private func journeyFlow(_ id: String, _ trigger: Entry.Trigger) -> WorkflowDefinition {
    flow(id, trigger)
}

extension Scenario {
    func merge(_ pairs: [RecordPair]) async throws -> MergeStore.Report {
        try await MergeStore(pool: world.pool, definitions: cache).merge(pairs) { merge, set in
            try TurnDecider(definitions: set, connectors: [:]).decide(merge)
        }
    }

    /// Routes, merges and turns until nothing is to do.
    func settleAll() async throws {
        for _ in 0..<20 {
            let routed = try await world.routing.route(limit: 1_000)
            let report = try await merge(routed.merges)
            #expect(report.failed.isEmpty)
            let transfers = TransferStore(pool: world.pool, definitions: cache)
            let moved = try await transfers.carryOut(limit: 100) { transfer, set in
                try TurnDecider(definitions: set, connectors: [:]).decide(transfer)
            }
            #expect(moved.failed.isEmpty)
            let turned = try await settle()
            #expect(turned.failed.isEmpty)
            if routed.routed == 0, report.merged == 0, turned.turns == 0, routed.waiting == 0,
                moved.carriedOut == 0
            {
                return
            }
        }
    }
}
