import Connectors
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TimeZones
import WorkflowDefinitions

/// One customer's rows in memory, advanced turn by turn as storage does.
struct World {
    private(set) var definitions: DefinitionSet
    private var live: [WorkflowDefinition]
    private(set) var decider: TurnDecider
    var customer = CustomerRecord(
        id: CustomerID(7), environment: "production", app: nil, attributes: [:], inputsTaken: 0)
    var runs: [Run] = []
    var log: [LoggedEvent] = []
    var subscriptions: [SubscriptionState] = []
    var members: [SegmentID: Instant] = [:]
    var dates: [DateEntry] = []
    var assignments: [String: String] = [:]
    var features: [String: FeatureFacts] = [:]
    var takenValues: Set<EntryValue> = []
    /// Inputs that the engine made and no turn took yet.
    var emitted: [EngineInput] = []
    var wakeAt: Instant?
    var decisions: [Decision] = []
    var requests: [EffectRequest] = []
    var counts: [Count: Int] = [:]
    var numbers = 0
    private var sequence: Int64 = 0

    init(_ workflows: WorkflowDefinition...) { self.init(workflows) }

    init(_ workflows: [WorkflowDefinition], segments: [SegmentDefinition] = []) {
        live = workflows
        definitions = DefinitionSet(live: [])
        decider = TurnDecider(definitions: definitions, connectors: [:])
        publish(workflows, segments: segments, revision: 0, at: .earliest)
    }

    /// Puts workflows and segments in the place of those that are live.
    mutating func publish(
        _ workflows: [WorkflowDefinition]? = nil, segments: [SegmentDefinition]? = nil,
        revision: Int64, at instant: Instant
    ) {
        if let workflows { live = workflows }
        let kept = definitions
        definitions = DefinitionSet(
            live: live.map { definition in
                if workflows == nil, let standing = kept.live(definition.id) { return standing }
                return DefinitionSet.Version(
                    workflow: definition.id, number: 1, digest: "d-\(definition.id)",
                    definition: definition, liveRevision: revision, liveSince: instant)
            },
            segments: segments?.map {
                DefinitionSet.Segment(
                    number: 1, definition: $0, liveRevision: revision, liveSince: instant)
            } ?? kept.segments)
        decider = TurnDecider(
            definitions: definitions, connectors: connectors, zones: Self.zones, defaultZone: nil)
    }

    /// What maps deliveries.
    var connectors: [String: Connector] = [:] {
        didSet {
            decider = TurnDecider(
                definitions: definitions, connectors: connectors, zones: Self.zones,
                defaultZone: nil)
        }
    }

    /// Without tzdata only UTC is known, which is what most tests want.
    static let zones = (try? TimeZoneDatabase())?.everyZone() ?? .utcOnly

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
        let resultRuns = inputs.compactMap { input -> RunID? in
            switch input.content {
            case .result(let result): result.run
            case .command(let command): command.run
            case .delivery, .event, .start, .exit, .schedule, .replay: nil
            }
        }
        return CustomerTurn(
            customer: customer, inputs: inputs, hasAllInputs: hasAllInputs,
            runs: runs.filter { run in
                if run.status.isLive || resultRuns.contains(run.id) { return true }
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
            log: log, subscriptions: subscriptions, segments: members, assignments: assignments,
            dates: dates, features: features, takenValues: takenValues, now: now)
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
        keep(result)
        return result
    }

    private mutating func keep(_ result: TurnResult) {
        customer = result.customer
        for run in result.changedRuns {
            if let place = runs.firstIndex(where: { $0.id == run.id }) { runs[place] = run }
        }
        runs += result.newRuns
        log += result.events
        for state in result.subscriptions {
            subscriptions.removeAll { $0.id == state.id }
            subscriptions.append(state)
        }
        emitted += result.emitted
        wakeAt = result.wakeAt
        for change in result.segments { members[change.segment] = change.enteredAt }
        for change in result.dates {
            dates.removeAll { $0.key == change.key }
            if let entry = change.entry { dates.append(entry) }
        }
        for assignment in result.assignments {
            assignments[assignment.experiment] = assignment.variant
        }
        decisions += result.decisions
        requests += result.requests
        counts.merge(result.counts, uniquingKeysWith: +)
        verifyAgrees(with: result)
    }

    /// Gives one event in a turn of its own.
    @discardableResult
    mutating func give(
        _ name: String, at: Instant = dawn, occurred: Instant? = nil, connector: String = "shop",
        _ properties: JSONObject = [:]
    ) -> TurnResult {
        take(event(name, at: at, occurred: occurred, connector: connector, properties))
    }

    /// Merges another record into this one, which must be the survivor.
    @discardableResult
    mutating func absorb(_ other: World, at now: Instant) throws -> TurnResult {
        let merge = RecordMerge(
            RecordMerge.Side(turn: turn([], at: now), isIdentified: true),
            RecordMerge.Side(turn: other.turn([], at: now), isIdentified: false))
        decisions += other.decisions
        runs += other.runs
        log += other.log.map {
            LoggedEvent(
                ordinal: $0.ordinal + merge.shift, recordedAt: $0.recordedAt, event: $0.event)
        }
        requests += other.requests
        numbers = max(numbers, other.numbers)
        let result = try decider.decide(merge)
        keep(result)
        return result
    }

    /// Takes turns until nothing that the engine made is left, at most a hundred.
    ///
    /// - Returns: the events that were taken.
    @discardableResult
    mutating func settle(at now: Instant = dawn) -> [Event] {
        var taken: [Event] = []
        for _ in 0..<100 where !emitted.isEmpty {
            let inputs = emitted.map { emitted in
                switch emitted {
                case .event(let event): input(.event(event), at: now)
                case .start(let start): input(.start(start), at: now)
                case .exit(let exit): input(.exit(exit), at: now)
                }
            }
            emitted = []
            taken += take(inputs, at: now).events.map(\.event)
        }
        return taken
    }

    /// A turn that nothing but time brings about.
    @discardableResult
    mutating func wake(at now: Instant) -> TurnResult { take([], at: now) }

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
