internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
package import TimeZones
package import WorkflowDefinitions

/// Plays a case against workflows in virtual time, by the code that decides every real turn.
package struct Simulator {
    /// A simulation that needs more stops, and its report says so.
    package static let mostTurns = 100_000

    private let simulated: SimulationCase
    private let definitions: [WorkflowID: WorkflowDefinition]
    private var customer: SimulatedCustomer
    private var reader: TransitionReader
    private var happenings: ArraySlice<SimulationCase.Happening>
    private let connector: String
    private let environment: String
    private var results: [DueResult] = []
    private var answered: [StepID: Int] = [:]
    private let zones: TimeZoneSet
    private var report = SimulationReport(transitions: [], ends: [], differences: [], turns: 0)

    private var firings: [Firing] = []

    private struct Firing {
        var version: DefinitionSet.Version
        var at: Instant
    }

    private struct DueResult {
        var at: Instant
        var result: EffectResult
    }

    /// Plays the case and compares what comes about with what it expects.
    ///
    /// Every event has a turn of its own at its time, as if from a connector named `simulation` (or the
    /// one the first workflow asks for); timers fire when they are due; effects end as the case says,
    /// as soon as gap and window allow, and well. Inputs of one instant come in this order: what the case
    /// says, results, schedules, timers. Segments and dates are compared with what they are as the case
    /// begins: who is in a segment already does not enter it.
    ///
    /// - Parameters:
    ///   - segments: those that the workflows name.
    ///   - zones: the rules of every zone; without them only UTC is known.
    ///   - mostTurns: after so many the simulation stops.
    package static func run(
        workflows: [PublishedWorkflow], segments: [SegmentDefinition] = [],
        zones: TimeZoneSet = .utcOnly, case simulated: SimulationCase,
        mostTurns: Int = Simulator.mostTurns
    ) -> SimulationReport {
        var simulator = Simulator(workflows, segments, zones, simulated)
        return simulator.play(mostTurns: mostTurns)
    }

    private init(
        _ workflows: [PublishedWorkflow], _ segments: [SegmentDefinition], _ zones: TimeZoneSet,
        _ simulated: SimulationCase
    ) {
        self.simulated = simulated
        self.zones = zones
        definitions = Dictionary(
            workflows.map { ($0.definition.id, $0.definition) },
            uniquingKeysWith: { first, _ in first })
        let first = workflows.first?.definition
        connector = first?.entry.connectors?.first ?? "simulation"
        environment = first?.environments.first ?? "production"
        customer = SimulatedCustomer(
            attributes: simulated.customer, environment: environment,
            definitions: DefinitionSet(
                live: workflows.map {
                    DefinitionSet.Version(
                        workflow: $0.definition.id, number: 1, digest: $0.digest,
                        definition: $0.definition, liveRevision: 1)
                },
                segments: segments.map {
                    DefinitionSet.Segment(number: 1, definition: $0, liveRevision: 1)
                }),
            zones: zones)
        customer.features = simulated.features.mapValues { FeatureFacts(own: $0) }
        reader = TransitionReader(definitions: definitions)
        happenings = simulated.happenings[...]
    }

    private mutating func play(mostTurns: Int) -> SimulationReport {
        var last = begin()
        while let (at, content) = next(after: last) {
            last = at
            guard report.turns < mostTurns else {
                report.differences.append(
                    "the simulation stopped at \(at) after \(mostTurns) turns; does a step lead "
                        + "back to itself without a delay?")
                break
            }
            report.turns += 1
            wasTaken(content, at: at)
            take(customer.takeTurn(at: at, content), at: at)
        }
        report.ends = customer.runs.map { run in
            SimulationReport.End(
                run: run.id, workflow: run.workflow, status: run.status.word,
                reason: run.status.reason, converted: run.convertedAt != nil)
        }
        report.runs = customer.runs
        report.differences += unknownSteps()
        report.differences += CaseComparison(simulated: simulated, report: report).differences()
        return report
    }

    /// Lets the customer be known, where something hangs on how they are as the case begins.
    private mutating func begin() -> Instant {
        guard let from = simulated.from ?? happenings.first?.at else { return .earliest }
        firings = customer.definitions.live.compactMap { firing(of: $0, after: from) }
        if simulated.from != nil || customer.definitions.stateRevision > 0 {
            take(customer.takeTurn(at: from, nil), at: from)
        }
        return from
    }

    // MARK: Schedules

    private func firing(of version: DefinitionSet.Version, after last: Instant) -> Firing? {
        guard case .schedule(let trigger) = version.definition.entry.trigger else { return nil }
        let zone = version.definition.timezone.flatMap { zones.rules(named: $0) } ?? .utc
        return trigger.cron.next(after: last, in: zone)
            .map { Firing(version: version, at: $0) }
    }

    /// A firing that was taken makes way for the schedule's next.
    private mutating func wasTaken(_ content: TurnInput.Content?, at now: Instant) {
        guard case .schedule(let input)? = content,
            let place = firings.firstIndex(where: { $0.version.workflow == input.workflow })
        else { return }
        let version = firings.remove(at: place).version
        if let next = firing(of: version, after: now) { firings.append(next) }
    }

    /// The next thing to happen, no later than the case's end. What the engine made in the turn at
    /// `last` comes first.
    private mutating func next(
        after last: Instant
    ) -> (at: Instant, content: TurnInput.Content?)? {
        if let content = customer.nextEmitted() { return (last, content) }
        let result = results.indices.min { results[$0].at < results[$1].at }
        let firing = firings.min { $0.at < $1.at }
        let times = [
            happenings.first?.at, result.map { results[$0].at }, firing?.at, customer.wakeAt,
        ]
        guard let at = times.compactMap({ $0 }).min(), at <= simulated.until else { return nil }
        if let happening = happenings.first, happening.at == at {
            happenings.removeFirst()
            return (at, content(of: happening))
        }
        if let result, results[result].at == at {
            return (at, .result(results.remove(at: result).result))
        }
        if let firing, firing.at == at {
            let input = ScheduleInput(workflow: firing.version.workflow, plannedAt: at)
            return (at, .schedule(input))
        }
        return (at, nil)
    }

    private mutating func take(_ turn: TurnResult, at now: Instant) {
        let runs = Dictionary(customer.runs.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        report.decisions += turn.decisions
        report.events += turn.events
        for decision in turn.decisions {
            guard let run = runs[decision.run] else { continue }
            report.transitions += reader.read(decision, of: run)
        }
        let withdrawn = Set(turn.withdrawals.map(\.invocation))
        results.removeAll { withdrawn.contains($0.result.invocation) }
        for request in turn.requests { results.append(answer(request, at: now)) }
    }

    // MARK: Effects

    private mutating func answer(_ request: EffectRequest, at now: Instant) -> DueResult {
        let answers = simulated.answers.filter { $0.step == request.step }
        let turn = answered[request.step, default: 0]
        answered[request.step] = turn + 1
        let answer = answers.isEmpty ? nil : answers[min(turn, answers.count - 1)]
        let outcome = answer?.outcome ?? usual(request.tool)
        return DueResult(
            at: max(now, request.notBefore) + (answer?.after ?? .zero),
            result: EffectResult(
                invocation: request.invocation, run: request.run, step: request.step,
                outcome: outcome, isMessage: outcome.mayHaveBeenSent && isMessage(request)))
    }

    /// Accounts are the configuration's; a case without its own list takes every `http` account for one
    /// that messages the customer.
    private func isMessage(_ request: EffectRequest) -> Bool {
        guard let messaging = simulated.messaging else { return request.tool == .http }
        return request.account.map { messaging.contains($0) } ?? false
    }

    private func usual(_ tool: ActionStep.Tool) -> EffectOutcome {
        switch tool {
        case .http, .slack: .succeeded(["status": 200])
        case .log: .succeeded([:])
        }
    }

    // MARK: Events

    /// What a happening puts in; nil for one that changes what is known.
    private mutating func content(
        of happening: SimulationCase.Happening
    ) -> TurnInput.Content? {
        let number = simulated.happenings.count - happenings.count
        switch happening.what {
        case .event(let name, let properties):
            return .event(event(name, properties, at: happening.at, number: number))
        case .start(let workflow, let key):
            return .start(
                StartInput(
                    StartRequest(
                        workflow: workflow, key: key, cause: "simulation-\(number)", depth: 0)))
        case .features(let answers):
            for (id, answer) in answers { customer.features[id] = FeatureFacts(own: answer) }
            return nil
        }
    }

    private func event(
        _ told: String, _ properties: JSONObject, at: Instant, number: Int
    ) -> Event {
        var source = connector
        var name = told
        var type: String?
        let parts = name.split(separator: ":", maxSplits: 2).map(String.init)
        if parts.count == 3, parts[0] == "provider" {
            (source, type, name) = (parts[1], parts[2], "connector.unknown")
        }
        return Event(
            id: Event.makeID(connector: source, providerEventID: "simulation-\(number)"),
            connector: source, providerEventID: "simulation-\(number)", providerType: type,
            name: name, trust: .provider, person: Event.Person(id: "simulation"),
            occurredAt: at, receivedAt: at, environment: environment, properties: properties,
            mappingVersion: "simulation"
        )
    }

    /// Steps that the case names and no workflow has: usually a slip of the pen.
    private func unknownSteps() -> [String] {
        let named = simulated.answers.map(\.step)
        return Set(named).sorted()
            .filter { step in !definitions.values.contains { $0.steps[step] != nil } }
            .map { "effects: no workflow has a step \"\($0)\"" }
    }
}
