internal import CommandLine
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import WorkflowDefinitions

extension CommandSpecification {
    static let start = CommandSpecification(
        name: "start", summary: "Ask for a run of one customer",
        discussion: """
            Puts the wish among the customer's inputs and says under which number; a worker decides it in \
            the customer's next turn, by the workflow's own filters and rules of entering again, and \
            counts it when they keep it out. The same --idempotency-key starts a customer once. A live run \
            with that key is in the way, unless --supersede ends it. --reason is required and kept.
            """,
        examples: [
            Example(
                "journey-replay start win-back --customer user-42 --reason 'asked by support' --yes",
                "start one workflow for one person")
        ],
        options: [
            OptionSpecification("customer", valueName: "ID", help: "an id of the customer"),
            OptionSpecification("environment", valueName: "NAME", help: "production when left out"),
            OptionSpecification(
                "app", valueName: "NAME", help: "the app, where records are kept by app"),
            OptionSpecification("key", valueName: "TEXT", help: "the run's key"),
            OptionSpecification(
                "idempotency-key", valueName: "TEXT",
                help: "starts this customer once; a new one when left out"),
            OptionSpecification("supersede", help: "end a live run that is in the way"),
            OptionSpecification("reason", valueName: "TEXT", help: "why; required, and kept"),
            OptionSpecification("yes", short: "y", help: "do not ask"),
        ],
        arguments: [ArgumentSpecification("WORKFLOW", help: "a workflow's id")])
}

extension ReplayCall {
    func start() async throws {
        let workflow = WorkflowID(parsed.argument("WORKFLOW") ?? "")
        guard let customer = parsed.option("customer") else {
            throw UsageError(path: parsed.path, "start needs --customer ID: for whom.")
        }
        guard let reason = parsed.option("reason"), reason.contains(where: { !$0.isWhitespace })
        else {
            throw UsageError(
                path: parsed.path, "start needs --reason TEXT: why it is done, as it is kept.")
        }
        let environment = parsed.option("environment") ?? "production"
        let cause =
            parsed.option("idempotency-key")
            ?? "start-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        try await withDatabase(changes: true) { pool in
            let set = try await liveDefinitions(DefinitionStore(pool: pool))
            guard let version = set.live(workflow) else {
                throw ReplayFailure.notFound(
                    "No workflow \(workflow) is live; publish it first, or see journey-replay list."
                )
            }
            try agree(to: "Start \(workflow) for \(customer) in \(environment)?")
            let outcome = try await StartStore(pool: pool).start(
                StartInput(
                    StartRequest(
                        workflow: workflow, key: parsed.option("key"), cause: cause, depth: 0),
                    supersedes: parsed.flag("supersede")),
                externalID: customer, environment: environment, app: parsed.option("app"),
                allowsAnother: version.definition.entry.whenLive != .ignore,
                audit: StartStore.Audit(who: administrator, reason: reason))
            switch outcome {
            case .queued(let input):
                terminal.output.writeLine(
                    printable(
                        "Asked for as input \(input), cause \(cause); the customer's next turn "
                            + "decides it."))
            case .slotTaken(let run):
                throw ReplayFailure.refused(
                    "Nothing was started: the run \(run) is live; say --supersede to end it.")
            case .startedBefore(let run):
                throw ReplayFailure.refused(
                    "Nothing was started: \(cause) started the run \(run) before; give another "
                        + "--idempotency-key.")
            case .unknownCustomer:
                throw ReplayFailure.notFound(
                    "No customer is known as \(customer) in \(environment); name another with "
                        + "--environment or --app.")
            }
        }
    }
}
