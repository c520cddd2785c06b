import Connectors
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// From stored bytes to events: repeats, conflicts and what cannot be read (S16).
@Suite struct DeliveryTests {
    let decider: TurnDecider

    init() throws {
        let provider = try #require(ProviderDefinition.shipped(named: "revenuecat"))
        let connector = try Connector(
            name: "revenuecat", provider: provider,
            authentication: [Authentication(scheme: .none, secrets: [])],
            allowsUnauthenticated: true)
        let flow = makeWorkflow(
            [.delay("rest", days(1))],
            entry: Entry(
                trigger: .event(names: ["subscription.renewed", "connector.unreadable"]),
                reentry: .everyTime, whenLive: .startAnother))
        decider = TurnDecider(
            definitions: DefinitionSet(live: [
                .init(workflow: flow.id, number: 1, digest: "d", definition: flow)
            ]), connectors: ["revenuecat": connector])
    }

    func body(product: String = "pro", spaced: Bool = false) -> [UInt8] {
        let gap = spaced ? "  " : ""
        let text = """
            {"api_version": "1.0", \(gap)"event": {"type": "RENEWAL", "id": "e1", "app_user_id": "ada",
            "product_id": "\(product)", "event_timestamp_ms": 1772359200000, "environment": "PRODUCTION",
            "purchased_at_ms": 1772359200000, "store": "APP_STORE"}}
            """
        return Array(text.utf8)
    }

    func delivery(
        _ id: Int64, _ body: [UInt8], connector: String = "revenuecat", earlier: Event? = nil
    ) -> TurnInput {
        TurnInput(
            sequence: id, recordedAt: dawn,
            content: .delivery(
                StoredDelivery(
                    id: id, connector: connector, providerEventID: "e1", body: body,
                    receivedAt: dawn, earlier: earlier)))
    }

    func decide(_ inputs: TurnInput...) -> TurnResult {
        decider.decide(
            CustomerTurn(
                customer: CustomerRecord(
                    id: CustomerID(7), environment: "production", app: nil, attributes: [:],
                    inputsTaken: 0), inputs: inputs, hasAllInputs: true, runs: [],
                earlierEntries: [], spentCauses: [], log: [], now: dawn))
    }

    @Test func `a delivery becomes its event and is marked as processed`() throws {
        let result = decide(delivery(1, body()))
        #expect(result.deliveries == [DeliveryMark(delivery: 1, state: .processed)])
        let event = try #require(result.events.first?.event)
        #expect(event.name == "subscription.renewed")
        #expect(event.id == Event.makeID(connector: "revenuecat", providerEventID: "e1"))
        #expect(result.newRuns.map(\.cause) == [event.id.text])
    }

    @Test func `the same event in other bytes is a duplicate and goes no further`() throws {
        let first = try #require(decide(delivery(1, body())).events.first?.event)
        let result = decide(delivery(2, body(spaced: true), earlier: first))
        #expect(result.deliveries == [DeliveryMark(delivery: 2, state: .duplicate)])
        #expect(result.events.isEmpty && result.newRuns.isEmpty)
        #expect(result.takenInputs == [2])
        #expect(result.counts == [Count(.duplicate, cause: "revenuecat"): 1])
    }

    @Test func `another event under the same id is a conflict, kept and never acted upon`() throws {
        let first = try #require(decide(delivery(1, body())).events.first?.event)
        let result = decide(delivery(2, body(product: "max"), earlier: first))
        #expect(
            result.deliveries == [
                DeliveryMark(
                    delivery: 2, state: .conflict,
                    reason: "the provider sent another event under an id it had used: "
                        + "subscription.renewed before, subscription.renewed now")
            ])
        #expect(result.newRuns.isEmpty)
        #expect(result.counts == [Count(.conflict, cause: "revenuecat"): 1])
    }

    @Test func `a repeat in the same turn as the first is known as one`() {
        let result = decide(
            delivery(1, body()), delivery(2, body(spaced: true)), delivery(3, body(product: "max")))
        #expect(result.deliveries.map(\.state) == [.processed, .duplicate, .conflict])
        #expect(result.events.count == 1)
        #expect(result.newRuns.count == 1)
        #expect(result.customer.inputsTaken == 3)
    }

    @Test func `what cannot be read is an event that says so`() {
        let result = decide(delivery(1, Array("{".utf8)))
        #expect(result.deliveries.map(\.state) == [.unreadable])
        #expect(result.deliveries.first?.reason?.isEmpty == false)
        #expect(result.events.map(\.event.name) == ["connector.unreadable"])
    }

    @Test func `a delivery of a connector that is gone says which`() {
        let result = decide(delivery(1, body(), connector: "till"))
        #expect(
            result.deliveries == [
                DeliveryMark(
                    delivery: 1, state: .unreadable,
                    reason: "no connector named till is configured")
            ])
    }
}
