import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Testing
import TimeZones
import WorkflowDefinitions

/// What a merge of two records decides; each run it touches is verified against its history.
struct MergeTests {
    private static func flow(_ id: String, _ since: WaitUntil.Since) -> WorkflowDefinition {
        let (first, second) = (StepID("first"), StepID("second"))
        func wait(_ event: String, _ next: Edge) -> Step.Action {
            .waitUntil(
                WaitUntil(
                    branches: [
                        WaitUntil.Branch(
                            id: "came", cause: .event(EventMatch(names: [event])), next: next)
                    ], since: since, timeout: .duration(.seconds(86_400)), onTimeout: .end))
        }
        return WorkflowDefinition(
            id: WorkflowID(id), kind: .journey,
            entry: Entry(trigger: .event(names: ["begin"]), reentry: .everyTime), start: first,
            steps: [
                first: Step(id: first, action: wait("go", .step(second))),
                second: Step(id: second, action: wait("bought", .end)),
            ], stepOrder: [first, second])
    }

    private static func pair(_ since: WaitUntil.Since = .run) -> (World, World) {
        var own = World(flow("f", since))
        var other = World(flow("f", since))
        own.customer.createdAt = dawn
        other.customer = CustomerRecord(
            id: CustomerID(8), environment: "production", app: nil, attributes: [:],
            inputsTaken: 0, createdAt: dawn)
        other.numbers = 1_000
        own.give("other")
        return (own, other)
    }

    // S10.4 S19.1
    @Test func `a run goes on as another record's, and its history still gives the same`() throws {
        var (own, other) = Self.pair()
        other.give("begin")
        other.give("bought", at: dawn + .seconds(10))
        let result = try own.absorb(other, at: dawn + .seconds(60))
        #expect(result.changedRuns.map(\.customer) == [CustomerID(7)])
        #expect(own.customer.inputsTaken == 4)
        // Its own earlier event is looked back at, under its new ordinal.
        own.give("go", at: dawn + .seconds(70))
        #expect(own.endings == ["completed"])
        let kinds = own.decisions.flatMap { $0.entries.map(\.kind) }
        #expect(kinds.count { $0 == .merged } == 1)
    }

    // S2.4 S10.7
    @Test func `no run looks back at what the other record had taken`() throws {
        var (own, other) = Self.pair()
        own.give("begin")
        other.give("bought", at: dawn + .seconds(10))
        try own.absorb(other, at: dawn + .seconds(60))
        own.give("go", at: dawn + .seconds(70))
        #expect(own.endings == ["waiting"])
        own.give("bought", at: dawn + .seconds(80))
        #expect(own.endings == ["completed"])
    }

    // S10.5
    @Test func `of two live runs in one place the older stays, whosever it was`() throws {
        var (own, other) = Self.pair()
        other.give("begin", at: dawn + .seconds(1))
        own.give("begin", at: dawn + .seconds(2))
        try own.absorb(other, at: dawn + .seconds(60))
        #expect(own.runs.map(\.customer) == [CustomerID(7), CustomerID(7)])
        #expect(own.endings == ["superseded merged", "waiting"])
    }

    // S10.4
    @Test func `the survivor keeps its values and takes what it lacks`() throws {
        var (own, other) = Self.pair()
        own.give("x.told", at: dawn, ["attributes": ["plan": "pro"]])
        other.give(
            "x.told", at: dawn + .seconds(5), ["attributes": ["plan": "free", "email": "a@x"]])
        other.assignments = ["price": "b"]
        let started: JSONObject = ["subscription_key": "k", "product_id": "p1"]
        own.give("subscription.started", at: dawn + .seconds(1), started)
        other.give("subscription.cancelled", at: dawn + .seconds(9), started)
        other.give("subscription.started", at: dawn, ["subscription_key": "k", "store": "web"])
        try own.absorb(other, at: dawn + .seconds(60))
        #expect(own.customer.attributes == ["plan": "pro", "email": "a@x"])
        #expect(own.assignments == ["price": "b"])
        let scope = own.subscriptions.first?.scope
        #expect(scope?["will_renew"] == false)
        #expect(scope?["status"] == "active")
        #expect(scope?["store"] == "web")
    }
}
