import Connectors
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// Stored deliveries that are offered again: what the mapping tells now against what it told before.
@Suite struct ReplayTests {
    private static let connector: Connector? = {
        guard let provider = ProviderDefinition.shipped(named: "revenuecat") else { return nil }
        return try? Connector(
            name: "revenuecat", provider: provider,
            authentication: [Authentication(scheme: .none, secrets: [])],
            allowsUnauthenticated: true)
    }()

    private static let renewed = Entry(
        trigger: .event(names: ["subscription.renewed"]), reentry: .everyTime,
        whenLive: .startAnother)
    private static let unknown = Entry(
        trigger: .event(names: ["connector.unknown"]), reentry: .everyTime, whenLive: .startAnother)

    private func body(_ id: String = "e1", type: String = "RENEWAL") -> [UInt8] {
        let text = """
            {"event": {"type": "\(type)", "id": "\(id)", "app_user_id": "ada", "product_id": "pro",
            "event_timestamp_ms": \(dawn.milliseconds), "environment": "PRODUCTION",
            "original_transaction_id": "t1", "period_type": "NORMAL", "store": "APP_STORE"}}
            """
        return Array(text.utf8)
    }

    /// A world that has taken the delivery by another mapping, which called it `name`.
    private func world(
        _ workflows: [WorkflowDefinition], was name: String, properties: JSONObject? = nil
    ) throws -> World {
        var world = World(workflows)
        let connector = try #require(Self.connector)
        world.connectors = ["revenuecat": connector]
        var event = connector.event(body: body(), receivedAt: dawn, providerEventID: "e1")
        event.name = name
        event.raw = .null
        if let properties { event.properties = properties }
        world.take(world.input(.event(event), at: dawn))
        return world
    }

    private func replay(
        _ world: inout World, _ replay: Replay, id: String = "e1", at: Instant = after(hours(2))
    ) -> TurnResult {
        let known = Event.makeID(connector: "revenuecat", providerEventID: id)
        let delivery = StoredDelivery(
            id: 1, connector: "revenuecat", providerEventID: id, body: body(id), receivedAt: dawn,
            earlier: world.log.last { $0.event.id == known }?.event)
        return world.take(world.input(.replay(delivery, replay), at: at), at: at)
    }

    private let quiet = Replay(remaps: true, audit: 9)
    private let starting = Replay(remaps: true, starts: true, audit: 9)

    @Test func `the same result does nothing`() throws {
        var world = try world(
            [makeWorkflow("flow", [.delay("rest", days(1))], entry: Self.renewed)],
            was: "subscription.renewed")
        let before = world.runs
        let result = replay(&world, starting)
        #expect(result.takenInputs.count == 1)
        #expect(result.events.isEmpty && result.newRuns.isEmpty && result.deliveries.isEmpty)
        #expect(world.runs == before)
        #expect(world.log.count == 1)
    }

    @Test
    func `another result is the next revision, with the event's own times, and updates state`()
        throws
    {
        var world = try world([], was: "connector.unknown")
        #expect(world.subscriptions.isEmpty)
        let result = replay(&world, quiet)
        let revision = try #require(result.events.first)
        #expect(revision.event.id == world.log.first?.event.id)
        #expect(revision.event.name == "subscription.renewed")
        #expect(revision.event.occurredAt == dawn && revision.event.receivedAt == dawn)
        #expect(revision.ordinal == 2 && revision.recordedAt == after(hours(2)))
        #expect(result.revised == [revision.event.id])
        #expect(result.deliveries == [DeliveryMark(delivery: 1, state: .processed)])
        #expect(world.subscriptions.first?.status == "active")
        #expect(world.counted(.revised, nil, "revenuecat") == 1)
        // Once more: it is the same now.
        #expect(replay(&world, quiet).events.isEmpty)
    }

    @Test func `a revision satisfies a wait, and starts nothing unless it is told to`() throws {
        let waits = makeWorkflow(
            "waits",
            [.wait("listen", for: "subscription.renewed", next: .to("tell")), .action("tell")],
            entry: Self.unknown)
        let other = makeWorkflow("other", [.delay("rest", days(1))], entry: Self.renewed)
        var world = try world([waits, other], was: "connector.unknown")
        let result = replay(&world, quiet)
        #expect(result.moves == ["listen subscription.renewed"])
        // A run that lived already sends as it always would.
        #expect(result.requests.count == 1 && result.requests.allSatisfy { $0.withheld == nil })
        #expect(result.newRuns.isEmpty)
        #expect(world.counted(.notEntered, "other", "replay") == 1)
    }

    @Test func `only what the event has not started is started`() throws {
        let entry = Entry(
            trigger: .event(names: ["connector.unknown", "subscription.renewed"]),
            reentry: .everyTime, whenLive: .startAnother)
        let both = makeWorkflow("both", [.delay("rest", days(1))], entry: entry)
        let other = makeWorkflow("other", [.delay("rest", days(1))], entry: Self.renewed)
        var world = try world([both, other], was: "connector.unknown")
        #expect(world.runs.map(\.workflow.text) == ["both"])
        let result = replay(&world, starting)
        #expect(result.newRuns.map(\.workflow.text) == ["other"])
        #expect(world.counted(.notEntered, "both", "cause_spent") == 1)
    }

