import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Postgres
import TestSupport
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

/// A database whose turns are decided by definitions, as in the worker.
struct Scenario: Sendable {
    let world: World
    let cache: DefinitionCache
    let features: FeatureDoor?
    private let workflows: [String: WorkflowDefinition]
    private let segments: [String: SegmentDefinition]

    private struct Unknown: Error {}

    /// Definitions are published under their ids; an edited one under another name is the next version.
    static func with(
        _ workflows: [String: WorkflowDefinition], segments: [String: SegmentDefinition] = [:],
        features: FeatureDoor? = nil, connections: Int = 4,
        _ body: @escaping @Sendable (Scenario) async throws -> Void
    ) async throws {
        try await World.with(connections: connections) { world in
            let cache = DefinitionCache(
                readSegment: { bytes in
                    guard let found = segments[String(decoding: bytes, as: UTF8.self)] else {
                        throw Unknown()
                    }
                    return found
                },
                read: { bytes in
                    guard let found = workflows[String(decoding: bytes, as: UTF8.self)] else {
                        throw Unknown()
                    }
                    return found
                })
            try await body(
                Scenario(
                    world: world, cache: cache, features: features, workflows: workflows,
                    segments: segments))
        }
    }

    var turns: TurnStore {
        TurnStore(pool: world.pool, definitions: cache, features: features)
    }

    var schedules: ScheduleStore { ScheduleStore(pool: world.pool) }

    func publish(_ names: String...) async throws {
        _ = try await world.definitions.publish(
            names.compactMap { name in
                workflows[name].map {
                    PublishedWorkflow(definition: $0, canonical: Array(name.utf8), digest: name)
                }
            },
            segments: names.compactMap { name in
                segments[name].map {
                    PublishedSegment(definition: $0, canonical: Array(name.utf8), digest: name)
                }
            }, by: "tester", reason: "test")
    }

    /// An event that a provider told, under a number that makes it one of its own.
    func tell(
        _ name: String, _ number: Int, to person: String = "u1", connector: String = "shop",
        _ properties: JSONObject = JSONObject()
    ) async throws {
        let now = try await time()
        let event = Event(
            id: Event.makeID(connector: connector, providerEventID: "\(number)"),
            connector: connector, providerEventID: "\(number)", providerType: nil, name: name,
            trust: .provider, person: Event.Person(id: person), occurredAt: now, receivedAt: now,
            environment: "production", properties: properties)
        _ = try await world.deliveries.store([
            ArrivedDelivery(
                connector: connector, providerEventID: "\(number)", content: .event(event),
                environment: "production", person: Event.Person(id: person))
        ])
        _ = try await world.routing.route(limit: 1_000)
    }

    func time() async throws -> Instant {
        try await world.pool.query(ScheduleStore.readingTime, []).only().instant("now")
    }

    /// Turns until nothing is to do, at most `limit` batches.
    @discardableResult
    func settle(batches limit: Int = 50) async throws -> TurnStore.Report {
        var sum = TurnStore.Report()
        for _ in 0..<limit {
            let report = try await turns.turn(limit: 100) { turn, set in
                TurnDecider(definitions: set, connectors: [:]).decide(turn)
            }
            sum.turns += report.turns
            sum.inputs += report.inputs
            sum.failed.merge(report.failed) { $1 }
            if report.claimed == 0 { break }
        }
        return sum
    }

    func counted(_ name: String, _ cause: String) async throws -> Int64 {
        try await world.number(
            "select coalesce(sum(amount), 0) from journey.counts "
                + "where name = '\(name)' and cause = '\(cause)'")
    }
}

// Workflows of few words.

func flow(
    _ id: String, _ trigger: Entry.Trigger, oncePer: Value? = nil, key: Entry.Key? = nil,
    condition: Condition? = nil, reentry: Entry.Reentry = .everyTime,
    action: Step.Action = .delay(Delay(length: .duration(.seconds(86_400)), next: .end))
) -> WorkflowDefinition {
    let step = StepID("only")
    return WorkflowDefinition(
        id: WorkflowID(id), kind: .journey,
        entry: Entry(
            trigger: trigger, condition: condition, key: key, reentry: reentry, oncePer: oncePer,
            whenLive: .startAnother), start: step,
        steps: [step: Step(id: step, action: action)], stepOrder: [step])
}

func at(_ tokens: String...) -> Value { .reference(JSONPointer(tokens: tokens), default: nil) }

func object(_ members: (String, JSONValue)...) -> JSONObject { JSONObject(members) }

func plan(_ name: JSONValue) -> JSONObject {
    object(("attributes", .object(object(("plan", name)))))
}
