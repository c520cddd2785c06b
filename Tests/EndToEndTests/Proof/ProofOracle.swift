import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import Postgres
import Settings
import TestModel
import TimeZones
import WorkflowDefinitions

/// Re-runs the journalled turns one after the other, each at its own time, by the pure code over rows in
/// memory, and compares what comes out with what the workers left in the database.
struct ProofOracle {
    private let pool: PostgresPool
    private let settings: WorkerSettings
    private let zones: TimeZoneSet
    private var versions: [String: DefinitionSet.Version] = [:]
    private var inputs: [Int64: TurnInput] = [:]
    private var models: [CustomerID: CustomerModel] = [:]
    private var events: [EventID: Event] = [:]

    /// What was compared, and every difference.
    struct Report {
        var turns = 0
        var inputs = 0
        var runs = 0
        var decisions = 0
        var effects = 0
        var differences: [String] = []
    }

    private(set) var report = Report()

    /// - Parameter settings: what the workers were started with.
    init(pool: PostgresPool, settings: WorkerSettings) async throws {
        self.pool = pool
        self.settings = settings
        zones = (try? TimeZoneDatabase())?.everyZone() ?? .utcOnly
        try await readVersions()
        try await readInputs()
        try await readCustomers()
    }

    mutating func compare() async throws -> Report {
        try await replay()
        try await compareRuns()
        try await compareHistory()
        try await compareEffects()
        return report
    }

    private func rows(_ name: StaticString, _ sql: String) async throws -> PostgresRows {
        try await pool.query(SQLStatement(name, sql, timeout: .seconds(120)))
    }

    // MARK: Reading

    private mutating func readVersions() async throws {
        for row in try await rows(
            "proof_versions",
            "select workflow, version, digest, canonical from journey.workflow_versions")
        {
            let workflow = try row.string("workflow")
            let number = Int(try row.int32("version"))
            versions["\(workflow):\(number)"] = DefinitionSet.Version(
                workflow: WorkflowID(workflow), number: number, digest: try row.string("digest"),
                definition: try WorkflowParser.load(canonical: try row.bytes("canonical"))
                    .definition)
        }
    }

    private mutating func readInputs() async throws {
        for row in try await rows(
            "proof_inputs",
            """
            select i.sequence, i.recorded_at, i.kind, i.payload, d.id, d.connector,
                d.provider_event_id, d.received_at, b.body
            from journey.proof_inputs i
            left join journey.deliveries d
                on d.id = i.delivery and d.received_at = i.delivery_received_at
            left join journey.delivery_bodies b on b.id = d.id and b.received_at = d.received_at
            """)
        {
            let sequence = try row.int64("sequence")
            inputs[sequence] = TurnInput(
                sequence: sequence, recordedAt: try row.instant("recorded_at"),
                content: try content(row))
        }
    }

    private func content(_ row: PostgresRow) throws -> TurnInput.Content {
        if let body = try row.bytesOrNil("body") {
            return .delivery(
                StoredDelivery(
                    id: try row.int64("id"), connector: try row.string("connector"),
                    providerEventID: try row.string("provider_event_id"), body: body,
                    receivedAt: try row.instant("received_at"), earlier: nil))
        }
        let payload = try object(row.json("payload"))
        guard try row.string("kind") == "result" else {
            return .event(try Event(json: payload))
        }
        guard let outcome = payload["outcome"]?.object else {
            throw World.Failure(what: "a result without an outcome")
        }
        return .result(
            EffectResult(
                invocation: InvocationID(payload["invocation"]?.string ?? ""),
                run: RunID(payload["run"]?.string ?? ""),
                step: StepID(payload["step"]?.string ?? ""),
                outcome: try EffectOutcome(json: outcome), isMessage: payload["message"]?.bool))
    }

    private mutating func readCustomers() async throws {
        for row in try await rows(
            "proof_customers", "select id, environment, app from journey.customers")
        {
            let id = CustomerID(try row.int64("id"))
            models[id] = CustomerModel(
                CustomerRecord(
                    id: id, environment: try row.string("environment"),
                    app: try row.stringOrNil("app"), attributes: JSONObject(), inputsTaken: 0))
        }
    }

    private func object(_ bytes: [UInt8]) throws -> JSONObject {
        try JSONParser.parse(bytes).object ?? JSONObject()
    }

