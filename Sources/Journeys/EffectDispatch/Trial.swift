internal import HTTPClient
package import JSON
internal import JourneyEngine
internal import JourneyModel
package import Reactor
package import Settings
package import TimeZones
internal import WorkflowDefinitions

/// One attempt of a rendered action by hand, to see what an account makes of it: nothing is stored, nothing is
/// repeated, and no run hears of it.
package enum Trial {
    /// - Parameters:
    ///   - request: the action's parameters as rendered.
    ///   - account: where it goes; it does the action's tool.
    ///   - name: what the receiver is given as the idempotency key; a new one for each trial.
    package static func send(
        _ request: JSONObject, over account: AccountSettings, named name: String,
        timeout: Duration, loop: EventLoop, now: Instant
    ) async -> AttemptOutcome {
        let transport = HTTPTransport(
            loop: loop, maximumConcurrentCalls: 1, userAgent: "nuxie-journey-worker")
        let outcome = await attempt(
            request, over: account, InvocationID(name), timeout, transport, now)
        await transport.shutdown()
        return outcome
    }

    private static func attempt(
        _ request: JSONObject, over account: AccountSettings, _ invocation: InvocationID,
        _ timeout: Duration, _ transport: HTTPTransport, _ now: Instant
    ) async -> AttemptOutcome {
        let call: HTTPCall
        do throws(AttemptFailure) {
            call =
                switch account.tool {
                case .http:
                    try HTTPAction(
                        account: account, invocation: invocation, request: request, timeout: timeout
                    ).makeCall(now: now)
                case .slack:
                    try SlackAction(
                        account: account, invocation: invocation, request: request, timeout: timeout
                    ).makeCall()
                case .log: throw AttemptFailure(error: "no_account", detail: "a log needs none")
                }
        } catch {
            return .failed(error)
        }
        do throws(HTTPClientError) {
            let answer = try await transport.send(call)
            return AnswerReader.outcome(of: answer, now: now) { answer in
                switch account.tool {
                case .http: AnswerReader.wholeResult(of: answer)
                case .slack, .log: AnswerReader.status(of: answer)
                }
            }
        } catch {
            return AnswerReader.outcome(of: error)
        }
    }
}
