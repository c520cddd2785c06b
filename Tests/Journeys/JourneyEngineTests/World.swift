package import JSON
import JourneyEngine
import JourneyModel
import TimeZones
import WorkflowDefinitions

// What the engine's tests build their worlds from.

/// When every world begins.
let dawn = Instant(milliseconds: 1_772_359_200_000)

func after(_ duration: Duration) -> Instant { dawn + duration }

func hours(_ count: Int) -> Duration { .seconds(count * 3_600) }

func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

func pointer(_ text: String) -> JSONPointer {
    JSONPointer(tokens: text.split(separator: "/").map { String($0) })
}

func ref(_ text: String) -> Value { .reference(pointer(text), default: nil) }

/// A condition over `/customer/<name>`, true while the attribute is `true`.
func holds(_ name: String) -> Condition { .compare(.eq, ref("/customer/\(name)"), .literal(true)) }

extension Edge {
    static func to(_ step: String) -> Edge { .step(StepID(step)) }
}

extension Step {
    static func delay(_ id: String, _ length: Duration, next: Edge = .end) -> Step {
        Step(id: StepID(id), action: .delay(Delay(length: .duration(length), next: next)))
    }

    static func delay(
        _ id: String, until value: Value, next: Edge = .end, onPast: Edge? = nil,
        onInvalid: Edge? = nil
    ) -> Step {
        Step(
            id: StepID(id),
            action: .delay(
                Delay(length: .until(value), next: next, onPast: onPast, onInvalid: onInvalid)))
    }

    static func wait(
        _ id: String, _ branches: [WaitUntil.Branch], since: WaitUntil.Since = .step,
        timeout: WaitUntil.Timeout = .duration(days(7)), onTimeout: Edge = .end
    ) -> Step {
        Step(
            id: StepID(id),
            action: .waitUntil(
                WaitUntil(branches: branches, since: since, timeout: timeout, onTimeout: onTimeout))
        )
    }

    static func branch(_ id: String, _ arms: [Branch.Arm], otherwise: Edge = .end) -> Step {
        Step(id: StepID(id), action: .branch(Branch(branches: arms, otherwise: otherwise)))
    }

    static func action(
        _ id: String, next: Edge = .end, onFailed: Edge? = nil, onTimeout: Edge? = nil,
        parameters: ValueTree = .object([
            .init(key: "text", tree: .value(.literal("hello")))
        ])
    ) -> Step {
        Step(
            id: StepID(id),
            action: .action(
                ActionStep(
                    tool: .log, parameters: parameters, next: next, onFailed: onFailed,
                    onTimeout: onTimeout)))
    }

    static func exit(_ id: String, reason: String? = nil) -> Step {
        Step(id: StepID(id), action: .exit(reason: reason))
    }
}

extension WaitUntil.Branch {
    static func on(_ event: String, next: Edge = .end, id: String? = nil) -> WaitUntil.Branch {
        WaitUntil.Branch(id: id ?? event, cause: .event(EventMatch(names: [event])), next: next)
    }

    static func when(_ id: String, _ condition: Condition, next: Edge = .end) -> WaitUntil.Branch {
        WaitUntil.Branch(id: id, cause: .condition(condition), next: next)
    }
}

func makeWorkflow(
    _ steps: [Step], id: String = "flow", goal: Goal? = nil, exitPolicy: ExitPolicy? = nil,
    exits: [ExitRule] = [], limits: Limits = Limits(), key: Entry.Key? = nil
) -> WorkflowDefinition {
    WorkflowDefinition(
        id: WorkflowID(id), kind: .journey,
        entry: Entry(trigger: .event(names: ["began"]), key: key, reentry: .everyTime),
        goal: goal, exitPolicy: exitPolicy ?? (goal == nil ? .never : .onGoal), exits: exits,
        limits: limits, start: steps.first?.id ?? StepID("none"),
        steps: Dictionary(steps.map { ($0.id, $0) }, uniquingKeysWith: { $1 }),
        stepOrder: steps.map(\.id))
}

func makeEvent(
    _ name: String, _ ordinal: Int64, at: Instant = dawn, occurred: Instant? = nil,
    connector: String = "shop", trust: Event.Trust = .provider, _ properties: JSONObject = [:]
) -> LoggedEvent {
    LoggedEvent(
        ordinal: ordinal, recordedAt: at,
        event: Event(
            id: EventID("evt_\(ordinal)"), connector: connector, providerEventID: "\(ordinal)",
            providerType: nil, name: name, trust: trust, person: Event.Person(id: "ada"),
            occurredAt: occurred ?? at, receivedAt: at, environment: "production",
            properties: properties))
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}