    // MARK: Running again

    private mutating func replay() async throws {
        for row in try await rows(
            "proof_journal",
            """
            select customer, at, inputs::text as inputs, has_all_inputs,
                array_to_string(live, ' ') as live
            from journey.turn_journal order by place
            """)
        {
            let customer = CustomerID(try row.int64("customer"))
            let place = "turn of \(customer) at \(try row.instant("at"))"
            guard let model = models[customer] else {
                report.differences.append("\(place): no such customer")
                continue
            }
            let taken = try row.string("inputs").split { !$0.isNumber }.compactMap { Int64($0) }
                .compactMap { inputs[$0] }
            let live = Set(try row.string("live").split(separator: " ").map(String.init))
            let definitions = DefinitionSet(
                live: versions.filter { live.contains($0.key) }.map(\.value),
                older: versions.filter { !live.contains($0.key) }.map(\.value))
            let turn = model.turn(
                inputs: taken, hasAllInputs: try row.bool("has_all_inputs"),
                now: try row.instant("at"), definitions: definitions, earlier: events)
            let result = TurnDecider(
                definitions: definitions, connectors: settings.connectors, zones: zones,
                defaultZone: settings.timezone
            ).decide(turn)
            report.turns += 1
            report.inputs += taken.count
            do {
                var next = model
                try next.take(result)
                models[customer] = next
            } catch {
                report.differences.append("\(place): \(error)")
            }
            for logged in result.events where events[logged.event.id] == nil {
                events[logged.event.id] = try Event(json: logged.event.json)
            }
        }
    }

    // MARK: Comparing

    private mutating func compareRuns() async throws {
        var left = Dictionary(
            uniqueKeysWithValues: models.values.flatMap { $0.runs.values }.map { ($0.id, $0) })
        for row in try await rows("proof_runs", "select id, state from journey.runs") {
            let id = RunID(try row.string("id"))
            let run = try Run(state: try object(row.json("state")))
            report.runs += 1
            guard let expected = left.removeValue(forKey: id) else {
                report.differences.append("run \(id) is not in the re-run")
                continue
            }
            if run != expected {
                report.differences.append(
                    "run \(id) of \(run.workflow):\n  is      "
                        + "\(JSONValue.object(run.state).text)\n  expected "
                        + JSONValue.object(expected.state).text)
            }
        }
        for id in left.keys { report.differences.append("run \(id) is only in the re-run") }
    }

    private mutating func compareHistory() async throws {
        var expected: [String: String] = [:]
        for decision in models.values.flatMap({ $0.history.values }).joined() {
            expected["\(decision.run) \(decision.number)"] =
                "\(decision.at.milliseconds) \(decision.json.text)"
        }
        for row in try await rows(
            "proof_history", "select run, decision, at, entries from journey.history")
        {
            report.decisions += 1
            let place = "\(try row.string("run")) \(try row.int32("decision"))"
            let stored =
                "\(try row.instant("at").milliseconds) "
                + (try JSONParser.parse(try row.json("entries")).text)
            let told = expected.removeValue(forKey: place)
            if told != stored {
                report.differences.append(
                    "history \(place):\n  is       \(stored)\n  expected \(told ?? "nothing")")
            }
        }
        for place in expected.keys {
            report.differences.append("history \(place) is only in the re-run")
        }
    }

    private mutating func compareEffects() async throws {
        var expected = Dictionary(
            uniqueKeysWithValues: models.values.flatMap { $0.requests.values }
                .map { ($0.invocation.text, $0) })
        for row in try await rows(
            "proof_effects",
            "select invocation, run, step, attempt_group, request from journey.effects")
        {
            report.effects += 1
            let invocation = try row.string("invocation")
            let request = expected.removeValue(forKey: invocation)
            let stored = try JSONParser.parse(try row.json("request")).text
            let place =
                "\(try row.string("run")) \(try row.string("step")) "
                + "\(try row.int32("attempt_group")) \(stored)"
            let told = request.map {
                "\($0.run) \($0.step) \($0.attemptGroup) \(JSONValue.object($0.request).text)"
            }
            if told != place { report.differences.append("effect \(invocation) differs") }
        }
        for invocation in expected.keys {
            report.differences.append("effect \(invocation) is only in the re-run")
        }
    }
}
