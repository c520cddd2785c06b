import JSON
import JourneyEngine
import JourneyModel
import TimeZones
import WorkflowDefinitions

/// One run of one workflow, for suites that say what a step or a goal does.
struct EngineWorld {
    let engine: Engine
    var facts: Facts
    var run: Run
    private var ordinal: Int64 = 1

    /// A workflow of these steps, entered at `now` by an event of that time.
    init(
        _ steps: [Step], goal: Goal? = nil, experiments: [ExperimentDefinition] = [],
        facts: Facts, id: String = "run", trigger: JSONObject = JSONObject()
    ) {
        let definition = WorkflowDefinition(
            id: WorkflowID("flow"), kind: .journey,
            entry: Entry(trigger: .event(names: ["began"]), reentry: .everyTime), goal: goal,
            start: steps[0].id,
            steps: Dictionary(steps.map { ($0.id, $0) }, uniquingKeysWith: { $1 }),
            stepOrder: steps.map(\.id),
            experiments: Dictionary(
                experiments.map { ($0.id, $0) }, uniquingKeysWith: { $1 }))
        engine = Engine(definition)
        self.facts = facts
        let began = Self.event("began", at: facts.now, properties: trigger)
        run =
            engine.enter(
                Run(
                    id: RunID(id), customer: CustomerID(7), workflow: definition.id, version: 1,
                    digest: "d", key: nil, slot: 0, cause: began.id.text, rerun: 0,
                    environment: "production", enteredAt: facts.now, trigger: began.scope,
                    entryOrdinal: 1),
                ordinal: 1, facts: facts
            ).run
    }

    static func event(
        _ name: String, at: Instant, received: Instant? = nil, trust: Event.Trust = .source,
        properties: JSONObject = JSONObject()
    ) -> Event {
        Event(
            id: EventID("evt_\(name)_\(at.milliseconds)"), connector: "app",
            providerEventID: "\(name)-\(at.milliseconds)", providerType: nil, name: name,
            trust: trust, person: Event.Person(id: "user"), occurredAt: at,
            receivedAt: received ?? at, environment: "production", properties: properties)
    }

    mutating func give(_ event: Event, mayConvert: Bool = true) {
        ordinal += 1
        let logged = LoggedEvent(ordinal: ordinal, recordedAt: facts.now, event: event)
        facts.events.append(logged)
        keep(
            engine.advance(
                run, by: .event(logged), ordinal: ordinal, facts: facts, mayConvert: mayConvert))
    }

    mutating func fire(at now: Instant) {
        facts.now = now
        keep(engine.advance(run, by: .timer, ordinal: ordinal, facts: facts))
    }

    mutating func look(at now: Instant) {
        facts.now = now
        keep(engine.advance(run, by: .look, ordinal: ordinal, facts: facts))
    }

    private mutating func keep(_ outcome: Engine.Outcome?) {
        if let outcome { run = outcome.run }
    }

    /// Where the run stands: the step it waits at, or the reason it ended with.
    var standing: String { run.position?.step.text ?? run.status.reason ?? run.status.word }
}
