internal import HTTPServer
internal import JSON
internal import JourneyModel

// POST /v1/runs and DELETE /v1/runs/{id}: a back end starts and cancels runs.

extension EventService {
    func startRun(_ request: HTTPRequest, from source: Source) async throws -> HTTPResponse {
        let body = try json(of: request)
        guard let cause = try idempotencyKey(request) else {
            throw RequestRefusal(
                .problem(
                    400, "no_idempotency_key",
                    "Send an Idempotency-Key: with the same one again, nobody is started twice."))
        }
        let wish = try refusing { () throws(ItemProblem) in
            try Self.wish(body, cause: cause, from: source)
        }
        let answer = try await doors.start(wish)
        if answer == .accepted { doors.onStored() }
        return Self.response(to: wish, answer)
    }

    private static func wish(
        _ body: JSONValue, cause: String, from source: Source
    ) throws(ItemProblem) -> RunWish {
        let fields = try ItemFields(
            body, known: ["workflow", "customer_id", "key", "environment", "supersede"])
        let supersedes: Bool
        switch fields.present("supersede") {
        case nil: supersedes = false
        case .bool(let wanted): supersedes = wanted
        case .some(let other):
            throw fields.invalid("supersede", "is \(other.kind); send true or false")
        }
        return RunWish(
            workflow: WorkflowID(try fields.requiredID("workflow")),
            customer: try fields.requiredID("customer_id"),
            environment: try fields.environment() ?? source.environment, app: source.app,
            key: try fields.id("key"), cause: cause, supersedes: supersedes, source: source.name)
    }

    private static func response(to wish: RunWish, _ answer: RunWish.Answer) -> HTTPResponse {
        switch answer {
        case .accepted:
            let body: JSONValue = [
                "status": "accepted", "workflow": .string(wish.workflow.text),
                "customer_id": .string(wish.customer),
            ]
            return .json(202, body.bytes)
        case .startedBefore(let run):
            let body: JSONValue = ["status": "started", "run": .string(run.text)]
            return .json(200, body.bytes)
        case .slotTaken(let run):
            let body: JSONValue = [
                "error": [
                    "code": "live_run",
                    "message":
                        "A run with that key is live; cancel it first, or send \"supersede\": true.",
                ], "run": .string(run.text),
            ]
            return .json(409, body.bytes)
        case .unknownCustomer:
            var response = HTTPResponse.problem(
                404, "unknown_customer",
                "No customer of that id is known in \(wish.environment) yet; send an event or "
                    + "POST /v1/customers/{id} first, and the wish again a second later.")
            response.headers.append(HTTPField("Retry-After", "1"))
            return response
        case .unknownWorkflow:
            return .problem(
                404, "unknown_workflow",
                "No workflow \(wish.workflow) is live; publish it first.")
        case .isNotStartedByRequest:
            return .problem(
                409, "not_an_api_workflow",
                "The runs of \(wish.workflow) begin by their own trigger; only workflows with "
                    + "\"trigger\": {\"api\": true} are started by request.")
        }
    }

    func cancelRun(
        _ run: String, _ request: HTTPRequest, from source: Source
    ) async throws -> HTTPResponse {
        let cancellation = RunCancellation(
            run: RunID(run), environment: environment(of: request, source), app: source.app,
            source: source.name)
        switch try await doors.cancel(cancellation) {
        case .accepted:
            doors.onStored()
            let body: JSONValue = ["status": "accepted", "run": .string(run)]
            return .json(202, body.bytes)
        case .ended(let status):
            let body: JSONValue = [
                "status": "ended", "run": .string(run), "ended_as": .string(status),
            ]
            return .json(200, body.bytes)
        case .unknownRun:
            return .problem(
                404, "not_found", "There is no run of that id in \(cancellation.environment).")
        }
    }

    /// The environment that a request without a body speaks of.
    func environment(of request: HTTPRequest, _ source: Source) -> String {
        request.head.queryValues(of: "environment").first ?? source.environment
    }
}