func makeRun(_ definition: WorkflowDefinition, trigger: LoggedEvent, key: String? = nil) -> Run {
    Run(
        id: RunID("run"), customer: CustomerID(7), workflow: definition.id, version: 1,
        digest: "d1", key: key, slot: 0, cause: trigger.event.id.text, rerun: 0,
        environment: "production", enteredAt: trigger.recordedAt, trigger: trigger.event.scope,
        entryOrdinal: trigger.ordinal)
}

/// All that came of one input, to be compared as a whole.
struct Transition: Hashable {
    var run: Run
    var history: [JSONValue] = []
    var requests: [EffectRequest] = []
    var withdrawals: [[String]] = []
    var converted = false
}

extension Engine.Outcome {
    var whole: Transition {
        Transition(
            run: run, history: entries.map(\.json), requests: requests,
            withdrawals: withdrawals.map { [$0.invocation.text, $0.reason] }, converted: converted)
    }

    /// The outlets taken, as `step outlet`.
    var moves: [String] {
        entries.filter { $0.kind == .moved }.map {
            "\($0.members["from"]?.string ?? "") \($0.members["outlet"]?.string ?? "")"
        }
    }
}

/// One run with its engine, its customer's log and its clock.
struct World {
    let engine: Engine
    var run: Run
    var attributes: JSONObject = [:]
    var log: [LoggedEvent]
    var now: Instant
    var ordinal: Int64
    /// What entering the run gave.
    let entry: Engine.Outcome

    init(
        _ definition: WorkflowDefinition, attributes: JSONObject = [:],
        trigger: JSONObject = [:], key: String? = nil
    ) {
        engine = Engine(definition)
        self.attributes = attributes
        let event = makeEvent("began", 1, trigger)
        log = [event]
        now = dawn
        ordinal = 1
        entry = engine.enter(
            makeRun(definition, trigger: event, key: key), ordinal: 1,
            facts: Facts(attributes: attributes, events: [event], now: dawn))
        run = entry.run
    }

    var facts: Facts { Facts(attributes: attributes, events: log, now: now) }

    /// The run's status in a word, with its reason.
    var ending: String { run.status.reason.map { "\(run.status.word) \($0)" } ?? run.status.word }

    var invocation: InvocationID? {
        guard case .effect(let invocation, _)? = run.position?.waiting else { return nil }
        return invocation
    }

    @discardableResult
    mutating func give(
        _ name: String, at: Instant? = nil, occurred: Instant? = nil, connector: String = "shop",
        trust: Event.Trust = .provider, mayConvert: Bool = true, _ properties: JSONObject = [:]
    ) -> Engine.Outcome? {
        now = at ?? now
        ordinal += 1
        let event = makeEvent(
            name, ordinal, at: now, occurred: occurred, connector: connector, trust: trust,
            properties)
        log.append(event)
        return keep(
            engine.advance(
                run, by: .event(event), ordinal: ordinal, facts: facts, mayConvert: mayConvert))
    }

    @discardableResult
    mutating func answer(
        _ outcome: EffectOutcome, at: Instant? = nil, invocation: InvocationID? = nil
    ) -> Engine.Outcome? {
        now = at ?? now
        ordinal += 1
        let result = EffectResult(
            invocation: invocation ?? self.invocation ?? InvocationID("none"), run: run.id,
            step: run.position?.step ?? StepID("none"), outcome: outcome)
        return keep(engine.advance(run, by: .result(result), ordinal: ordinal, facts: facts))
    }

    @discardableResult
    mutating func fire(at: Instant) -> Engine.Outcome? {
        now = at
        return keep(engine.advance(run, by: .timer, ordinal: ordinal, facts: facts))
    }

    @discardableResult
    mutating func look(at: Instant? = nil) -> Engine.Outcome? {
        now = at ?? now
        return keep(engine.advance(run, by: .look, ordinal: ordinal, facts: facts))
    }

    private mutating func keep(_ outcome: Engine.Outcome?) -> Engine.Outcome? {
        if let outcome { run = outcome.run }
        return outcome
    }
}
