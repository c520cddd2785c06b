internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import TimeZones
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
    private var report = SimulationReport(transitions: [], ends: [], differences: [], turns: 0)

    private struct DueResult {
        var at: Instant
        var result: EffectResult
    }

    /// Plays the case and compares what comes about with what it expects.
    ///
    /// Every event has a turn of its own at its time, as if from a connector named `simulation` (or the
    /// one the first workflow asks for); timers fire when they are due; effects end as the case says,
    /// else at once and well. Inputs of one instant come in this order: events, results, timers.
    ///
    /// - Parameter mostTurns: after so many the simulation stops.
    package static func run(
        workflows: [PublishedWorkflow], case simulated: SimulationCase,
        mostTurns: Int = Simulator.mostTurns
    ) -> SimulationReport {
        var simulator = Simulator(workflows, simulated)
        return simulator.play(mostTurns: mostTurns)
    }

    private init(_ workflows: [PublishedWorkflow], _ simulated: SimulationCase) {
        self.simulated = simulated
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
                        definition: $0.definition)
                }))
        reader = TransitionReader(definitions: definitions)
        happenings = simulated.happenings[...]
    }

    private mutating func play(mostTurns: Int) -> SimulationReport {
        while let (at, content) = next() {
            guard report.turns < mostTurns else {
                report.differences.append(
                    "the simulation stopped at \(at) after \(mostTurns) turns; does a step lead "
                        + "back to itself without a delay?")
                break
            }
            report.turns += 1
            take(customer.takeTurn(at: at, content), at: at)
        }
        report.ends = customer.runs.map { run in
            SimulationReport.End(
                run: run.id, workflow: run.workflow, status: run.status.word,
                reason: run.status.reason, converted: run.convertedAt != nil)
        }
        report.differences += unknownSteps()
        report.differences += CaseComparison(simulated: simulated, report: report).differences()
        return report
    }

    /// The next thing to happen, no later than the case's end.
    private mutating func next() -> (at: Instant, content: TurnInput.Content?)? {
        let result = results.indices.min { results[$0].at < results[$1].at }
        let times = [
            happenings.first?.at, result.map { results[$0].at }, customer.wakeAt,
        ]
        guard let at = times.compactMap({ $0 }).min(), at <= simulated.until else { return nil }
        if let happening = happenings.first, happening.at == at {
            happenings.removeFirst()
            return (at, .event(event(of: happening)))
        }
        if let result, results[result].at == at {
            return (at, .result(results.remove(at: result).result))
        }
        return (at, nil)
    }

    private mutating func take(_ turn: TurnResult, at now: Instant) {
        let runs = Dictionary(customer.runs.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
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
        return DueResult(
            at: now + (answer?.after ?? .zero),
            result: EffectResult(
                invocation: request.invocation, run: request.run, step: request.step,
                outcome: answer?.outcome ?? usual(request.tool)))
    }

    private func usual(_ tool: ActionStep.Tool) -> EffectOutcome {
        switch tool {
        case .http: .succeeded(["status": 200])
        case .log: .succeeded([:])
        }
    }

    // MARK: Events

    private func event(of happening: SimulationCase.Happening) -> Event {
        let number = simulated.happenings.count - happenings.count
        var source = connector
        var name = happening.event
        var type: String?
        let parts = name.split(separator: ":", maxSplits: 2).map(String.init)
        if parts.count == 3, parts[0] == "provider" {
            (source, type, name) = (parts[1], parts[2], "connector.unknown")
        }
        return Event(
            id: Event.makeID(connector: source, providerEventID: "simulation-\(number)"),
            connector: source, providerEventID: "simulation-\(number)", providerType: type,
            name: name, trust: .provider, person: Event.Person(id: "simulation"),
            occurredAt: happening.at, receivedAt: happening.at,
            environment: environment, properties: happening.properties, mappingVersion: "simulation"
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
