package import JSON
import JourneyEngine
import JourneyModel
import TimeZones
import WorkflowDefinitions

// Workflows and events for the turns' tests.

/// When every world begins.
let dawn = Instant(milliseconds: 1_772_359_200_000)

func after(_ duration: Duration) -> Instant { dawn + duration }

func hours(_ count: Int) -> Duration { .seconds(count * 3_600) }

func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

func ref(_ tokens: String...) -> Value { .reference(JSONPointer(tokens: tokens), default: nil) }

/// A condition over `/customer/<name>`, true while the attribute is `true`.
func holds(_ name: String) -> Condition {
    .compare(.eq, ref("customer", name), .literal(true))
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}

extension Edge {
    static func to(_ step: String) -> Edge { .step(StepID(step)) }
}

extension Step {
    static func delay(_ id: String, _ length: Duration, next: Edge = .end) -> Step {
        Step(id: StepID(id), action: .delay(Delay(length: .duration(length), next: next)))
    }

    /// Waits for one event; its branch and its outlet bear the event's name.
    static func wait(
        _ id: String, for event: String, next: Edge = .end, timeout: Duration = days(7),
        onTimeout: Edge = .end
    ) -> Step {
        let branch = WaitUntil.Branch(
            id: event, cause: .event(EventMatch(names: [event])), next: next)
        return Step(
            id: StepID(id),
            action: .waitUntil(
                WaitUntil(branches: [branch], timeout: .duration(timeout), onTimeout: onTimeout)))
    }

    static func action(_ id: String, next: Edge = .end) -> Step {
        Step(
            id: StepID(id),
            action: .action(
                ActionStep(
                    tool: .log,
                    parameters: .object([.init(key: "text", tree: .value(.literal("hello")))]),
                    next: next)))
    }
}

extension Step {
    static func send(_ id: String, _ event: String, next: Edge = .end) -> Step {
        Step(id: StepID(id), action: .sendEvent(SendEvent(event: event, next: next)))
    }

    static func set(_ id: String, _ name: String, _ value: Value, next: Edge = .end) -> Step {
        Step(
            id: StepID(id),
            action: .updateCustomer(
                UpdateCustomer(
                    attributes: [.init(key: name, tree: .value(value))], next: next)))
    }

    static func startRun(
        _ id: String, _ workflow: String, key: Value? = nil, next: Edge = .end
    ) -> Step {
        Step(
            id: StepID(id),
            action: .startRun(
                RunCommand(workflow: WorkflowID(workflow), key: key, next: next)))
    }

    static func exitRun(_ id: String, _ workflow: String, next: Edge = .end) -> Step {
        Step(
            id: StepID(id),
            action: .exitRun(RunCommand(workflow: WorkflowID(workflow), next: next)))
    }
}

func makeSegment(_ id: String, _ condition: Condition) -> SegmentDefinition {
    SegmentDefinition(id: SegmentID(id), condition: condition)
}

func onSegment(_ id: String, _ turn: SegmentTurn = .enter) -> Entry {
    Entry(trigger: .segment(SegmentID(id), on: turn), reentry: .everyTime)
}

func onDate(
    _ value: Value, offset: Duration = .zero, at: LocalTime? = nil, late: Duration = .zero,
    key: Entry.Key? = nil, reentry: Entry.Reentry = .everyTime
) -> Entry {
    Entry(
        trigger: .date(DateTrigger(value: value, offset: offset, at: at, late: late)), key: key,
        reentry: reentry)
}

/// A workflow that `began` starts, every time, unless told otherwise.
func makeWorkflow(
    _ id: String, _ steps: [Step], entry: Entry? = nil, goal: Goal? = nil,
    exitPolicy: ExitPolicy? = nil, exits: [ExitRule] = [], environments: [String] = ["production"]
) -> WorkflowDefinition {
    WorkflowDefinition(
        id: WorkflowID(id), kind: .journey, environments: environments,
        entry: entry ?? makeEntry(), goal: goal,
        exitPolicy: exitPolicy ?? (goal == nil ? .never : .onGoal), exits: exits,
        start: steps.first?.id ?? StepID("none"),
        steps: Dictionary(steps.map { ($0.id, $0) }, uniquingKeysWith: { $1 }),
        stepOrder: steps.map(\.id))
}

func makeWorkflow(
    _ steps: [Step], entry: Entry? = nil, goal: Goal? = nil, exitPolicy: ExitPolicy? = nil,
    exits: [ExitRule] = [], environments: [String] = ["production"]
) -> WorkflowDefinition {
    makeWorkflow(
        "flow", steps, entry: entry, goal: goal, exitPolicy: exitPolicy, exits: exits,
        environments: environments)
}

func makeEntry(
    _ reentry: Entry.Reentry = .everyTime, whenLive: Entry.WhenLive = .ignore,
    key: Entry.Key? = nil, connectors: [String]? = nil, condition: Condition? = nil,
    unless: Condition? = nil
) -> Entry {
    Entry(
        trigger: .event(names: ["began"]), connectors: connectors, condition: condition,
        unless: unless, key: key, reentry: reentry, whenLive: whenLive)
}

func makeEvent(
    _ name: String, _ number: Int, at: Instant = dawn, occurred: Instant? = nil,
    connector: String = "shop", depth: Int = 0, isClamped: Bool = false,
    _ properties: JSONObject = [:]
) -> Event {
    Event(
        id: EventID("evt_\(number)"), connector: connector, providerEventID: "\(number)",
        providerType: nil, name: name, trust: .provider, person: Event.Person(id: "ada"),
        occurredAt: occurred ?? at, isClamped: isClamped, receivedAt: at,
        environment: "production", properties: properties, depth: depth)
}
