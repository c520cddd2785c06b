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
    private var subscriptions: [SubscriptionState] = []
    private var segments: [SegmentID: Instant] = [:]
    private var assignments: [String: String] = [:]
    private var dates: [DateEntry] = []
    private var values: Set<EntryValue> = []
    /// What the feature house says of the customer.
    var features: [String: FeatureFacts] = [:]
    /// Inputs that the engine made and no turn took yet, in order.
    private(set) var emitted: [TurnInput.Content] = []
    private var lastSequence: Int64 = 0
    /// When the customer's timer is due.
    private(set) var wakeAt: Instant?

    init(
        attributes: JSONObject, environment: String, definitions: DefinitionSet,
        zones: TimeZoneSet
    ) {
        self.definitions = definitions
        decider = TurnDecider(definitions: definitions, connectors: [:], zones: zones)
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
                runs: runs.filter { isLoaded($0, for: content, at: now) },
                earlierEntries: earlierEntries,
                spentCauses: Set(runs.map { SpentCause(workflow: $0.workflow, cause: $0.cause) }),
                log: log, subscriptions: subscriptions, segments: segments,
                assignments: assignments, dates: dates, features: features, takenValues: values,
                now: now))
        record = result.customer
        for run in result.changedRuns {
            if let place = runs.firstIndex(where: { $0.id == run.id }) { runs[place] = run }
        }
        runs += result.newRuns
        log += result.events
        for state in result.subscriptions {
            subscriptions.removeAll { $0.id == state.id }
            subscriptions.append(state)
        }
        keep(result)
        wakeAt = result.wakeAt
        return result
    }

    private mutating func keep(_ result: TurnResult) {
        for change in result.segments { segments[change.segment] = change.enteredAt }
        for assignment in result.assignments {
            assignments[assignment.experiment] = assignment.variant
        }
        for change in result.dates {
            dates.removeAll { $0.key == change.key }
            if let entry = change.entry { dates.append(entry) }
        }
        values.formUnion(result.claims.map(\.value))
        emitted += result.emitted.map { input in
            switch input {
            case .event(let event): .event(event)
            case .start(let start): .start(start)
            case .exit(let exit): .exit(exit)
            }
        }
    }

    /// Takes the next input that the engine made; nil when there is none.
    mutating func nextEmitted() -> TurnInput.Content? {
        emitted.isEmpty ? nil : emitted.removeFirst()
    }

    private func isLoaded(_ run: Run, for input: TurnInput.Content?, at now: Instant) -> Bool {
        if run.status.isLive { return true }
        if case .result(let result)? = input, result.run == run.id { return true }
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
