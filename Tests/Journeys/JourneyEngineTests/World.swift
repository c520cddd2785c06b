package import JSON
import JourneyEngine
import JourneyModel
import Testing
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
    exits: [ExitRule] = [], limits: Limits = Limits(), key: Entry.Key? = nil,
    timezone: String? = nil, where condition: Condition? = nil, unless: Condition? = nil,
    experiments: [ExperimentDefinition] = []
) -> WorkflowDefinition {
    WorkflowDefinition(
        id: WorkflowID(id), kind: .journey, timezone: timezone,
        entry: Entry(
            trigger: .event(names: ["began"]), condition: condition, unless: unless, key: key,
            reentry: .everyTime),
        goal: goal, exitPolicy: exitPolicy ?? (goal == nil ? .never : .onGoal), exits: exits,
        limits: limits, start: steps.first?.id ?? StepID("none"),
        steps: Dictionary(steps.map { ($0.id, $0) }, uniquingKeysWith: { $1 }),
        stepOrder: steps.map(\.id),
        experiments: Dictionary(experiments.map { ($0.id, $0) }, uniquingKeysWith: { $1 }))
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

/// What every entry asks to find its zone where nobody named one.
let zoneQuestions: JSONValue = [
    ["ask": ["default_zone": true], "answer": ["absent": true]],
    ["ask": ["zone": "Etc/UTC"], "answer": ["tz": "fixed"]],
]

/// One run with its engine, its customer's log and its clock. Every decision is made a second time from
/// its row of history alone (S19).
struct World {
    let engine: Engine
    var run: Run
    /// What is known beside attributes, log and clock.
    var base: Facts
    var attributes: JSONObject = [:]
    var log: [LoggedEvent]
    var now: Instant
    var ordinal: Int64
    /// What entering the run gave.
    let entry: Engine.Outcome

    init(
        _ definition: WorkflowDefinition, attributes: JSONObject = [:],
        trigger: JSONObject = [:], key: String? = nil, depth: Int = 0,
        facts base: Facts = Facts(attributes: [:], now: dawn)
    ) {
        engine = Engine(definition)
        self.attributes = attributes
        self.base = base
        let event = makeEvent("began", 1, trigger)
        log = [event]
        now = base.now
        ordinal = 1
        var facts = base
        facts.attributes = attributes
        facts.events = [event]
        let entering = makeRun(definition, trigger: event, key: key)
        entry = engine.enter(entering, ordinal: 1, depth: depth, facts: facts)
        run = entry.run
        carryOut(entry)
        let again = engine.enter(
            entering, ordinal: 1, depth: depth,
            facts: Facts(repeating: entry.entries, of: entering, now: now))
        #expect(again == entry)
    }

    var facts: Facts {
        var facts = base
        facts.attributes = attributes
        facts.events = log
        facts.now = now
        return facts
    }

    /// The run's status in a word, with its reason.
    var ending: String { run.status.reason.map { "\(run.status.word) \($0)" } ?? run.status.word }

    var invocation: InvocationID? {
        guard case .effect(let invocation, _)? = run.position?.waiting else { return nil }
        return invocation
    }

    @discardableResult
    mutating func give(
        _ name: String, at: Instant? = nil, occurred: Instant? = nil, connector: String = "shop",
        trust: Event.Trust = .provider, mayConvert: Bool = true, raw: JSONValue = .null,
        depth: Int = 0, _ properties: JSONObject = [:]
    ) -> Engine.Outcome? {
        now = at ?? now
        var event = makeEvent(
            name, ordinal + 1, at: now, occurred: occurred, connector: connector, trust: trust,
            properties)
        event.event.raw = raw
        event.event.depth = depth
        return give(event, mayConvert: mayConvert)
    }

    @discardableResult
    mutating func give(_ event: LoggedEvent, mayConvert: Bool = true) -> Engine.Outcome? {
        ordinal += 1
        log.append(event)
        return take(.event(event), mayConvert: mayConvert)
    }

    @discardableResult
    mutating func answer(
        _ outcome: EffectOutcome, at: Instant? = nil, invocation: InvocationID? = nil,
        isMessage: Bool? = nil
    ) -> Engine.Outcome? {
        now = at ?? now
        ordinal += 1
        return take(
            .result(
                EffectResult(
                    invocation: invocation ?? self.invocation ?? InvocationID("none"), run: run.id,
                    step: run.position?.step ?? StepID("none"), outcome: outcome,
                    isMessage: isMessage)))
    }

    @discardableResult
    mutating func command(_ action: OperatorCommand.Action, at: Instant? = nil) -> Engine.Outcome? {
        now = at ?? now
        ordinal += 1
        return take(.command(OperatorCommand(action, audit: 5)))
    }

    @discardableResult
    mutating func fire(at: Instant) -> Engine.Outcome? {
        now = at
        return take(.timer)
    }

    @discardableResult
    mutating func look(at: Instant? = nil, depth: Int = 0) -> Engine.Outcome? {
        now = at ?? now
        return take(.look, depth: depth)
    }

    private mutating func take(
        _ input: Engine.Input, depth: Int = 0, mayConvert: Bool = true
    ) -> Engine.Outcome? {
        let before = run
        let outcome = engine.advance(
            before, by: input, ordinal: ordinal, depth: depth, facts: facts,
            mayConvert: mayConvert)
        guard let outcome else { return nil }
        run = outcome.run
        carryOut(outcome)
        repeated(outcome, from: before, by: input, depth: depth, mayConvert: mayConvert)
        return outcome
    }

    /// The caller's part of a decision: later inputs see what it changed.
    private mutating func carryOut(_ outcome: Engine.Outcome) {
        for change in outcome.attributeChanges { attributes[change.name] = change.value }
        for assigned in outcome.assignments {
            base.assignments[assigned.experiment] = assigned.variant
        }
    }

    private func repeated(
        _ outcome: Engine.Outcome, from before: Run, by input: Engine.Input, depth: Int,
        mayConvert: Bool
    ) {
        var input = input
        if case .event = input, let told = outcome.entries.first?.event { input = .event(told) }
        let facts = Facts(repeating: outcome.entries, of: before, now: now)
        let (again, unrecorded) = engine.attempt(
            before, by: input, ordinal: ordinal, depth: depth, facts: facts,
            mayConvert: mayConvert)
        #expect(unrecorded.isEmpty)
        #expect(again == outcome)
    }
}
