internal import EventIngest
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import WorkflowDefinitions

/// Takes a back end's wishes about runs in: as inputs of the customers' turns, which decide them.
struct RunRequests: Sendable {
    private let starts: StartStore
    private let commands: CommandStore
    private let store: DefinitionStore
    private let definitions: DefinitionCache

    init(pool: PostgresPool, definitions: DefinitionCache) {
        starts = StartStore(pool: pool)
        commands = CommandStore(pool: pool)
        store = DefinitionStore(pool: pool)
        self.definitions = definitions
    }

    func start(_ wish: RunWish) async throws -> RunWish.Answer {
        guard let version = try await store.definitions(in: definitions).live(wish.workflow) else {
            return .unknownWorkflow
        }
        let entry = version.definition.entry
        guard case .api = entry.trigger else { return .isNotStartedByRequest }
        let outcome = try await starts.start(
            StartInput(
                StartRequest(
                    workflow: wish.workflow, key: wish.key, cause: wish.cause, depth: 0),
                supersedes: wish.supersedes),
            externalID: wish.customer, environment: wish.environment, app: wish.app,
            allowsAnother: entry.whenLive != .ignore,
            audit: StartStore.Audit(who: "source \(wish.source)", reason: "POST /v1/runs"))
        return switch outcome {
        case .queued: .accepted
        case .startedBefore(let run): .startedBefore(run)
        case .slotTaken(let run): .slotTaken(run)
        case .unknownCustomer: .unknownCustomer
        }
    }

    func cancel(_ cancellation: RunCancellation) async throws -> RunCancellation.Answer {
        guard
            let (target, status) = try await commands.target(
                cancellation.run, environment: cancellation.environment, app: cancellation.app)
        else { return .unknownRun }
        guard status == "waiting" else { return .ended(status) }
        _ = try await commands.issue(
            .cancel, [target],
            CommandStore.Request(
                who: "source \(cancellation.source)", verb: "cancel",
                reason: "DELETE /v1/runs/\(cancellation.run)",
                detail: JSONObject([("selected", 1)])))
        return .accepted
    }
}
