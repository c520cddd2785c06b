internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import TimeZones
internal import WorkflowDefinitions

/// The rows that the database would hold of one customer, in memory.
struct SimulatedCustomer {
    let definitions: DefinitionSet
    private let decider: TurnDecider
    private var record: CustomerRecord
    private(set) var runs: [Run] = []
    private var log: [LoggedEvent] = []
    private var lastSequence: Int64 = 0
    /// When the customer's timer is due.
    private(set) var wakeAt: Instant?

    init(attributes: JSONObject, environment: String, definitions: DefinitionSet) {
        self.definitions = definitions
        decider = TurnDecider(definitions: definitions, connectors: [:])
        record = CustomerRecord(
            id: CustomerID(1), environment: environment, app: nil, attributes: attributes,
            inputsTaken: 0)
    }

    /// Decides one turn at `now` and keeps what it wrote.
    mutating func takeTurn(at now: Instant, _ content: TurnInput.Content?) -> TurnResult {
        let inputs = content.map { content in
            lastSequence += 1
            return [TurnInput(sequence: lastSequence, recordedAt: now, content: content)]
        }
        let result = decider.decide(
            CustomerTurn(
                customer: record, inputs: inputs ?? [], hasAllInputs: true,
                runs: runs.filter { isLoaded($0, at: now) }, earlierEntries: earlierEntries,
                spentCauses: Set(runs.map { SpentCause(workflow: $0.workflow, cause: $0.cause) }),
                log: log, now: now))
        record = result.customer
        for run in result.changedRuns {
            if let place = runs.firstIndex(where: { $0.id == run.id }) { runs[place] = run }
        }
        runs += result.newRuns
        log += result.events
        wakeAt = result.wakeAt
        return result
    }

    private func isLoaded(_ run: Run, at now: Instant) -> Bool {
        if run.status.isLive { return true }
        guard let version = definitions.version(run.version, of: run.workflow) else { return false }
        return Engine(version.definition).openUntil(run).map { $0 >= now } ?? false
    }

    private var earlierEntries: [EarlierEntry] {
        runs.compactMap { run in
            switch run.status {
            case .completed, .exited:
                EarlierEntry(workflow: run.workflow, key: run.key, enteredAt: run.enteredAt)
            case .waiting, .failed, .cancelled, .superseded: nil
            }
        }
    }
}
