import Crypto
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Postgres
import Reactor
import TestSupport
import TimeZones
import WorkflowDefinitions

@testable import JourneyStorage

/// A migrated database of one test's own, with the stores over it.
struct World: Sendable {
    let settings: PostgresSettings
    let loop: EventLoop
    let pool: PostgresPool
    let cache = DefinitionCache { canonical in
        Fixture.workflow(String(decoding: canonical, as: UTF8.self))
    }

    var deliveries: DeliveryStore { DeliveryStore(pool: pool) }
    var routing: RoutingStore { RoutingStore(pool: pool) }
    var turns: TurnStore { TurnStore(pool: pool, definitions: cache) }
    var effects: EffectStore { EffectStore(pool: pool) }
    var definitions: DefinitionStore { DefinitionStore(pool: pool) }

    static func with(
        connections: Int = 4, _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await TestDatabase.withDatabaseAndLoop(migrated: JourneySchema.migrator) {
            settings, loop in
            let pool = PostgresPool(settings: settings, size: connections, loop: loop)
            let world = World(settings: settings, loop: loop, pool: pool)
            do {
                try await body(world)
            } catch {
                await pool.close()
                throw error
            }
            await pool.close()
        }
    }

    /// The number that a query over the whole database answers in its column `n`.
    func number(_ sql: String) async throws -> Int64 {
        let connection = try await PostgresConnection.connect(settings, on: loop)
        let result: Result<Int64, any Error>
        do {
            let rows = try await connection.query(
                SQLStatement("number", "select (\(sql))::bigint as n"))
            result = .success(try rows.only().int64("n"))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    func count(_ table: String, _ condition: String = "true") async throws -> Int64 {
        try await number("select count(*) from journey.\(table) where \(condition)")
    }

    func run(_ sql: String) async throws {
        let connection = try await PostgresConnection.connect(settings, on: loop)
        do {
            try await connection.simple(sql)
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// Stores deliveries for these people, and routes them.
    func arrive(_ ids: String...) async throws {
        for (place, id) in ids.enumerated() {
            _ = try await deliveries.store([.webhook("first-\(id)-\(place)", id: id)])
        }
        _ = try await routing.route(limit: 100)
    }
}

enum Fixture {
    static let step = StepID("hello")

    /// A workflow with one step that logs; its text is its id.
    static func workflow(_ id: String) -> WorkflowDefinition {
        WorkflowDefinition(
            id: WorkflowID(id), kind: .journey,
            entry: Entry(trigger: .event(names: ["app.opened"]), reentry: .oneTime), start: step,
            steps: [step: Step(id: step, action: .exit(reason: nil))], stepOrder: [step])
    }

    static func published(_ id: String, edition: Int = 1) -> PublishedWorkflow {
        PublishedWorkflow(
            definition: workflow(id), canonical: Array(id.utf8), digest: "digest-\(id)-\(edition)")
    }

    static func run(_ turn: CustomerTurn, workflow: String = "welcome", cause: String) -> Run {
        let id = Run.makeID(
            workflow: WorkflowID(workflow), customer: turn.customer.id, cause: cause, rerun: 0)
        var run = Run(
            id: id, customer: turn.customer.id, workflow: WorkflowID(workflow), version: 1,
            digest: "digest", key: nil, slot: 0, cause: cause, rerun: 0,
            environment: "production", enteredAt: turn.now, trigger: JSONObject(),
            entryOrdinal: turn.customer.inputsTaken)
        run.position = Position(
            step: step, visit: 0, enteredAt: turn.now,
            waiting: .delay(due: turn.now + .seconds(3_600)))
        return run
    }

    static func request(_ run: Run, _ turn: CustomerTurn, group: Int = 0) -> EffectRequest {
        EffectRequest(
            invocation: InvocationID(SHA256.hex(Array("\(run.id):\(step):\(group)".utf8))),
            run: run.id, step: step, attemptGroup: group, tool: .http, account: "crm",
            request: JSONObject([("method", "POST"), ("body", ["n": 1])]), requestedAt: turn.now,
            deadline: turn.now + .seconds(86_400), attemptTimeout: .seconds(30),
            retry: RetryPolicy())
    }

    static func event(_ turn: CustomerTurn, _ input: TurnInput, ordinal: Int64) -> LoggedEvent? {
        guard let id = input.event else { return nil }
        let event = Event(
            id: id, connector: "shop", providerEventID: "p", providerType: nil,
            name: "app.opened", trust: .provider, person: Event.Person(id: "u"),
            occurredAt: input.recordedAt, receivedAt: input.recordedAt,
            environment: "production", properties: JSONObject([("n", .integer(ordinal))]))
        return LoggedEvent(ordinal: ordinal, recordedAt: input.recordedAt, event: event)
    }

    /// A turn that takes everything and remembers how much in the attribute `taken`.
    static func take(_ turn: CustomerTurn) -> TurnResult {
        var result = TurnResult(customer: turn.customer)
        result.takenInputs = turn.inputs.map(\.sequence)
        for input in turn.inputs {
            result.customer.inputsTaken += 1
            if case .delivery(let delivery) = input.content {
                result.deliveries.append(
                    DeliveryMark(
                        delivery: delivery.id,
                        state: delivery.earlier == nil ? .processed : .duplicate))
                if delivery.earlier != nil { continue }
            }
            if let event = event(turn, input, ordinal: result.customer.inputsTaken) {
                result.events.append(event)
            }
        }
        let before = turn.customer.attributes["taken"]?.integer ?? 0
        result.customer.attributes["taken"] = .integer(before + Int64(turn.inputs.count))
        result.counts[Count(.ignored, cause: "test")] = 1
        return result
    }

    /// A turn that enters `welcome` with its first input and asks for an effect.
    static func enter(_ turn: CustomerTurn) -> TurnResult {
        var result = take(turn)
        guard turn.runs.isEmpty, let cause = turn.inputs.first?.event else { return result }
        var run = run(turn, cause: cause.text)
        let request = request(run, turn)
        run.position?.waiting = .effect(request.invocation, requestedOrdinal: 1)
        run.decisions = 1
        result.newRuns = [run]
        result.requests = [request]
        result.decisions = [
            Decision(run: run.id, number: 0, at: turn.now, entries: [HistoryEntry(.entered)])
        ]
        return result
    }
}

extension ArrivedDelivery {
    static func webhook(
        _ event: String, id: String?, aliases: [String] = [], isAnonymous: Bool = false,
        body: String = "{}"
    ) -> ArrivedDelivery {
        let bytes = Array(body.utf8)
        return ArrivedDelivery(
            connector: "shop", providerEventID: event,
            content: .body(bytes, digest: SHA256.digest(bytes)), environment: "production",
            person: Event.Person(id: id, aliases: aliases, isAnonymous: isAnonymous))
    }
}