    @Test(arguments: [false, true])
    func `a run that a replay starts sends nothing for life`(records: Bool) throws {
        let flow = makeWorkflow(
            "flow",
            [
                .action("tell", next: .to("rest")), .delay("rest", days(1), next: .to("again")),
                .action("again"),
            ],
            entry: Self.renewed)
        var world = try world([flow], was: "connector.unknown")
        var asked = starting
        asked.withholding = Withholding(reason: "replay", recordsRequests: records)
        let result = replay(&world, asked)
        #expect(result.moves == ["tell next"])
        let later = world.wake(at: after(days(2)))
        #expect(later.moves == ["rest next", "again next"])
        let run = try #require(world.runs.first)
        #expect(run.status == .completed)
        #expect(run.results[StepID("tell")] == ["suppressed": "replay"])
        #expect(run.results[StepID("again")] == ["suppressed": "replay"])
        #expect(world.requests.map(\.withheld) == (records ? ["replay", "replay"] : []))
        #expect(world.counted(.suppressed, "flow", "replay") == 2)
        // As it is stored and read again, it stays so.
        #expect(try Run(state: run.state) == run)
        #expect(run.state["format"] == 3)
    }

    @Test func `with live effects the run that is started sends`() throws {
        let flow = makeWorkflow("flow", [.action("tell")], entry: Self.renewed)
        var world = try world([flow], was: "connector.unknown")
        var asked = starting
        asked.withholding = nil
        #expect(replay(&world, asked).requests.map(\.withheld) == [nil])
    }

    @Test func `what a withheld run starts is withheld, too`() throws {
        let flow = makeWorkflow("flow", [.startRun("call", "helper")], entry: Self.renewed)
        let helper = makeWorkflow(
            "helper", [.action("tell")], entry: Entry(trigger: .api, reentry: .everyTime))
        var world = try world([flow, helper], was: "connector.unknown")
        _ = replay(&world, starting)
        world.settle(at: after(hours(3)))
        #expect(world.runs.map(\.workflow.text).sorted() == ["flow", "helper"])
        #expect(world.runs.allSatisfy { $0.withholding?.reason == "replay" })
        #expect(world.requests.isEmpty)
    }

    @Test(arguments: [false, true])
    func `runs that the earlier revision started are cancelled only when that is asked`(
        cancels: Bool
    )
        throws
    {
        let flow = makeWorkflow("flow", [.delay("rest", days(1))], entry: Self.unknown)
        var world = try world([flow], was: "connector.unknown")
        _ = replay(&world, Replay(remaps: true, cancelsStarted: cancels, audit: 9))
        #expect(world.endings == (cancels ? ["cancelled replay"] : ["waiting"]))
    }

    @Test func `what the earlier revision had set of a subscription is taken back`() throws {
        var world = try world(
            [], was: "subscription.expired",
            properties: ["subscription_key": "t1", "product_id": "wrong"])
        #expect(world.subscriptions.first?.status == "expired")
        // An older event of the same subscription, whose word counts again.
        let connector = try #require(Self.connector)
        var older = connector.event(
            body: body("e0"), receivedAt: dawn, providerEventID: "e0")
        older.name = "subscription.product_change_scheduled"
        older.occurredAt = dawn - hours(1)
        older.properties = ["subscription_key": "t1", "new_product_id": "max", "store": "old"]
        older.raw = .null
        world.take(world.input(.event(older), at: after(hours(1))))
        _ = replay(&world, quiet)
        let state = try #require(world.subscriptions.first)
        // A renewal is later than the change that was scheduled, and clears it.
        #expect(state.status == "active" && state.scope["will_renew"] == true)
        #expect(state.scope["product_id"] == "pro")
        #expect(state.scope["pending_product_id"] == .null)
        #expect(!state.fields.contains { $0.value.value == "wrong" })
    }

    @Test func `without a new mapping the stored event starts what it has not started, alone`()
        throws
    {
        let waits = makeWorkflow(
            "waits", [.wait("listen", for: "subscription.renewed")],
            entry: Entry(trigger: .event(names: ["purchase.started"]), reentry: .everyTime))
        var world = try world([waits], was: "subscription.renewed")
        world.give("purchase.started", at: after(.seconds(60)))
        // Published after the event had come.
        let missed = makeWorkflow("missed", [.action("tell")], entry: Self.renewed)
        world.publish([waits, missed], revision: 1, at: after(hours(1)))
        let result = replay(&world, Replay(remaps: false, starts: true, audit: 9))
        #expect(result.newRuns.map(\.workflow.text) == ["missed"])
        #expect(result.moves == ["tell next"])
        #expect(result.events.isEmpty)
        #expect(world.counted(.suppressed, "missed", "replay") == 1)
        // And once more it has started it.
        #expect(replay(&world, Replay(remaps: false, starts: true, audit: 9)).newRuns.isEmpty)
    }

    @Test func `a delivery that never became an event does now`() throws {
        var world = World([makeWorkflow("flow", [.delay("rest", days(1))], entry: Self.renewed)])
        world.connectors = ["revenuecat": try #require(Self.connector)]
        let result = replay(&world, starting, id: "e7")
        #expect(result.events.map(\.event.name) == ["subscription.renewed"])
        #expect(result.revised.isEmpty)
        #expect(result.newRuns.count == 1)
    }

    @Test func `a replay is read as it was written`() throws {
        for replay in [
            quiet, starting, Replay(remaps: false, starts: true, withholding: nil, audit: 3),
            Replay(
                remaps: true, cancelsStarted: true,
                withholding: Withholding(reason: "replay", recordsRequests: true), audit: 1),
        ] {
            #expect(try Replay(json: replay.json) == replay)
        }
        // What this program cannot read never means that everything is sent.
        var json = quiet.json
        json["withholding"] = ["reason": "replay"]
        #expect(throws: StoredFormError.self) { try Replay(json: json) }
    }
}
