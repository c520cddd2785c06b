import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TimeZones
import WorkflowDefinitions

/// One customer's rows in memory, advanced turn by turn as storage does.
struct World {
    let definitions: DefinitionSet
    let decider: TurnDecider
    var customer = CustomerRecord(
        id: CustomerID(7), environment: "production", app: nil, attributes: [:], inputsTaken: 0)
    var runs: [Run] = []
    var log: [LoggedEvent] = []
    var decisions: [Decision] = []
    var requests: [EffectRequest] = []
    var counts: [Count: Int] = [:]
    private var numbers = 0
    private var sequence: Int64 = 0

    init(_ workflows: WorkflowDefinition...) { self.init(workflows) }

    init(_ workflows: [WorkflowDefinition]) {
        definitions = DefinitionSet(
            live: workflows.map {
                DefinitionSet.Version(
                    workflow: $0.id, number: 1, digest: "d-\($0.id)", definition: $0)
            })
        decider = TurnDecider(definitions: definitions, connectors: [:])
    }

    // MARK: Inputs

    /// An event that was recorded at the time, with the next number.
    mutating func event(
        _ name: String, at: Instant = dawn, occurred: Instant? = nil, connector: String = "shop",
        _ properties: JSONObject = [:]
    ) -> TurnInput {
        numbers += 1
        return input(
            .event(
                makeEvent(
                    name, numbers, at: at, occurred: occurred, connector: connector, properties)),
            at: at)
    }

    mutating func result(
        of request: EffectRequest, _ outcome: EffectOutcome = .succeeded([:]), at: Instant = dawn
    ) -> TurnInput {
        input(
            .result(
                EffectResult(
                    invocation: request.invocation, run: request.run, step: request.step,
                    outcome: outcome)), at: at)
    }

    mutating func input(_ content: TurnInput.Content, at: Instant) -> TurnInput {
        sequence += 1
        return TurnInput(sequence: sequence, recordedAt: at, content: content)
    }

    // MARK: Turns

    func turn(_ inputs: [TurnInput], at now: Instant, hasAllInputs: Bool = true) -> CustomerTurn {
        CustomerTurn(
            customer: customer, inputs: inputs, hasAllInputs: hasAllInputs,
            runs: runs.filter { run in
                if run.status.isLive { return true }
                guard let version = definitions.version(run.version, of: run.workflow) else {
                    return false
                }
                return Engine(version.definition).openUntil(run).map { $0 >= now } ?? false
            },
            earlierEntries: runs.compactMap { run in
                switch run.status {
                case .completed, .exited:
                    EarlierEntry(workflow: run.workflow, key: run.key, enteredAt: run.enteredAt)
                case .waiting, .failed, .cancelled, .superseded: nil
                }
            },
            spentCauses: Set(
                runs.map { SpentCause(workflow: $0.workflow, cause: $0.cause) }),
            log: log, now: now)
    }

    @discardableResult
    mutating func take(
        _ inputs: TurnInput..., at now: Instant? = nil, hasAllInputs: Bool = true
    ) -> TurnResult {
        take(inputs, at: now, hasAllInputs: hasAllInputs)
    }

    @discardableResult
    mutating func take(
        _ inputs: [TurnInput], at now: Instant? = nil, hasAllInputs: Bool = true
    ) -> TurnResult {
        let now = now ?? inputs.map(\.recordedAt).max() ?? dawn
        let result = decider.decide(turn(inputs, at: now, hasAllInputs: hasAllInputs))
        customer = result.customer
        for run in result.changedRuns {
            if let place = runs.firstIndex(where: { $0.id == run.id }) { runs[place] = run }
        }
        runs += result.newRuns
        log += result.events
        decisions += result.decisions
        requests += result.requests
        counts.merge(result.counts, uniquingKeysWith: +)
        return result
    }

    /// Gives one event in a turn of its own.
    @discardableResult
    mutating func give(
        _ name: String, at: Instant = dawn, occurred: Instant? = nil, connector: String = "shop",
        _ properties: JSONObject = [:]
    ) -> TurnResult {
        take(event(name, at: at, occurred: occurred, connector: connector, properties))
    }

    // MARK: What came of it

    /// Every run's status with its reason, in the order of entry.
    var endings: [String] {
        runs.map { run in
            run.status.reason.map { "\(run.status.word) \($0)" } ?? run.status.word
        }
    }

    /// Which runs are converted, in the order of entry.
    var conversions: [Bool] { runs.map { $0.convertedAt != nil } }

    func counted(_ name: Count.Name, _ workflow: String? = nil, _ cause: String = "") -> Int {
        counts[Count(name, workflow: workflow.map { WorkflowID($0) }, cause: cause)] ?? 0
    }
}

extension TurnResult {
    /// The moves of the turn, as `step outlet`, in order.
    var moves: [String] {
        decisions.flatMap { decision in
            decision.entries.filter { $0.kind == .moved }.map {
                "\($0.members["from"]?.string ?? "") \($0.members["outlet"]?.string ?? "")"
            }
        }
    }
}
