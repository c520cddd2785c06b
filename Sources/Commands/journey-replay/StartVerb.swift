internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import WorkflowDefinitions

extension CommandSpecification {
    static let start = CommandSpecification(
        name: "start",
        summary: "Ask for runs: of one customer, a segment, or whoever a condition holds for",
        discussion: """
            Puts the wish among each customer's inputs; a worker decides it in the customer's next turn, by \
            the workflow's own filters and rules of entering again, and counts it when they keep somebody \
            out. A live run with the same key is in the way, unless --supersede ends it. --reason is \
            required and kept.

            FILE of --if holds one condition, as a segment has it; it may read /customer, subscription and \
            segment. Customers are read and asked in pages, at most --rate a second. The batch's id is \
            printed: the same --idempotency-key goes on where a call was broken off and starts nobody twice. \
            A workflow whose key is the subscription starts a run for each subscription of a customer, or \
            for that of --subscription.

            Exit codes: 0 done, 4 nobody is selected, 6 refused, 7 broken off.
            """,
        examples: [
            Example(
                "journey-replay start win-back --customer user-42 --reason 'asked by support' --yes",
                "start one workflow for one person"),
            Example(
                "journey-replay start win-back --segment lapsed --dry-run", "how many it would be"),
            Example(
                "journey-replay start win-back --if who.json --rate 50 --yes --expect 1200 --reason sale",
                "from a script, fifty a second"),
        ],
        options: [
            OptionSpecification("customer", valueName: "ID", help: "one customer, by an id"),
            OptionSpecification("segment", valueName: "ID", help: "the members of a segment"),
            OptionSpecification(
                "if", valueName: "FILE", help: "customers for whom the condition is true"),
            OptionSpecification("all", help: "every customer of the environment"),
            OptionSpecification(
                "subscription", valueName: "KEY", help: "with --customer: the run's subscription"),
            OptionSpecification("environment", valueName: "NAME", help: "production when left out"),
            OptionSpecification(
                "app", valueName: "NAME", help: "the app, where records are kept by app"),
            OptionSpecification("key", valueName: "TEXT", help: "the run's key"),
            OptionSpecification(
                "idempotency-key", valueName: "TEXT",
                help: "the batch's id: starts each customer once; a new one when left out"),
            OptionSpecification(
                "rate", valueName: "N", help: "customers a second at most; 500 when left out"),
            OptionSpecification("supersede", help: "end a live run that is in the way"),
            OptionSpecification("reason", valueName: "TEXT", help: "why; required, and kept"),
            OptionSpecification("yes", short: "y", help: "do not ask"),
            OptionSpecification(
                "expect", valueName: "N", help: "refuse unless exactly so many are selected"),
            OptionSpecification(
                "dry-run", help: "print how many and the first ten, and do nothing"),
            OutputFormat.option,
        ],
        arguments: [ArgumentSpecification("WORKFLOW", help: "a workflow's id")])
}

