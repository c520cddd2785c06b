import Connectors
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestMaterial
import TestModel
import Testing
import TimeZones
import WorkflowDefinitions

/// What happened to one customer: deliveries, with the events that they tell.
struct FactSet: Sendable {
    let name: String
    let connector: Connector
    private(set) var bodies: [[UInt8]] = []
    private(set) var events: [Event] = []

    /// After everything that fixtures tell of.
    static let receivedAt = Instant(milliseconds: 1_893_456_000_000)

    init(name: String, connector: Connector) {
        self.name = name
        self.connector = connector
    }

    /// - Parameter at: when it was received; an event may not tell of later by more than a day.
    mutating func add(_ body: [UInt8], id: String, at receivedAt: Instant = receivedAt) {
        bodies.append(body)
        var event = connector.event(body: body, receivedAt: receivedAt, providerEventID: id)
        // The log does not hold the provider's object.
        event.raw = .null
        events.append(event)
    }

    mutating func keep(_ isKept: (Event) -> Bool) {
        let places = events.indices.filter { isKept(events[$0]) }
        bodies = places.map { bodies[$0] }
        events = places.map { events[$0] }
    }

    /// The same events in sets of at most so many.
    func parts(of most: Int) -> [FactSet] {
        stride(from: 0, to: events.count, by: most).map { start in
            var part = self
            let end = min(start + most, events.count)
            part.bodies = Array(bodies[start..<end])
            part.events = Array(events[start..<end])
            return part
        }
    }

    static func connector(_ provider: ProviderDefinition) throws -> Connector {
        try Connector(
            name: provider.name, provider: provider,
            authentication: [Authentication(scheme: .none, secrets: [])],
            unknownEnvironment: "production", allowsUnauthenticated: true)
    }
}

/// What an order of arrival leaves behind.
struct OrderOutcome: Hashable {
    /// Each subscription's row.
    var subscriptions: [SubscriptionID: JSONObject] = [:]
    /// `workflow key` of everything that was entered.
    var entered: Set<String> = []

    /// Plays the events in an order, some of them twice, in turns of random sizes.
    static func play(
        _ set: FactSet, _ order: [Int], _ definitions: DefinitionSet,
        _ random: inout SeededGenerator
    ) throws -> OrderOutcome {
        let decider = TurnDecider(
            definitions: definitions, connectors: [set.connector.name: set.connector])
        var model = CustomerModel(
            CustomerRecord(
                id: CustomerID(7), environment: "production", app: nil, attributes: JSONObject(),
                inputsTaken: 0))
        var outcome = OrderOutcome()
        var known: [EventID: Event] = [:]
        var seen: Set<Int> = []
        var left = order[...]
        var sequence: Int64 = 0
        var now = FactSet.receivedAt
        while !left.isEmpty {
            now = now + .seconds(1)
            var inputs: [TurnInput] = []
            for place in left.prefix(Int.random(in: 1...4, using: &random)) {
                sequence += 1
                let event = set.events[place]
                let isRepeat = !seen.insert(place).inserted
                inputs.append(
                    TurnInput(
                        sequence: sequence, recordedAt: now,
                        content: isRepeat
                            ? .delivery(
                                StoredDelivery(
                                    id: sequence, connector: event.connector,
                                    providerEventID: event.providerEventID,
                                    body: set.bodies[place], receivedAt: event.receivedAt,
                                    earlier: nil)) : .event(event)))
            }
            left = left.dropFirst(inputs.count)
            let result = decider.decide(
                model.turn(
                    inputs: inputs, hasAllInputs: true, now: now, definitions: definitions,
                    earlier: known))
            try model.take(result)
            for logged in result.events { known[logged.event.id] = logged.event }
            for run in result.newRuns {
                outcome.entered.insert("\(run.workflow) \(run.key ?? "-")")
            }
        }
        outcome.subscriptions = model.subscriptions.mapValues(\.json)
        return outcome
    }

    /// An order with some events repeated at once or later.
    static func order(of count: Int, _ random: inout SeededGenerator) -> [Int] {
        var order = Array(0..<count).shuffled(using: &random)
        for place in order.indices where random.chance(20) {
            order.insert(order[place], at: Int.random(in: place...order.count, using: &random))
        }
        return order
    }
}

extension DefinitionSet {
    /// Reads and publishes definitions as they stand in files.
    init(reading definitions: [JSONValue]) throws {
        var versions: [DefinitionSet.Version] = []
        for definition in definitions {
            let outcome = WorkflowParser.read(
                definition.bytes, file: "\(definition["id"]?.string ?? "").json",
                events: EventDeclarations())
            let published = try #require(outcome.published, "\(outcome.diagnostics)")
            versions.append(
                DefinitionSet.Version(
                    workflow: published.definition.id, number: 1, digest: published.digest,
                    definition: published.definition))
        }
        self.init(live: versions)
    }
}
