import Connectors
import EffectDispatch
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestMaterial
import TestModel
import TimeZones
import WorkflowDefinitions

/// Everything around the pure code, in memory: a clock, a database with transactions that others see only
/// once they are committed, several workers that die between any two steps, providers that send again, and
/// a receiver that fails, hangs and hangs up. One seed decides what happens next, step by step.
///
/// What the database's statements decide is written here once more, in the same words: who may be locked,
/// which rows a turn loads, when a lease is given and when a fence holds.
struct SimulatedWorld {
    /// What may be planted, to see that it is found.
    enum Fault: CaseIterable {
        case turnsDoNotLock, timersAreNotSet, ambiguousIsRepeated, answersBeforeTheCommit
    }

    let seed: UInt64
    var fault: Fault?
    var random: SeededGenerator
    var now: Instant
    let definitions: DefinitionSet
    let decider: TurnDecider

    // The database.
    var sequence: Int64 = 0
    var inbox: [Int64: InboxRow] = [:]
    /// Rows that were ever committed, and how many turns took them.
    var taken: [Int64: Int] = [:]
    /// `connector's event id` → the body that came first, once committed; nil while another has it in hand.
    var firstBodies: [String: [UInt8]?] = [:]
    var people: [String: CustomerID] = [:]
    var models: [CustomerID: CustomerModel] = [:]
    var locked: Set<CustomerID> = []
    var isRouting = false
    var timers: [CustomerID: Instant] = [:]
    var queue: [InvocationID: QueueRow] = [:]
    var endings: [InvocationID: Int] = [:]
    var withdrawn: Set<InvocationID> = []
    var events: [EventID: Event] = [:]
    var journal: [JournalRow] = []

    // The processes.
    var workers: [SimulatedWorker]
    var crashes = 0

    // The world outside.
    var mail: [SimulatedDelivery]
    var promised: Set<String> = []
    var calls: [InvocationID: [SimulatedCall]] = [:]
    var isCalm = false

    var findings: [String] = []

    init(seed: UInt64, definitions: DefinitionSet, connector: Connector) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        now = Instant(milliseconds: 1_790_000_000_000)
        self.definitions = definitions
        decider = TurnDecider(definitions: definitions, connectors: [connector.name: connector])
        workers = Array(repeating: SimulatedWorker(), count: 3)
        mail = []
        mail = SimulatedDelivery.script(&random, now: now)
    }

    /// Lets everything happen, then calms down, and looks at what is left.
    mutating func run() -> [String] {
        var steps = 0
        while findings.isEmpty, steps < 600, !(mail.isEmpty && random.chance(2)) {
            steps += 1
            step()
        }
        isCalm = true
        for worker in workers.indices { crash(worker) }
        var quiet = 0
        while findings.isEmpty, quiet < 3 {
            steps += 1
            guard steps < 3_000 else {
                fail("it does not come to rest: \(inbox.count) inputs, \(queue.count) effects")
                break
            }
            quiet = rest() ? 0 : quiet + 1
        }
        if findings.isEmpty { judge() }
        return findings
    }

    mutating func fail(_ sentence: String) { findings.append("seed=\(seed): \(sentence)") }

    // MARK: What happens next

    private mutating func step() {
        let worker = Int.random(in: workers.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case ..<14: beginIngest(worker)
        case ..<26: advanceIngest(worker)
        case ..<38: advanceRouting(worker)
        case ..<62: advanceTurn(worker)
        case ..<72: lease(worker)
        case ..<90: advanceAttempt(worker)
        case ..<98: passTime()
        default:
            crash(worker)
            crashes += 1
        }
    }

    /// One round in which nothing dies and everybody gets on; false when there was nothing to do.
    private mutating func rest() -> Bool {
        let before = now
        var worked = false
        // Bounded: what has come to rest only in part is looked at again.
        for _ in 0..<8 where !mail.isEmpty {
            worked = true
            beginIngest(0)
            while advanceIngest(0) {}
        }
        for worker in workers.indices {
            for _ in 0..<8 {
                if advanceIngest(worker) { worked = true }
                if advanceRouting(worker) { worked = true }
                if advanceTurn(worker) { worked = true }
                if lease(worker) { worked = true }
                if advanceAttempt(worker) { worked = true }
            }
        }
        if worked { return true }
        let next = (Array(timers.values) + queue.values.map(\.dueAt)).min()
        guard let next else { return false }
        now = max(next, now + .milliseconds(1))
        return now > before
    }

    private mutating func passTime() {
        let due = (Array(timers.values) + queue.values.map(\.dueAt)).filter { $0 > now }.min()
        if let due, random.chance(40) {
            now = due
        } else {
            let most = random.chance(5) ? 40_000 : 400
            now = now + .milliseconds(Int.random(in: 1...most, using: &random))
        }
    }

    /// The process ends: what it had in hand is rolled back or unknown, what is committed stays.
    private mutating func crash(_ worker: Int) {
        let gone = workers[worker]
        workers[worker] = SimulatedWorker()
        for transaction in gone.ingests { rollBack(transaction) }
        if gone.routing != nil { isRouting = false }
        if let turn = gone.turn { locked.subtract(turn.customers) }
    }

    /// A row that becomes visible at once, as part of another transaction's commit.
    mutating func insertResult(
        _ request: EffectRequest, of customer: CustomerID, _ end: EffectOutcome
    ) {
        sequence += 1
        let result = EffectResult(
            invocation: request.invocation, run: request.run, step: request.step, outcome: end)
        inbox[sequence] = InboxRow(
            customer: customer, person: "", content: .result(result), recordedAt: now,
            isVisible: true)
        taken[sequence] = 0
        endings[request.invocation, default: 0] += 1
    }
}

/// One row of the inbox.
struct InboxRow {
    /// Nil until it was routed.
    var customer: CustomerID?
    let person: String
    let content: TurnInput.Content
    let recordedAt: Instant
    /// Whether its transaction is committed.
    var isVisible: Bool
}

/// One row of the queue of effects.
struct QueueRow {
    let request: EffectRequest
    let customer: CustomerID
    var dueAt: Instant
    var fence = 0
    var attempts = 0
    var leaseUntil: Instant?
    var isWithdrawn = false
}

/// What a turn took, and when.
struct JournalRow {
    let customer: CustomerID
    let inputs: [TurnInput]
    let hasAllInputs: Bool
    let now: Instant
}

/// What one process has in hand.
struct SimulatedWorker {
    struct Ingest {
        let delivery: SimulatedDelivery
        /// Nil for a repeat that stores nothing.
        let row: Int64?
        let isFirst: Bool
        var isCommitted = false
    }

    struct Turn {
        let customers: [CustomerID]
        var loaded: [(turn: CustomerTurn, result: TurnResult)]?
    }

    struct Attempt {
        let lease: QueueRow
        var outcome: AttemptOutcome?
    }

    var ingests: [Ingest] = []
    var routing: [Int64: String]?
    var turn: Turn?
    var attempts: [Attempt] = []
}

/// What the receiver did with one call.
struct SimulatedCall: Hashable {
    enum Behaviour: Hashable { case answered, failed, hung, dropped }
    let behaviour: Behaviour
    let account: String
}