extension ReplayCall {
    func start() async throws {
        let workflow = WorkflowID(parsed.argument("WORKFLOW") ?? "")
        let reason = try changeReason()
        let selection = try startSelection()
        let cause =
            parsed.option("idempotency-key")
            ?? "start-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        try await withDatabase(changes: !parsed.flag("dry-run")) { pool in
            let set = try await liveDefinitions(DefinitionStore(pool: pool))
            guard let version = set.live(workflow) else {
                throw ReplayFailure.notFound(
                    "No workflow \(workflow) is live; publish it first, or see journey-replay list."
                )
            }
            let wish = StartWish(
                entry: version.definition.entry, workflow: workflow, key: parsed.option("key"),
                cause: cause, supersedes: parsed.flag("supersede"), reason: reason)
            try wish.requireKey()
            switch selection {
            case .customer(let id): try await start(wish, for: id, pool)
            case .members, .condition, .everybody:
                try await start(wish, among: selection, of: set, pool)
            }
        }
    }

    /// Who is meant; exactly one way to say it.
    private func startSelection() throws(UsageError) -> StartSelection {
        var found: [StartSelection] = []
        if let id = parsed.option("customer") { found.append(.customer(id)) }
        if let id = parsed.option("segment") { found.append(.members(SegmentID(id))) }
        if let path = parsed.option("if") { found.append(.condition(path)) }
        if parsed.flag("all") { found.append(.everybody) }
        guard let only = found.first, found.count == 1 else {
            throw UsageError(
                path: parsed.path,
                "start needs one of --customer ID, --segment ID, --if FILE and --all: for whom.")
        }
        if parsed.option("subscription") != nil, parsed.option("customer") == nil {
            throw UsageError(
                path: parsed.path,
                "--subscription names one customer's; write it with --customer, or leave it out.")
        }
        return only
    }

    // MARK: One customer

    private func start(
        _ wish: StartWish, for customer: String, _ pool: PostgresPool
    ) async throws {
        let environment = parsed.option("environment") ?? "production"
        let app = parsed.option("app")
        guard
            let view = try await LookStore(pool: pool).customer(
                customer, environment: environment, app: app)
        else {
            throw ReplayFailure.notFound(
                "No customer is known as \(customer) in \(environment); name another with "
                    + "--environment or --app.")
        }
        let subscription = try subscription(of: view, wish)
        let table = Table(
            columns: [Table.Column("CUSTOMER", key: "customer")],
            rows: [["customer": .string(customer), "id": .integer(view.id.number)]])
        guard
            try mayChange(
                table, "customer", question: "Start \(wish.workflow) for \(customer)?")
        else { return }
        let outcome = try await StartStore(pool: pool).start(
            wish.input(subscription: subscription),
            externalID: customer, environment: environment, app: app,
            allowsAnother: wish.entry.whenLive != .ignore,
            audit: StartStore.Audit(who: administrator, reason: wish.reason))
        switch outcome {
        case .queued(let input):
            terminal.output.writeLine(
                printable(
                    "Asked for as input \(input), cause \(wish.cause); the customer's next turn "
                        + "decides it."))
            try? await WakeStore(pool: pool).notify(.turns)
        case .slotTaken(let run):
            throw ReplayFailure.refused(
                "Nothing was started: the run \(run) is live; say --supersede to end it.")
        case .startedBefore(let run):
            throw ReplayFailure.refused(
                "Nothing was started: \(wish.cause) started the run \(run) before; give another "
                    + "--idempotency-key.")
        case .unknownCustomer:
            throw ReplayFailure.notFound(
                "No customer is known as \(customer) in \(environment) any more; look again.")
        }
    }

    /// The subscription that is named, or the only one where the workflow's runs belong to one.
    private func subscription(
        of view: CustomerView, _ wish: StartWish
    ) throws -> SubscriptionID? {
        let all = view.subscriptions.map { SubscriptionID(connector: $0.connector, key: $0.key) }
        let named = parsed.option("subscription")
        guard named != nil || wish.isPerSubscription && wish.key == nil else { return nil }
        let found = all.filter { named == nil || $0.key == named || "\($0)" == named }
        if let only = found.first, found.count == 1 { return only }
        let known = all.sorted().prefix(10).map { "\($0)" }.joined(separator: ", ")
        throw ReplayFailure(
            found.isEmpty ? .notFound : .refused,
            (found.isEmpty
                ? "The customer has no such subscription" : "Which subscription is meant")
                + (all.isEmpty
                    ? "; none is known of them."
                    : "; say --subscription with one of \(known)."))
    }
}

/// Who runs are asked for.
enum StartSelection {
    case customer(String)
    case members(SegmentID)
    /// The file that holds it.
    case condition(String)
    case everybody
}

/// What is asked for.
struct StartWish {
    let entry: Entry
    let workflow: WorkflowID
    let key: String?
    let cause: String
    let supersedes: Bool
    let reason: String

    /// Whether each subscription of a customer has a run of its own.
    var isPerSubscription: Bool {
        if entry.key == .subscription { return true }
        if case .date(let date) = entry.trigger { return date.watchesSubscriptions }
        return false
    }

    func input(subscription: SubscriptionID? = nil) -> StartInput {
        let own = entry.key == .subscription ? subscription?.key : nil
        return StartInput(
            StartRequest(workflow: workflow, key: key ?? own, cause: cause, depth: 0),
            supersedes: supersedes, subscription: subscription)
    }

    /// Without an event nothing tells a key that is read from one.
    func requireKey() throws {
        guard key == nil, case .reference(let pointer)? = entry.key,
            pointer.tokens.first == "event"
        else { return }
        throw ReplayFailure.refused(
            "Nothing was started: the key of \(workflow) is \(pointer), and no event is at hand; give it "
                + "with --key.")
    }
}
